//! `iolite raknet ping`: unconnected pings and what comes back.

mod prober;
mod report;
mod statistics;

use prober::{Answer, Prober};
use report::Report;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

use crate::{args::raknet::Ping, failure::Failure, interrupt::Interrupt, raknet::resolve::resolve};

/// Pings until the count is reached or the user has seen enough.
///
/// # Errors
/// There is no such host or no socket to be had, or nobody answered.
pub(crate) async fn run(options: Ping, interrupt: Interrupt) -> Result<(), Failure> {
    let server = interrupt.or(resolve(&options.server, options.family)).await?;
    let mut prober = Prober::connect(server, options.open_only).await?;
    let mut report = Report::new(&options.server, server, options.json);
    let mut ticks = interval(options.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    report.begin()?;
    loop {
        let all_sent = options.count != 0 && prober.sent() >= options.count;
        if all_sent && prober.is_settled() {
            break;
        }
        let oldest = prober.oldest();
        tokio::select! {
            _ = ticks.tick(), if !all_sent => match prober.ping().await {
                Ok(()) => {}
                Err(error) => report.send_failed(prober.sent(), &error)?,
            },
            answer = prober.answer() => match answer {
                Answer::Pong(pong) => report.pong(&pong)?,
                Answer::Unreachable => report.unreachable(prober.give_up_latest())?,
            },
            () = sleep_until(oldest, options.timeout) => {
                for sequence in prober.give_up_older_than(options.timeout) {
                    report.no_answer(sequence)?;
                }
            }
            () = interrupt.wait() => break,
        }
    }
    report.end(prober.sent())
}

/// Sleeps until `timeout` after `start`; forever without a start.
async fn sleep_until(start: Option<Instant>, timeout: Duration) {
    match start {
        Some(start) => tokio::time::sleep_until((start + timeout).into()).await,
        None => std::future::pending().await,
    }
}
