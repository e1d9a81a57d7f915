//! A server says who it is without a session.

use proto_raknet::Motd;
use runtime_tokio::raknet;
use std::time::Duration;

use super::loopback::echo_server;
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::time,
};

/// Pings and compares the description with the one that was set.
pub(super) async fn run(_: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let port = server.address().port();
    let described = Motd::new("Iolite; the demo", 800, "1.21.80")
        .with_players(3, 20)
        .with_guid(server.listener().guid())
        .with_level("Loopback")
        .with_mode("Survival", 0)
        .with_ports(port, port);
    let data = described.to_pong_data().map_err(Failure::check)?;
    server.listener().set_pong_data(data).map_err(Failure::check)?;
    let pong = raknet::ping(server.address(), Duration::from_secs(3)).await.map_err(Failure::network)?;
    let read = pong.motd().map_err(Failure::check)?;
    check(read == described, || format!("the description came back as {read}"))?;
    check(pong.guid == server.listener().guid(), || "the pong has another identifier".into())?;
    server.close().await;
    let found = format!(
        "{:?}, {} of {} players, version {}, in {}",
        read.name,
        read.players,
        read.max_players,
        read.version,
        time(pong.rtt)
    );
    Ok(Outcome { found, messages: 1, ..Outcome::default() })
}
