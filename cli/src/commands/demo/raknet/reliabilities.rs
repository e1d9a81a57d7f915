//! All eight reliabilities, over sizes from one byte to several datagrams.

use bytes::Bytes;
use proto_raknet::{Channel, Message, Reliability};
use std::time::Instant;

use super::loopback::{connect, echo_server, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::bytes,
    raknet::{fault, names},
};

/// Sends each size in each mode and compares the echo before the next one goes out.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let stream = connect(server.address()).await?;
    let channel = Channel::new(7).unwrap_or_default();
    let mut outcome = Outcome::default();
    let start = Instant::now();
    for round in 0..stage.amount(50) {
        for reliability in Reliability::ALL {
            for size in SIZES {
                let payload = content(size, round);
                let message = Message::new(payload.clone()).reliability(reliability).channel(channel);
                let sent = stream.send_with(message).await;
                sent.map_err(|error| fault::send(server.address(), error))?;
                let echo = receive(&stream).await?;
                let name = names::reliability(reliability);
                check(echo.payload == payload, || {
                    format!("{name}: {} came back changed", bytes(size as u64))
                })?;
                let expected = if size > ONE_DATAGRAM { reliability.upgraded() } else { reliability }.base();
                check(echo.reliability == expected, || {
                    format!("{name} came back as {}", names::reliability(echo.reliability))
                })?;
                check(!expected.has_channel() || echo.channel == channel, || {
                    format!("{name}: other channel")
                })?;
                outcome.messages += 1;
                outcome.bytes += size as u64;
            }
        }
    }
    outcome.transfer = start.elapsed();
    say_goodbye(&stream).await?;
    server.close().await;
    outcome.found =
        format!("all eight modes, {} echoes from 1 B to {}", outcome.messages, bytes(LARGEST as u64));
    Ok(outcome)
}

/// Makes bytes that start with what Bedrock's packets start with and differ from round to round.
fn content(size: usize, round: u32) -> Bytes {
    let noise =
        (1..size).map(|at| (at.wrapping_mul(31) ^ round as usize).to_le_bytes().map(|byte| byte ^ 0x5a));
    [0xfe].into_iter().chain(noise.map(|[low, ..]| low)).collect()
}

const LARGEST: usize = 20_000;
const SIZES: [usize; 5] = [1, 64, 800, 4_096, LARGEST];
/// Between the sizes that fit into one datagram and those that are split.
const ONE_DATAGRAM: usize = 1_400;
