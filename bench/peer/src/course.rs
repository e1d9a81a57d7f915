//! The client's phases over asynchronous connections: connect all, warm up, start together, burst.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::{Exchange, Fault, Histogram, Load, Payload, Report, SharedHistogram, Stopwatch};

/// One client connection of a peer.
pub trait Link: Send + 'static {
    /// Sends everything the exchange's window allows, in the peer's best way to send what is at hand.
    fn send(&mut self, exchange: &mut Exchange) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Waits for at least one echo and gives the exchange all that are at hand.
    fn receive(&mut self, exchange: &mut Exchange) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Runs the whole course of `load`; `connect` opens the connection with the given number.
///
/// # Errors
///
/// With the first connection that fails or gets a wrong echo.
pub async fn run<L, F>(load: &Load, connect: impl Fn(u32) -> F) -> Result<Report, Fault>
where
    L: Link,
    F: Future<Output = Result<L, Fault>> + Send + 'static,
{
    let payload = Arc::new(Payload::new(load.size));
    let field = Arc::new(Field {
        load: load.clone(),
        doors: Semaphore::new(CONNECTING_AT_ONCE),
        start: Barrier::new(load.connections as usize),
        stopwatch: OnceLock::new(),
        histogram: load.latency.then(Histogram::shared),
    });
    let mut runners = JoinSet::new();
    for connection in 0..load.connections {
        let exchange = Exchange::new(Arc::clone(&payload), connection);
        runners.spawn(Arc::clone(&field).one_connection(connect(connection), exchange));
    }
    let mut finishers = Vec::with_capacity(load.connections as usize);
    while let Some(finisher) = runners.join_next().await {
        finishers.push(finisher??);
    }
    field.sum_up(&finishers)
}

/// What the connections share.
struct Field {
    load: Load,
    doors: Semaphore,
    start: Barrier,
    stopwatch: OnceLock<Stopwatch>,
    histogram: Option<SharedHistogram>,
}

/// A connection after its burst, held open until all others are through as well.
struct Finisher<L> {
    _link: L,
    echoes: u32,
    at: Instant,
}

impl Field {
    async fn one_connection<L: Link>(
        self: Arc<Self>,
        connect: impl Future<Output = Result<L, Fault>> + Send,
        mut exchange: Exchange,
    ) -> Result<Finisher<L>, Fault> {
        let mut link = {
            let _door = self.doors.acquire().await?;
            connect.await?
        };
        exchange.begin(self.load.warmup, 1, None);
        while !exchange.is_done() {
            link.send(&mut exchange).await?;
            link.receive(&mut exchange).await?;
        }
        self.start.wait().await;
        let stopwatch = *self.stopwatch.get_or_init(|| Stopwatch::start(&self.load));
        exchange.begin(self.load.count, self.load.window, self.histogram.clone());
        // At the deadline the future is dropped wherever it waits; the exchange keeps the count.
        if let Ok(outcome) =
            timeout_at(stopwatch.deadline().into(), burst(&mut link, &mut exchange, stopwatch)).await
        {
            outcome?;
        }
        Ok(Finisher { _link: link, echoes: exchange.received(), at: Instant::now() })
    }

    fn sum_up<L>(&self, finishers: &[Finisher<L>]) -> Result<Report, Fault> {
        let stopwatch = self.stopwatch.get().ok_or("no connection")?;
        let last = finishers.iter().map(|finisher| finisher.at).max().ok_or("no connection")?;
        let elapsed = stopwatch.elapsed_at(last);
        let echoes = finishers.iter().map(|finisher| finisher.echoes);
        Ok(Report::new(&self.load, elapsed, echoes, self.histogram.as_ref()))
    }
}

/// A link that never has to wait never meets the timeout around it, so the clock is read here too.
async fn burst<L: Link>(link: &mut L, exchange: &mut Exchange, stopwatch: Stopwatch) -> Result<(), Fault> {
    while !stopwatch.is_over() {
        for _ in 0..ROUNDS_PER_CLOCK_READING {
            if exchange.is_done() {
                return Ok(());
            }
            link.send(exchange).await?;
            link.receive(exchange).await?;
        }
    }
    Ok(())
}

const ROUNDS_PER_CLOCK_READING: usize = 16;

/// Handshakes under way at the same time; more would measure full accept queues.
const CONNECTING_AT_ONCE: usize = 32;
