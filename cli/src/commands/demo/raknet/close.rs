//! A close loses nothing that was sent before it, and both sides know why it is over.

use bench_peer::Payload;
use proto_raknet::CloseReason;
use std::time::{Duration, Instant};

use super::loopback::{accept, connect, listener, message, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
    raknet::fault,
};

/// Sends and closes at once, from either side.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let listener = listener(proto_raknet::Config::default())?;
    let payload = Payload::new(SIZE);
    let each = stage.amount(500);
    let mut transfer = Duration::ZERO;
    for closed_by_client in [true, false] {
        let (client, server) = tokio::try_join!(connect(listener.local_addr()), accept(&listener))?;
        let (leaver, other) = if closed_by_client { (client, server) } else { (server, client) };
        let start = Instant::now();
        for number in 0..each {
            let sent = leaver.send(message(&payload, 0, number)).await;
            sent.map_err(|error| fault::send(leaver.peer_addr(), error))?;
        }
        say_goodbye(&leaver).await?;
        let mut arrived = 0;
        let reason = loop {
            match other.recv().await {
                Ok(received) => payload.check(0, arrived, &received.payload).map_err(Failure::check)?,
                Err(reason) => break reason,
            }
            arrived += 1;
        };
        transfer += start.elapsed();
        check(arrived == each, || format!("{arrived} of {each} messages arrived before the end"))?;
        check(reason == CloseReason::PeerClose, || format!("the other side thinks: {reason}"))?;
    }
    listener.close().await;
    let total = 2 * u64::from(each);
    let found = format!("{} messages sent just before the end, all arrived, from either side", count(total));
    Ok(Outcome { found, messages: total, bytes: total * SIZE as u64, transfer })
}

const SIZE: usize = 100;
