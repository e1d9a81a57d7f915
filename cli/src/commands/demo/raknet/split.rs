//! A message of 1 MiB travels in many parts and arrives as one.

use bench_peer::{MAX_SIZE, Payload};
use runtime_tokio::raknet::RaknetStream;
use std::time::{Duration, Instant};
use tokio::time::interval;

use super::loopback::{connect, echo_server, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::{progress::Progress, quantity::time},
    raknet::fault,
};

/// Sends the message and compares what comes back.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let stream = connect(server.address()).await?;
    let long = content();
    let start = Instant::now();
    let sent = stream.send(long.clone()).await;
    sent.map_err(|error| fault::send(server.address(), error))?;
    stage.progress.start_bar(2 * LEN as u64);
    let echo = tokio::select! {
        echo = receive(&stream) => echo?,
        () = show(&stream, &stage.progress) => return Err(Failure::check("the session is gone")),
    };
    let transfer = start.elapsed();
    check(echo.payload == long, || "the message came back changed".into())?;
    let parts = LEN.div_ceil(usize::from(stream.mtu()));
    say_goodbye(&stream).await?;
    server.close().await;
    let found = format!("there and back in {}, in more than {parts} parts each way", time(transfer));
    Ok(Outcome { found, messages: 1, bytes: LEN as u64, transfer })
}

/// Shows how much has left and come back, until the session is over.
async fn show(stream: &RaknetStream, progress: &Progress) {
    let mut ticks = interval(Duration::from_millis(20));
    while let Some(stats) = stream.stats() {
        let left = LEN.saturating_sub(stats.reliable_queue_bytes) as u64;
        progress.set(left + stats.totals.bytes_received);
        ticks.tick().await;
    }
}

/// Strings together messages that differ from each other.
fn content() -> Vec<u8> {
    let payload = Payload::new(MAX_SIZE);
    let mut long = Vec::with_capacity(LEN);
    for number in (0..).take(LEN / MAX_SIZE) {
        payload.append(0, number, &mut long);
    }
    long
}

const LEN: usize = 1 << 20;
