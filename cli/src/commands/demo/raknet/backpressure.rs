//! Who sends faster than the other side reads has to wait, and loses nothing.

use bench_peer::Payload;
use proto_raknet::{Config, Message, SendError, SessionConfig};
use runtime_tokio::raknet::{ClientOptions, RaknetStream, SendFailed};
use std::time::{Duration, Instant};
use tokio::time::sleep;

use super::loopback::{accept, connect_with, listener, message, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::bytes,
    raknet::fault,
};

/// Sends to somebody who does not read until no more is taken, then lets them read.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let session =
        SessionConfig { reliable_queue_bytes: QUEUE, receive_queue_bytes: QUEUE, ..SessionConfig::default() };
    let endpoint = Config { session: session.clone(), ..Config::default() };
    let listener = listener(endpoint)?;
    let client =
        ClientOptions { endpoint: Config { session, ..Config::client() }, ..ClientOptions::default() };
    let (stream, reader) = tokio::try_join!(connect_with(listener.local_addr(), client), accept(&listener))?;

    stage.progress.describe("the reader sleeps");
    let payload = Payload::new(SIZE);
    let before = fill(&stream, &payload).await?;
    let taken = u64::from(before) * SIZE as u64;
    check(taken <= MOST, || format!("{} were taken though nobody reads", bytes(taken)))?;

    stage.progress.describe("the reader reads");
    let total = before + stage.amount(5_000);
    let sending = async {
        for number in before..total {
            let sent = stream.send(message(&payload, 0, number)).await;
            sent.map_err(|error| fault::send(stream.peer_addr(), error))?;
        }
        Ok(())
    };
    let receiving = async {
        for number in 0..total {
            let received = receive(&reader).await?;
            payload.check(0, number, &received.payload).map_err(Failure::check)?;
        }
        Ok(())
    };
    let start = Instant::now();
    tokio::try_join!(sending, receiving)?;
    let transfer = start.elapsed();
    say_goodbye(&stream).await?;
    listener.close().await;
    let found = format!("held back after {}, then {total} messages complete and in order", bytes(taken));
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * SIZE as u64, transfer })
}

/// Sends until for a while nothing more is taken, and returns how many messages were.
async fn fill(stream: &RaknetStream, payload: &Payload) -> Result<u32, Failure> {
    let (mut number, mut refused) = (0, 0);
    while refused < PATIENCE {
        match stream.try_send(Message::new(message(payload, 0, number))) {
            Ok(_) => (number, refused) = (number + 1, 0),
            Err(SendFailed::Refused(SendError::Full)) => {
                refused += 1;
                sleep(Duration::from_millis(10)).await;
            }
            Err(error) => return Err(fault::send(stream.peer_addr(), error)),
        }
        check(u64::from(number) * (SIZE as u64) < 2 * MOST, || "the sender is never held back".into())?;
    }
    Ok(number)
}

const SIZE: usize = 1_000;
const QUEUE: usize = 256 << 10;
/// The queues of both sides, and what may be in flight between them.
const MOST: u64 = 3 * QUEUE as u64;
/// Refusals in a row, 10 ms apart, after which the sender counts as held back.
const PATIENCE: u32 = 30;
