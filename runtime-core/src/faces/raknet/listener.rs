//! Taking in sessions that others open.

use bytes::Bytes;
use futures_core::Stream;
use proto_raknet::{Config, Endpoint, EndpointStats, Guid, Message, OfflineError};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use super::{
    desk::Desk,
    error::{BindFailed, ListenerClosed},
    hooks::Hooks,
    open::{new_endpoint, run},
    options::ListenOptions,
    out_of_band::OutOfBand,
    session::Session,
    stream::RaknetStream,
};
use crate::{Handle, Runtime, Stats, UdpOptions, bind_udp};

/// A RakNet server: one address, any number of sessions.
///
/// Dropped, it stops accepting; the streams it gave out live on. It is a [`Stream`] of streams too.
pub struct RaknetListener<R> {
    shards: Vec<Handle<Endpoint, Desk>>,
    /// The shard that is asked first for the next session, so that none has to wait for the others.
    turn: AtomicUsize,
    address: SocketAddr,
    guid: Guid,
    /// How long an orderly close may take.
    patience: Duration,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> RaknetListener<R> {
    /// Listens on `address` with one socket.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn bind(address: SocketAddr, endpoint: Config) -> Result<Self, BindFailed> {
        Self::bind_with(address, ListenOptions { endpoint, ..ListenOptions::default() })
    }

    /// Listens on `address`.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn bind_with(address: SocketAddr, options: ListenOptions) -> Result<Self, BindFailed> {
        let ListenOptions { mut endpoint, shards, udp, driver, hooks } = options;
        let count = shards.clamp(1, MAX_SHARDS);
        let udp = UdpOptions { reuse_port: udp.reuse_port || count > 1, ..udp };
        let patience = endpoint.session.close_timeout + Duration::from_millis(500);
        endpoint.incoming.max_connections = endpoint.incoming.max_connections.div_ceil(count);
        endpoint.incoming.max_handshakes = endpoint.incoming.max_handshakes.div_ceil(count);

        let (mut address, mut handles) = (address, Vec::with_capacity(count));
        for _ in 0..count {
            let mut machine = new_endpoint(endpoint.clone())??;
            hooks.install(&mut machine);
            // All shards are one server, so they share the first one's identifier and port.
            endpoint.guid = Some(machine.guid());
            let socket = bind_udp(address, udp)?;
            address = socket.local_addr()?;
            handles.push(run::<R>(machine, Desk::listening(), socket, driver)?);
        }
        let guid = endpoint.guid.unwrap_or(Guid(0));
        Ok(Self { shards: handles, turn: AtomicUsize::new(0), address, guid, patience, runtime: PhantomData })
    }
}

