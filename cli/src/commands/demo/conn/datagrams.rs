//! Datagrams and their answers.

use bench_peer::Payload;
use proto_conn::{Message, Scheme};
use std::time::{Duration, Instant};

use super::peers::{PATIENCE, connected};
use crate::{
    commands::demo::section::{Outcome, Stage},
    failure::Failure,
    output::quantity::{count, time},
};

/// Sends datagrams one after the other, and compares what comes back.
pub(super) fn run(stage: &Stage) -> Result<Outcome, Failure> {
    let (_echo, mut conn) = connected(Scheme::Udp)?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(1_000);
    stage.progress.start_bar(total.into());
    let (start, mut fastest) = (Instant::now(), Duration::MAX);
    for number in 0..total {
        let mut datagram = Vec::with_capacity(SIZE);
        payload.append(0, number, &mut datagram);
        let asked = Instant::now();
        let answer = conn.request(Message::datagram(datagram), Some(PATIENCE)).map_err(Failure::network)?;
        fastest = fastest.min(asked.elapsed());
        payload.check(0, number, &answer.body).map_err(Failure::check)?;
        stage.progress.set(u64::from(number) + 1);
    }
    let transfer = start.elapsed();
    let found = format!("{} datagrams answered, the fastest in {}", count(total.into()), time(fastest));
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * 2 * SIZE as u64, transfer })
}

const SIZE: usize = 1_024;
