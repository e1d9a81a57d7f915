//! One server, many peers at a time.

use bench_peer::Payload;
use std::{net::SocketAddr, sync::Arc, time::Instant};
use tokio::task::JoinSet;

use super::loopback::{connect, echo_server, message, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
    raknet::fault,
};

/// Lets many clients talk at the same time and compares what each of them gets.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let payload = Arc::new(Payload::new(SIZE));
    let peers = stage.amount(200);
    stage.progress.start_bar(peers.into());
    let start = Instant::now();
    let mut clients: JoinSet<_> =
        (0..peers).map(|number| talk(server.address(), number, Arc::clone(&payload))).collect();
    let mut done = 0;
    while let Some(client) = clients.join_next().await {
        client.map_err(Failure::check)??;
        done += 1;
        stage.progress.set(done);
    }
    let transfer = start.elapsed();
    let opened = server.tally().opened();
    check(opened == u64::from(peers), || format!("the server saw {opened} sessions instead of {peers}"))?;
    server.close().await;
    let total = u64::from(peers) * u64::from(MESSAGES);
    let found = format!("{peers} sessions at a time, {} echoes, each at the right peer", count(total));
    Ok(Outcome { found, messages: total, bytes: total * SIZE as u64, transfer })
}

/// One client: sends everything, then compares all echoes.
async fn talk(server: SocketAddr, number: u32, payload: Arc<Payload>) -> Result<(), Failure> {
    let stream = connect(server).await?;
    for id in 0..MESSAGES {
        let sent = stream.send(message(&payload, number, id)).await;
        sent.map_err(|error| fault::send(server, error))?;
    }
    for id in 0..MESSAGES {
        payload.check(number, id, &receive(&stream).await?.payload).map_err(Failure::check)?;
    }
    say_goodbye(&stream).await
}

const SIZE: usize = 200;
const MESSAGES: u32 = 50;
