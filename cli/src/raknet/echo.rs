//! A server that sends every message back as it came.

use proto_raknet::{Message, Received};
use runtime_tokio::raknet::{
    CloseReason, EndpointStats, ListenOptions, PeerInfo, RaknetListener, RaknetStream, SendFailed,
};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::task::JoinHandle;

use super::fault;
use crate::failure::Failure;

/// A running echo server.
#[derive(Debug)]
pub(crate) struct EchoServer {
    listener: Arc<RaknetListener>,
    accepting: JoinHandle<()>,
    tally: Arc<Tally>,
}

/// What an echo server has seen.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    opened: AtomicU64,
    closed: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
}

/// Something that happened to a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// It was opened.
    Opened,
    /// It ended.
    Closed(CloseReason),
}

/// Who is told of sessions.
pub(crate) type Watcher = Arc<dyn Fn(&PeerInfo, Happening) + Send + Sync>;

impl EchoServer {
    /// Listens on `address` and echoes until it is closed.
    ///
    /// # Errors
    /// The options cannot work, or the operating system refused.
    pub(crate) fn start(
        address: SocketAddr,
        options: ListenOptions,
        watcher: Watcher,
    ) -> Result<Self, Failure> {
        let listener =
            RaknetListener::bind_with(address, options).map_err(|error| fault::bind(address, &error))?;
        let (listener, tally) = (Arc::new(listener), Arc::new(Tally::default()));
        let accepting = tokio::spawn(accept(Arc::clone(&listener), Arc::clone(&tally), watcher));
        Ok(Self { listener, accepting, tally })
    }

    /// Starts one whose sessions nobody watches.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(crate) fn start_quietly(address: SocketAddr, options: ListenOptions) -> Result<Self, Failure> {
        Self::start(address, options, Arc::new(|_, _| {}))
    }

    /// Returns the listener.
    pub(crate) fn listener(&self) -> &RaknetListener {
        &self.listener
    }

    /// Returns the address, with the port that was chosen.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// Returns what it has seen.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the statistics of all shards together.
    pub(crate) fn stats(&self) -> EndpointStats {
        let mut sum = EndpointStats::default();
        for shard in self.listener.stats() {
            sum.datagrams_received += shard.datagrams_received;
            sum.bytes_received += shard.bytes_received;
            sum.datagrams_sent += shard.datagrams_sent;
            sum.bytes_sent += shard.bytes_sent;
            sum.incoming += shard.incoming;
            sum.handshakes += shard.handshakes;
            sum.pings_answered += shard.pings_answered;
        }
        sum
    }

    /// Says goodbye to all peers and ends.
    pub(crate) async fn close(self) {
        self.listener.close().await;
        self.accepting.abort();
    }
}

impl Tally {
    /// Returns how many sessions were opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns how many sessions are open.
    pub(crate) fn open(&self) -> u64 {
        self.opened().saturating_sub(self.closed.load(Ordering::Relaxed))
    }

    /// Returns how many messages were echoed.
    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Returns the bytes of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

async fn accept(listener: Arc<RaknetListener>, tally: Arc<Tally>, watcher: Watcher) {
    while let Ok(stream) = listener.accept().await {
        let (tally, watcher) = (Arc::clone(&tally), Arc::clone(&watcher));
        tokio::spawn(async move {
            tally.opened.fetch_add(1, Ordering::Relaxed);
            watcher(stream.info(), Happening::Opened);
            let reason = echo(&stream, &tally).await;
            tally.closed.fetch_add(1, Ordering::Relaxed);
            watcher(stream.info(), Happening::Closed(reason));
        });
    }
}

async fn echo(stream: &RaknetStream, tally: &Tally) -> CloseReason {
    let (mut received, mut answers) = (Vec::new(), VecDeque::new());
    loop {
        if let Err(reason) = stream.recv_batch(&mut received, BATCH).await {
            return reason;
        }
        for message in received.drain(..) {
            tally.messages.fetch_add(1, Ordering::Relaxed);
            tally.bytes.fetch_add(message.payload.len() as u64, Ordering::Relaxed);
            answers.push_back(as_it_came(message));
        }
        while let Err(error) = stream.send_batch(&mut answers).await {
            // A message that cannot be sent was taken out; the others still can.
            if let SendFailed::Closed(reason) = error {
                return reason;
            }
        }
    }
}

/// Turns a message that arrived into the same one to send.
pub(crate) fn as_it_came(received: Received) -> Message {
    Message::new(received.payload).reliability(received.reliability).channel(received.channel)
}

/// Messages taken at a time.
const BATCH: usize = 64;