impl<R> RaknetListener<R> {
    /// Waits for the next session.
    ///
    /// Cancel-safe: a session is taken only when it is returned.
    ///
    /// # Errors
    /// The listener was closed.
    pub async fn accept(&self) -> Result<RaknetStream<R>, ListenerClosed> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// Polls for the next session.
    ///
    /// # Errors
    /// The listener was closed.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Result<RaknetStream<R>, ListenerClosed>> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.shards.len().max(1);
        let mut listening = false;
        for shard in self.shards.iter().cycle().skip(first).take(self.shards.len()) {
            let arrival = shard.read(|_, desk| {
                listening |= desk.is_listening();
                desk.accept(cx)
            });
            if let Some((peer, info)) = arrival {
                let session = Session::new(shard.clone(), peer, info);
                return Poll::Ready(Ok(RaknetStream::new(Arc::new(session))));
            }
        }
        if listening { Poll::Pending } else { Poll::Ready(Err(ListenerClosed)) }
    }

    /// Returns the address, with the port that the operating system chose where none was asked for.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the identifier that peers see.
    pub const fn guid(&self) -> Guid {
        self.guid
    }

    /// Sets what the answer to a ping carries, at most 399 bytes. For Bedrock it is made by
    /// [`Motd::to_pong_data`](super::Motd::to_pong_data).
    ///
    /// # Errors
    /// The data is too long; the old data stays.
    pub fn set_pong_data(&self, data: impl Into<Bytes>) -> Result<(), OfflineError> {
        let data = data.into();
        self.shards
            .iter()
            .try_for_each(|shard| shard.with(|machine, _, _| machine.set_pong_data(data.clone())))
    }

    /// Sets how many sessions may be open at a time; those above it stay until they end.
    pub fn set_max_connections(&self, limit: usize) {
        let share = limit.div_ceil(self.shards.len().max(1));
        self.each(|machine| machine.set_max_connections(share));
    }

    /// Lets new sessions in again, or refuses them: clients hear that the server is full. Those there are stay.
    pub fn set_accepting(&self, accepting: bool) {
        self.each(|machine| machine.set_accepting(accepting));
    }

    /// Changes what looks at the datagrams.
    pub fn set_hooks(&self, hooks: &Hooks) {
        self.each(|machine| hooks.install(machine));
    }

    /// Sends a message to every open session but that of `except`, those that wait to be accepted included, and returns how
    /// many took it. It waits for none: a session without room for it does not get it. Nobody learns of a receipt.
    pub fn broadcast(&self, message: impl Into<Message>, except: Option<&RaknetStream<R>>) -> usize {
        let message = message.into();
        self.shards
            .iter()
            .map(|shard| {
                let except = except.and_then(|stream| stream.session().peer_at(shard));
                shard.with(|machine, _, now| machine.broadcast(now, &message, except))
            })
            .sum()
    }

    /// Sends a message outside any session, at most 399 bytes. It may get lost.
    ///
    /// # Errors
    /// The payload is too long, or too many such messages wait to be sent.
    pub fn send_out_of_band(&self, to: SocketAddr, payload: &[u8]) -> Result<(), OfflineError> {
        self.first(|machine| machine.send_out_of_band(to, payload))
    }

    /// Tells another system that this one is there (C++ `AdvertiseSystem`), with at most 398 bytes about it.
    ///
    /// # Errors
    /// The data is too long, or too many such messages wait to be sent.
    pub fn advertise(&self, to: SocketAddr, data: &[u8]) -> Result<(), OfflineError> {
        self.first(|machine| machine.advertise(to, data))
    }

    /// Waits for the next message outside sessions. Of those that nobody takes, 256 are kept for each shard.
    ///
    /// Cancel-safe: a message is taken only when it is returned.
    ///
    /// # Errors
    /// The listener's runtime shut down, or it was closed.
    pub async fn recv_out_of_band(&self) -> Result<OutOfBand, ListenerClosed> {
        poll_fn(|cx| self.poll_recv_out_of_band(cx)).await
    }

    /// Returns how many messages outside sessions were dropped because nobody took those before.
    pub fn dropped_out_of_band(&self) -> u64 {
        self.shards.iter().map(|shard| shard.read(|_, desk| desk.mailbox().dropped())).sum()
    }

    /// Bans an address, for `time` or for good, and ends its sessions.
    pub fn ban(&self, address: IpAddr, time: Option<Duration>) {
        for shard in &self.shards {
            shard.with(|machine, _, now| machine.ban(now, address, time));
        }
    }

    /// Lifts a ban.
    pub fn unban(&self, address: IpAddr) {
        self.each(|machine| {
            machine.unban(address);
        });
    }

    /// Returns how many sessions are open or on their way to an end. It costs the drivers nothing.
    pub fn peer_count(&self) -> usize {
        self.stats().iter().map(|stats| stats.incoming).sum()
    }

    /// Returns each shard's protocol statistics.
    pub fn stats(&self) -> Vec<EndpointStats> {
        self.shards.iter().map(|shard| shard.read(|machine, _| machine.stats())).collect()
    }

    /// Returns what each shard's driver counted.
    pub fn driver_stats(&self) -> Vec<Stats> {
        self.shards.iter().map(Handle::stats).collect()
    }

    /// Stops accepting, closes all sessions in good order, and waits until that is done and the sockets are closed;
    /// little longer than [`SessionConfig::close_timeout`](super::SessionConfig::close_timeout) at most.
    ///
    /// Cancel-safe: once begun, the end goes on in the background. A further call waits for the same end.
    pub async fn close(&self) {
        for shard in &self.shards {
            shard.with(|machine, desk, now| {
                desk.close();
                machine.close(now);
            });
            shard.end_within(self.patience);
        }
        for shard in &self.shards {
            shard.ended().await;
        }
    }

    fn poll_recv_out_of_band(&self, cx: &Context<'_>) -> Poll<Result<OutOfBand, ListenerClosed>> {
        let mut open = false;
        for shard in &self.shards {
            match shard.read(|_, desk| desk.mailbox().poll_take(cx)) {
                Poll::Ready(Some(message)) => return Poll::Ready(Ok(message)),
                Poll::Ready(None) => {}
                Poll::Pending => open = true,
            }
        }
        if open { Poll::Pending } else { Poll::Ready(Err(ListenerClosed)) }
    }

    /// Has one shard do what concerns the address that all share.
    fn first(
        &self,
        command: impl FnOnce(&mut Endpoint) -> Result<(), OfflineError>,
    ) -> Result<(), OfflineError> {
        self.shards.first().map_or(Ok(()), |shard| shard.with(|machine, _, _| command(machine)))
    }

    fn each(&self, mut command: impl FnMut(&mut Endpoint)) {
        for shard in &self.shards {
            shard.with(|machine, _, _| command(machine));
        }
    }
}

/// Yields sessions until the listener is closed.
impl<R> Stream for RaknetListener<R> {
    type Item = RaknetStream<R>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RaknetStream<R>>> {
        self.poll_accept(cx).map(Result::ok)
    }
}

impl<R> Drop for RaknetListener<R> {
    fn drop(&mut self) {
        for shard in &self.shards {
            shard.with(|machine, desk, _| {
                machine.set_accepting(false);
                desk.stop_listening();
            });
        }
    }
}

impl<R> fmt::Debug for RaknetListener<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaknetListener")
            .field("address", &self.address)
            .field("shards", &self.shards.len())
            .finish_non_exhaustive()
    }
}

const MAX_SHARDS: usize = 256;
