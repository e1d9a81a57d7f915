//! The two directions of a session.

use futures_core::Stream;
use futures_sink::Sink;
use proto_raknet::{CloseReason, Message, PeerInfo, Received};
use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{
    error::SendFailed,
    progress::SplitProgress,
    receipt::Receipt,
    session::{Offer, Session},
};

/// The receiving half of a [`RaknetStream`](super::RaknetStream). The session ends in good order when both halves
/// are dropped.
#[derive(Debug)]
pub struct RaknetReadHalf {
    session: Arc<Session>,
}

/// The sending half of a [`RaknetStream`](super::RaknetStream). The session ends in good order when both halves are
/// dropped.
#[derive(Debug)]
pub struct RaknetWriteHalf {
    session: Arc<Session>,
    /// What [`Sink::start_send`] took while there was no room.
    waiting: Option<Message>,
}

impl RaknetReadHalf {
    pub(super) const fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// Receives the next message.
    ///
    /// Cancel-safe: a message is taken only when it is returned.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub async fn recv(&self) -> Result<Received, CloseReason> {
        poll_fn(|cx| self.session.poll_recv(cx)).await
    }

    /// Appends the messages that are there to `into`, up to `limit`, and returns how many. It waits for the first
    /// one only; `limit` zero waits for nothing.
    ///
    /// Cancel-safe: messages are taken only when it returns.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub async fn recv_batch(&self, into: &mut Vec<Received>, limit: usize) -> Result<usize, CloseReason> {
        poll_fn(|cx| self.session.poll_recv_batch(cx, into, limit)).await
    }

    /// Takes the next message if one is there.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn try_recv(&self) -> Result<Option<Received>, CloseReason> {
        self.session.try_recv()
    }

    /// Waits until more of a long message has arrived and says how far it is. Where several reports have come since the
    /// last call, it returns the latest. Reports come only where
    /// [`SessionConfig::split_progress`](super::SessionConfig::split_progress) is set.
    ///
    /// Cancel-safe: a report is taken only when it is returned.
    ///
    /// # Errors
    /// How the session ended.
    pub async fn next_progress(&self) -> Result<SplitProgress, CloseReason> {
        poll_fn(|cx| self.session.poll_progress(cx)).await
    }

    /// Returns the latest report on a long message, told before or not; `None` where there was none yet or the session is
    /// over.
    pub fn progress(&self) -> Option<SplitProgress> {
        self.session.progress()
    }

    /// Returns what is known of the peer.
    pub fn info(&self) -> &PeerInfo {
        self.session.info()
    }
}

impl RaknetWriteHalf {
    pub(super) const fn new(session: Arc<Session>) -> Self {
        Self { session, waiting: None }
    }

    /// Sends a payload reliably and in order on channel 0. It waits while the send queue is full.
    ///
    /// Cancel-safe: a message that was not taken when the future is dropped is not sent.
    ///
    /// # Errors
    /// The session is over, or the payload is empty or too long.
    pub async fn send(&self, payload: impl Into<bytes::Bytes>) -> Result<(), SendFailed> {
        self.send_with(Message::new(payload)).await.map(drop)
    }

    /// Sends a message. It waits while the send queue is full. The answer is a receipt where the message's reliability
    /// asks for one.
    ///
    /// Cancel-safe: a message that was not taken when the future is dropped is not sent.
    ///
    /// # Errors
    /// The session is over, or the payload is empty or too long.
    pub async fn send_with(&self, message: Message) -> Result<Option<Receipt>, SendFailed> {
        let mut message = Some(message);
        poll_fn(|cx| self.session.poll_send(cx, &mut message)).await
    }

    /// Sends messages in order, as many as there is room for at a time. What was taken is removed from the front of
    /// `messages`; receipts are not kept.
    ///
    /// Cancel-safe: `messages` holds what was not sent when the future is dropped.
    ///
    /// # Errors
    /// The session is over, or a payload is empty or too long. That message is removed, those after it are not.
    pub async fn send_batch(&self, messages: &mut VecDeque<Message>) -> Result<(), SendFailed> {
        poll_fn(|cx| self.session.poll_send_batch(cx, messages)).await
    }

    /// Sends a message now or not at all.
    ///
    /// # Errors
    /// There is no room ([`SendError::Full`](super::SendError::Full)), the session is over, or the payload is empty or
    /// too long.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<Option<Receipt>, SendFailed> {
        self.session.try_send(message.into())
    }

    /// Sends what [`FlushPolicy::Batched`](super::FlushPolicy::Batched) holds back.
    pub fn flush(&self) {
        self.session.flush();
    }

    /// Returns what is known of the peer.
    pub fn info(&self) -> &PeerInfo {
        self.session.info()
    }

    /// Sends what `start_send` took while there was no room.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        if self.waiting.is_some() {
            ready!(self.session.poll_send(cx, &mut self.waiting))?;
        }
        Poll::Ready(Ok(()))
    }
}

/// Yields messages until the session is over.
impl Stream for RaknetReadHalf {
    type Item = Received;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        self.session.poll_recv(cx).map(Result::ok)
    }
}

/// Takes payloads or [`Message`]s. Closing it ends the session in good order.
impl<T: Into<Message>> Sink<T> for RaknetWriteHalf {
    type Error = SendFailed;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        self.poll_waiting(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, message: T) -> Result<(), SendFailed> {
        match self.session.try_offer(message.into()) {
            Offer::Taken(sent) => sent.map(drop),
            Offer::NoRoom(message) => {
                self.waiting = Some(message);
                Ok(())
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        ready!(self.poll_waiting(cx))?;
        self.session.flush();
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        ready!(self.poll_waiting(cx))?;
        self.session.begin_close();
        self.session.poll_closed(cx).map_err(SendFailed::Closed)
    }
}
