//! `iolite raknet bench`: messages to an echo server and back, as fast as they go.

mod load;
mod report;

use bench_peer::{Histogram, Payload};
use load::{Goal, Load, Measured};
use proto_raknet::Config;
use runtime_tokio::raknet::{ClientOptions, ListenOptions, RaknetStream};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

use crate::{
    args::raknet::Bench,
    failure::Failure,
    output::progress::Progress,
    raknet::{echo::EchoServer, fault, resolve::resolve},
};

/// Measures and prints.
///
/// # Errors
/// There is no session to be had or one is lost, or an echo differs from what was sent.
pub(crate) async fn run(options: Bench) -> Result<(), Failure> {
    let own = options.own.then(own_server).transpose()?;
    let server = match (&own, &options.server) {
        (Some(own), _) => own.address(),
        (None, Some(host)) => resolve(host, options.connect.family).await?,
        (None, None) => return Err(Failure::usage("give a server, or --self")),
    };
    let progress = if options.json { Progress::hidden() } else { Progress::live("connecting") };
    let streams = connect_all(&options, server).await?;
    progress.describe("measuring; Ctrl-C gives up");
    let measured = measure(&options, server, streams, &progress).await;
    if let Some(own) = own {
        own.close().await;
    }
    measured
}

fn own_server() -> Result<EchoServer, Failure> {
    EchoServer::start_quietly((Ipv4Addr::LOCALHOST, 0).into(), ListenOptions::default())
}

/// Opens all sessions, a few at a time so that a small server is not overrun.
async fn connect_all(options: &Bench, server: SocketAddr) -> Result<Vec<RaknetStream>, Failure> {
    let client = ClientOptions {
        endpoint: Config::client(),
        connect: options.connect.options(),
        ..ClientOptions::default()
    };
    let (mut streams, mut attempts) = (Vec::new(), JoinSet::new());
    let mut left = options.connections;
    loop {
        while left > 0 && attempts.len() < ATTEMPTS {
            attempts.spawn(RaknetStream::connect_with(server, client.clone()));
            left -= 1;
        }
        let Some(attempt) = attempts.join_next().await else { return Ok(streams) };
        let attempt = attempt.map_err(Failure::network)?;
        streams.push(attempt.map_err(|error| fault::connect(server, &error))?);
    }
}

/// Runs the load of all sessions at a time and prints what they did together.
async fn measure(
    options: &Bench,
    server: SocketAddr,
    streams: Vec<RaknetStream>,
    progress: &Progress,
) -> Result<(), Failure> {
    let payload = Arc::new(Payload::new(options.size));
    let round_trips = Histogram::shared();
    let start = Instant::now();
    let goal = options.count.map_or(Goal::Until(start + options.duration), Goal::Messages);
    let mut loads = JoinSet::new();
    for (number, stream) in (0..).zip(streams) {
        let (payload, round_trips) = (Arc::clone(&payload), Arc::clone(&round_trips));
        let load = Load::new(server, payload, number, options.inflight, goal, round_trips);
        loads.spawn(load.run(stream, goal));
    }
    let (mut sum, mut streams) = (Measured::default(), Vec::new());
    while let Some(load) = loads.join_next().await {
        let (measured, stream) = load.map_err(Failure::network)??;
        sum.add(&measured);
        streams.push(stream);
    }
    let taken = start.elapsed();
    close_all(streams).await;
    progress.finish();
    let round_trips = round_trips.lock().unwrap_or_else(PoisonError::into_inner);
    report::print(options, server, &sum, &round_trips, taken)
}

/// Ends the sessions. What is still on its way is not worth waiting for, nor is how well the goodbyes go.
async fn close_all(streams: Vec<RaknetStream>) {
    let mut goodbyes: JoinSet<_> =
        streams.into_iter().map(|stream| async move { stream.close().await }).collect();
    let _ = tokio::time::timeout(GOODBYE, async { while goodbyes.join_next().await.is_some() {} }).await;
}

/// Handshakes under way at a time.
const ATTEMPTS: usize = 64;
/// How long the ends of all sessions may take.
const GOODBYE: Duration = Duration::from_secs(1);
