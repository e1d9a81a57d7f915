//! The load of one session.

use bench_peer::{Exchange, Payload, SharedHistogram};
use proto_raknet::{Message, Received};
use runtime_tokio::raknet::RaknetStream;
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::timeout;

use crate::{
    failure::Failure,
    output::quantity::{share, time},
    raknet::fault,
};

/// One session's part of the measurement.
#[derive(Debug)]
pub(super) struct Load {
    server: SocketAddr,
    exchange: Exchange,
    queue: VecDeque<Message>,
}

/// When a load is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// After so many messages.
    Messages(u32),
    /// At this instant.
    Until(Instant),
}

/// What sessions did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Messages that came back and matched.
    pub(super) echoes: u64,
    pub(super) frames_resent: u64,
    pub(super) datagrams_lost: u64,
    pub(super) data_datagrams_sent: u64,
}

impl Load {
    /// Prepares the load of session `number`, with `inflight` messages on their way at a time.
    pub(super) fn new(
        server: SocketAddr,
        payload: Arc<Payload>,
        number: u32,
        inflight: u32,
        goal: Goal,
        round_trips: SharedHistogram,
    ) -> Self {
        let count = match goal {
            Goal::Messages(count) => count,
            Goal::Until(_) => u32::MAX,
        };
        let mut exchange = Exchange::new(payload, number);
        exchange.begin(count, inflight, Some(round_trips));
        Self { server, exchange, queue: VecDeque::new() }
    }

    /// Sends and compares until the goal is reached, and gives the session back.
    ///
    /// # Errors
    /// The session is lost, an echo differs from what was sent, or none comes any more.
    pub(super) async fn run(
        mut self,
        stream: RaknetStream,
        goal: Goal,
    ) -> Result<(Measured, RaknetStream), Failure> {
        match goal {
            Goal::Messages(_) => self.exchange_all(&stream).await?,
            Goal::Until(end) => {
                tokio::select! {
                    done = self.exchange_all(&stream) => done?,
                    () = tokio::time::sleep_until(end.into()) => {}
                }
            }
        }
        let totals = stream.stats().unwrap_or_default().totals;
        let echoes = self.exchange.received().into();
        let measured = Measured {
            echoes,
            frames_resent: totals.frames_resent,
            datagrams_lost: totals.datagrams_lost,
            data_datagrams_sent: totals.data_datagrams_sent,
        };
        Ok((measured, stream))
    }

    async fn exchange_all(&mut self, stream: &RaknetStream) -> Result<(), Failure> {
        let mut received = Vec::new();
        while !self.exchange.is_done() {
            self.fill_queue();
            tokio::select! {
                sent = stream.send_batch(&mut self.queue), if !self.queue.is_empty() => {
                    sent.map_err(|error| fault::send(self.server, error))?;
                }
                arrived = timeout(SILENCE, stream.recv_batch(&mut received, BATCH)) => {
                    arrived
                        .map_err(|_| silent(self.server))?
                        .map_err(|reason| fault::closed(self.server, reason))?;
                    self.compare(&mut received)?;
                }
            }
        }
        Ok(())
    }

    fn fill_queue(&mut self) {
        loop {
            let mut message = Vec::with_capacity(self.exchange.message_size());
            if !self.exchange.append_next(&mut message) {
                return;
            }
            self.queue.push_back(Message::new(message));
        }
    }

    fn compare(&mut self, received: &mut Vec<Received>) -> Result<(), Failure> {
        for echo in received.drain(..) {
            self.exchange.accept(&echo.payload).map_err(|mismatch| {
                Failure::check(format_args!("{} does not echo: {mismatch}", self.server))
                    .advise("bench needs an echo server such as `iolite raknet serve`")
            })?;
        }
        Ok(())
    }
}

impl Measured {
    /// Adds what another session did.
    pub(super) fn add(&mut self, other: &Self) {
        self.echoes += other.echoes;
        self.frames_resent += other.frames_resent;
        self.datagrams_lost += other.datagrams_lost;
        self.data_datagrams_sent += other.data_datagrams_sent;
    }

    /// Returns the share of data datagrams sent that were lost.
    pub(super) fn loss(&self) -> f64 {
        share(self.datagrams_lost, self.data_datagrams_sent)
    }
}

fn silent(server: SocketAddr) -> Failure {
    Failure::check(format_args!("no echo from {server} for {}", time(SILENCE)))
        .advise("bench needs an echo server such as `iolite raknet serve`")
}

/// Echoes taken at a time.
const BATCH: usize = 256;
/// How long no echo may come.
const SILENCE: Duration = Duration::from_secs(10);
