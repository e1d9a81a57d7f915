//! A socket that sends numbered pings and knows which of them are still open.

use proto_raknet::{
    Guid,
    wire::{Offline, UnconnectedPing},
};
use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::net::UdpSocket;

use crate::failure::Failure;

/// Sends pings to one server.
///
/// The time field of a ping, which every server echoes, carries its number, so that each pong finds its ping.
#[derive(Debug)]
pub(super) struct Prober {
    socket: UdpSocket,
    open_only: bool,
    guid: Guid,
    /// What the number of a ping is added to, so that pongs for another program are told apart.
    base: u64,
    sent: u64,
    open: BTreeMap<u64, Instant>,
    buffer: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub(super) enum Answer {
    /// A pong for one of the pings.
    Pong(Pong),
    /// The host says that nobody listens there.
    Unreachable,
}

/// A pong.
#[derive(Debug)]
pub(super) struct Pong {
    /// The number of its ping, from 1.
    pub(super) sequence: u64,
    /// The round trip; `None` for a second pong to the same ping, or one that came too late.
    pub(super) rtt: Option<Duration>,
    /// Who answered.
    pub(super) guid: Guid,
    /// What it says about itself.
    pub(super) data: Vec<u8>,
}

impl Prober {
    /// Opens a socket towards `server`.
    pub(super) async fn connect(server: SocketAddr, open_only: bool) -> Result<Self, Failure> {
        let any: SocketAddr = match server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let no_socket =
            |error: io::Error| Failure::network(format_args!("no socket towards {server}: {error}"));
        let socket = UdpSocket::bind(any).await.map_err(no_socket)?;
        socket.connect(server).await.map_err(no_socket)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let base = since.as_secs() << 32 | u64::from(since.subsec_nanos());
        let guid = Guid(base.rotate_left(17));
        Ok(Self { socket, open_only, guid, base, sent: 0, open: BTreeMap::new(), buffer: vec![0; 65_536] })
    }

    /// Sends the next ping.
    pub(super) async fn ping(&mut self) -> io::Result<()> {
        self.sent += 1;
        let time = self.base.wrapping_add(self.sent);
        let mut datagram = Vec::new();
        UnconnectedPing { open_only: self.open_only, time, guid: Some(self.guid) }.emit(&mut datagram);
        let sent_at = Instant::now();
        self.socket.send(&datagram).await?;
        self.open.insert(self.sent, sent_at);
        Ok(())
    }

    /// Waits for what comes back. Cancel-safe.
    pub(super) async fn answer(&mut self) -> Answer {
        loop {
            let Ok(len) = self.socket.recv(&mut self.buffer).await else { return Answer::Unreachable };
            let arrived = Instant::now();
            let datagram = self.buffer.get(..len).unwrap_or_default();
            let Some(Ok(Offline::Pong(pong))) = Offline::classify(datagram, false) else { continue };
            let sequence = pong.time.wrapping_sub(self.base);
            if (1..=self.sent).contains(&sequence) {
                let rtt = self.open.remove(&sequence).map(|sent_at| arrived - sent_at);
                return Answer::Pong(Pong { sequence, rtt, guid: pong.guid, data: pong.data.to_vec() });
            }
        }
    }

    /// Gives up the pings sent longer than `timeout` ago and returns their numbers.
    pub(super) fn give_up_older_than(&mut self, timeout: Duration) -> Vec<u64> {
        let given_up =
            self.open.iter().filter(|(_, at)| at.elapsed() >= timeout).map(|(&number, _)| number).collect();
        self.open.retain(|_, at| at.elapsed() < timeout);
        given_up
    }

    /// Gives up the latest ping and returns its number.
    pub(super) fn give_up_latest(&mut self) -> u64 {
        self.open.pop_last().map_or(self.sent, |(number, _)| number)
    }

    /// Returns how many were sent.
    pub(super) const fn sent(&self) -> u64 {
        self.sent
    }

    /// Says whether no ping waits for its pong.
    pub(super) fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns when the oldest ping that waits was sent.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.open.first_key_value().map(|(_, &at)| at)
    }
}
