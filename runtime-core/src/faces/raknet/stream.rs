//! A session with one peer.

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use proto_raknet::{CloseReason, Guid, Message, PeerInfo, PeerStats, ProtocolVersion, Received};
use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    marker::PhantomData,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    error::{ConnectFailed, SendFailed},
    halves::{RaknetReadHalf, RaknetWriteHalf},
    open,
    options::ClientOptions,
    progress::SplitProgress,
    receipt::Receipt,
    session::Session,
};
use crate::{Runtime, Stats};

/// A RakNet session: messages in both directions.
///
/// Sending and receiving take `&self`, so tasks can share a stream. Dropped, it closes the session in good order in the
/// background. It is a [`Stream`] of [`Received`] and a [`Sink`] of payloads and [`Message`]s too.
pub struct RaknetStream<R> {
    session: Arc<Session>,
    read: RaknetReadHalf,
    write: RaknetWriteHalf,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> RaknetStream<R> {
    /// Connects to `server` with the default options.
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// There is no socket to be had, or the server refused or did not answer in time.
    pub async fn connect(server: SocketAddr) -> Result<Self, ConnectFailed> {
        Self::connect_with(server, ClientOptions::default()).await
    }

    /// Connects to `server`. Everything together takes at most
    /// [`ConnectOptions::timeout`](super::ConnectOptions::timeout).
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// The options cannot work, there is no socket to be had, or the server refused or did not answer in time.
    pub async fn connect_with(server: SocketAddr, options: ClientOptions) -> Result<Self, ConnectFailed> {
        open::connect::<R>(server, options).await.map(Self::new)
    }
}

impl<R> RaknetStream<R> {
    pub(super) fn new(session: Arc<Session>) -> Self {
        let read = RaknetReadHalf::new(Arc::clone(&session));
        let write = RaknetWriteHalf::new(Arc::clone(&session));
        Self { session, read, write, runtime: PhantomData }
    }

    /// Sends a payload reliably and in order on channel 0. See [`RaknetWriteHalf::send`].
    ///
    /// # Errors
    /// The session is over, or the payload is empty or too long.
    pub async fn send(&self, payload: impl Into<Bytes>) -> Result<(), SendFailed> {
        self.write.send(payload).await
    }

    /// Sends a message, with a receipt where its reliability asks for one. See [`RaknetWriteHalf::send_with`].
    ///
    /// # Errors
    /// The session is over, or the payload is empty or too long.
    pub async fn send_with(&self, message: Message) -> Result<Option<Receipt>, SendFailed> {
        self.write.send_with(message).await
    }

    /// Sends messages in order and removes them from `messages` as they are taken. See
    /// [`RaknetWriteHalf::send_batch`].
    ///
    /// # Errors
    /// The session is over, or a payload is empty or too long.
    pub async fn send_batch(&self, messages: &mut VecDeque<Message>) -> Result<(), SendFailed> {
        self.write.send_batch(messages).await
    }

    /// Sends a message now or not at all. See [`RaknetWriteHalf::try_send`].
    ///
    /// # Errors
    /// There is no room, the session is over, or the payload is empty or too long.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<Option<Receipt>, SendFailed> {
        self.write.try_send(message)
    }

    /// Sends what [`FlushPolicy::Batched`](super::FlushPolicy::Batched) holds back.
    pub fn flush(&self) {
        self.write.flush();
    }

    /// Receives the next message. Cancel-safe. See [`RaknetReadHalf::recv`].
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub async fn recv(&self) -> Result<Received, CloseReason> {
        self.read.recv().await
    }

    /// Appends the messages that are there to `into`, at least one and up to `limit`. Cancel-safe. See
    /// [`RaknetReadHalf::recv_batch`].
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub async fn recv_batch(&self, into: &mut Vec<Received>, limit: usize) -> Result<usize, CloseReason> {
        self.read.recv_batch(into, limit).await
    }

    /// Takes the next message if one is there.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn try_recv(&self) -> Result<Option<Received>, CloseReason> {
        self.read.try_recv()
    }

    /// Waits until more of a long message has arrived and says how far it is. Cancel-safe. See
    /// [`RaknetReadHalf::next_progress`].
    ///
    /// # Errors
    /// How the session ended.
    pub async fn next_progress(&self) -> Result<SplitProgress, CloseReason> {
        self.read.next_progress().await
    }

    /// Returns the latest report on a long message. See [`RaknetReadHalf::progress`].
    pub fn progress(&self) -> Option<SplitProgress> {
        self.read.progress()
    }

    /// Closes the session: what was sent before is still delivered, then the peer is told, and its acknowledgement is
    /// awaited for [`SessionConfig::close_timeout`](super::SessionConfig::close_timeout) at most.
    ///
    /// Cancel-safe: once begun, the end goes on in the background.
    ///
    /// # Errors
    /// The session ended in another way: without the acknowledgement, say, or by the peer.
    pub async fn close(&self) -> Result<(), CloseReason> {
        self.session.begin_close();
        poll_fn(|cx| self.session.poll_closed(cx)).await
    }

    /// Ends the session at once, without a word to the peer.
    pub fn abort(self) {
        self.session.abort();
    }

    /// Waits for the end of the session, whoever ends it. Cancel-safe.
    pub async fn closed(&self) -> CloseReason {
        poll_fn(|cx| self.session.poll_over(cx)).await
    }

    /// Returns how the session ended; `None` while it is open.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.session.close_reason()
    }

    /// Splits the stream into halves that can go to different tasks.
    pub fn split(self) -> (RaknetReadHalf, RaknetWriteHalf) {
        (self.read, self.write)
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Returns what is known of the peer.
    pub fn info(&self) -> &PeerInfo {
        self.session.info()
    }

    /// Returns the peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.info().address
    }

    /// Returns the peer's identifier, as it says.
    pub fn guid(&self) -> Guid {
        self.info().guid
    }

    /// Returns the agreed MTU: the largest IP datagram in bytes, 28 bytes of headers included.
    pub fn mtu(&self) -> u16 {
        self.info().mtu
    }

    /// Returns the protocol version that the client asked for.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.info().protocol_version
    }

    /// Returns the session's statistics; `None` once it is over.
    pub fn stats(&self) -> Option<PeerStats> {
        self.session.stats()
    }

    /// Returns what the driver of the session's socket counted. Accepted streams share their listener's socket.
    pub fn driver_stats(&self) -> Stats {
        self.session.driver_stats()
    }
}

/// Yields messages until the session is over; [`close_reason`](RaknetStream::close_reason) then says how it ended.
impl<R> Stream for RaknetStream<R> {
    type Item = Received;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        Pin::new(&mut self.read).poll_next(cx)
    }
}

/// Takes payloads or [`Message`]s. Closing it ends the session in good order.
impl<R, T: Into<Message>> Sink<T> for RaknetStream<R> {
    type Error = SendFailed;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        Sink::<T>::poll_ready(Pin::new(&mut self.write), cx)
    }

    fn start_send(mut self: Pin<&mut Self>, message: T) -> Result<(), SendFailed> {
        Pin::new(&mut self.write).start_send(message)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        Sink::<T>::poll_flush(Pin::new(&mut self.write), cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        Sink::<T>::poll_close(Pin::new(&mut self.write), cx)
    }
}

impl<R> fmt::Debug for RaknetStream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaknetStream").field("info", self.info()).finish_non_exhaustive()
    }
}
