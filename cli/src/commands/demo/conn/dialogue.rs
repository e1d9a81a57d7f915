//! Messages of a WebSocket, several under way at a time.

use bench_peer::Payload;
use proto_conn::{Message, Scheme};
use std::time::Instant;

use super::peers::{PATIENCE, connected};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
};

/// Sends messages ahead of their echoes, compares those, and closes in good order.
pub(super) fn run(stage: &Stage, scheme: Scheme) -> Result<Outcome, Failure> {
    let (_echo, mut conn) = connected(scheme)?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(1_000);
    stage.progress.start_bar(total.into());
    let start = Instant::now();
    let mut sent = 0;
    for number in 0..total {
        while sent < total.min(number + WINDOW) {
            let mut message = Vec::with_capacity(SIZE);
            payload.append(0, sent, &mut message);
            conn.send(Message::binary(message)).map_err(Failure::network)?;
            sent += 1;
        }
        let echo = conn.recv(Some(PATIENCE)).map_err(Failure::network)?;
        payload.check(0, number, &echo.body).map_err(Failure::check)?;
        stage.progress.set(u64::from(number) + 1);
    }
    let transfer = start.elapsed();
    let closed = conn.close(1000, "enough", Some(PATIENCE)).map_err(Failure::network)?;
    check(closed.is_clean && closed.code == 1000, || format!("closed with {closed:?}"))?;
    let found = format!("{} compressed messages there and back, closed in good order", count(total.into()));
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * 2 * SIZE as u64, transfer })
}

const SIZE: usize = 1_000;
const WINDOW: u32 = 16;
