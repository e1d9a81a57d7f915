//! A group whose members hear each other.

use bench_peer::Payload;
use proto_conn::{Message, Scheme};
use std::time::Instant;

use super::peers::{PATIENCE, connected};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
};

/// Says things to a group on the loopback interface, and hears them together with what the other member answers.
pub(super) fn run(stage: &Stage) -> Result<Outcome, Failure> {
    let (_echo, mut conn) = connected(Scheme::UdpMulticast)?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(500);
    stage.progress.start_bar(total.into());
    let start = Instant::now();
    for number in 0..total {
        let mut datagram = Vec::with_capacity(SIZE);
        payload.append(0, number, &mut datagram);
        conn.send(Message::datagram(datagram)).map_err(Failure::network)?;
        let mut answers = 0;
        for _ in 0..2 {
            let heard = conn.recv(Some(PATIENCE)).map_err(Failure::network)?;
            check(heard.interface.is_some(), || "a datagram does not say by which interface it came".into())?;
            let answer = heard.body.strip_prefix(b"echo: ".as_slice());
            answers += u32::from(answer.is_some());
            payload.check(0, number, answer.unwrap_or(&heard.body)).map_err(Failure::check)?;
        }
        check(answers == 1, || format!("{answers} of two datagrams are answers"))?;
        stage.progress.set(u64::from(number) + 1);
    }
    let transfer = start.elapsed();
    let messages = 2 * u64::from(total);
    let found = format!("{} datagrams heard, half of them answers", count(messages));
    Ok(Outcome { found, messages, bytes: messages * SIZE as u64, transfer })
}

const SIZE: usize = 512;
