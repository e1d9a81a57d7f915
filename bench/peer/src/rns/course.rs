//! An initiator's phases: windows of operations on all links, first to warm up, then to be measured.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{Command, Content, Gauge, Report, Tally};
use crate::{Fault, Histogram, Rtt};

/// How a peer performs one operation.
pub trait Initiator: Send + Sync + 'static {
    /// Begins the operation with this number on one of the links and waits until it is settled; returns the bytes of
    /// its contents.
    fn perform(
        &self,
        link: usize,
        number: u64,
        content: &Arc<Content>,
    ) -> impl Future<Output = Result<usize, Fault>> + Send;
}

/// Lets an initiator warm up, measures it, and prints the report.
///
/// # Errors
///
/// With the first operation that fails.
pub async fn run<I: Initiator>(command: &Command, initiator: I) -> Result<(), Fault> {
    let field = Arc::new(Field {
        initiator,
        content: Arc::new(Content::new(&command.work)),
        next: AtomicU64::new(0),
        totals: Mutex::default(),
    });
    field.clone().phase(command, command.warmup).await?;
    let warmed_up = field.totals();
    let begin = Gauge::read(command.partner);
    field.clone().phase(command, command.time).await?;
    let end = Gauge::read(command.partner);
    let Totals { begun, settled, histogram } = field.totals();
    let (own, partner) = begin.until(&end);
    let report = Report {
        seconds: (end.at() - begin.at()).as_secs_f64(),
        operations: settled.count - warmed_up.settled.count,
        bytes: settled.bytes - warmed_up.settled.bytes,
        rtt: Some(Rtt::from(&histogram)),
        begun,
        settled,
        own,
        partner,
        link_mtu: None,
    };
    Ok(report.print()?)
}

struct Field<I> {
    initiator: I,
    content: Arc<Content>,
    next: AtomicU64,
    totals: Mutex<Totals>,
}

#[derive(Clone, Default)]
struct Totals {
    begun: Tally,
    settled: Tally,
    histogram: Histogram,
}

impl<I: Initiator> Field<I> {
    /// Begins operations for some time and waits until the last is settled.
    async fn phase(self: Arc<Self>, command: &Command, time: Duration) -> Result<(), Fault> {
        self.lock().histogram = Histogram::new();
        let until = Instant::now() + time;
        let mut lanes = JoinSet::new();
        for link in 0..command.work.links {
            for _ in 0..command.work.window {
                lanes.spawn(self.clone().lane(link, until));
            }
        }
        while let Some(lane) = lanes.join_next().await {
            lane??;
        }
        Ok(())
    }

    /// One operation after the other.
    async fn lane(self: Arc<Self>, link: usize, until: Instant) -> Result<(), Fault> {
        let mut begin = Instant::now();
        while begin < until {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            self.lock().begun.add(number, self.content.size(number));
            let bytes = self.initiator.perform(link, number, &self.content).await?;
            let end = Instant::now();
            let mut totals = self.lock();
            totals.settled.add(number, bytes);
            totals.histogram.record(end - begin);
            begin = end;
        }
        Ok(())
    }

    fn totals(&self) -> Totals {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
