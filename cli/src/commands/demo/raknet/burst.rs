//! Unreliable messages: fast, at most once, never changed.

use bench_peer::Payload;
use proto_raknet::{Message, Reliability};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use tokio::time::timeout;

use super::loopback::{connect, echo_server, message, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::{count, percent, share},
    raknet::fault,
};

/// Sends as fast as there is room and looks at what comes back.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let stream = connect(server.address()).await?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(20_000);
    stage.progress.start_bar(total.into());
    let sending = async {
        for number in 0..total {
            let message = Message::new(message(&payload, 0, number)).reliability(Reliability::Unreliable);
            let sent = stream.send_with(message).await;
            sent.map_err(|error| fault::send(server.address(), error))?;
        }
        Ok(())
    };
    let receiving = async {
        let (start, mut latest, mut numbers) = (Instant::now(), Duration::ZERO, HashSet::new());
        while numbers.len() < total as usize {
            let Ok(echo) = timeout(SILENCE, receive(&stream)).await else { break };
            let echo = echo?.payload;
            let number = number_of(&echo);
            payload.check(0, number, &echo).map_err(Failure::check)?;
            check(numbers.insert(number), || format!("message {number} came twice"))?;
            stage.progress.set(numbers.len() as u64);
            latest = start.elapsed();
        }
        Ok((numbers.len() as u64, latest))
    };
    let ((), (arrived, transfer)) = tokio::try_join!(sending, receiving)?;
    check(arrived > u64::from(total) / 2, || format!("only {arrived} of {total} came back over loopback"))?;
    say_goodbye(&stream).await?;
    server.close().await;
    let found = format!(
        "{} of {} echoes came back ({}), none twice, none changed",
        count(arrived),
        count(total.into()),
        percent(share(arrived, total.into()))
    );
    Ok(Outcome { found, messages: arrived, bytes: arrived * SIZE as u64, transfer })
}

/// Reads the number out of a message.
fn number_of(message: &[u8]) -> u32 {
    let number = message.get(4..8).and_then(|bytes| bytes.first_chunk::<4>());
    number.map_or(u32::MAX, |bytes| u32::from_le_bytes(*bytes))
}

const SIZE: usize = 64;
/// After this long without an echo the missing ones count as lost.
const SILENCE: Duration = Duration::from_millis(500);
