//! Who is not let in learns why.

use bytes::Bytes;
use proto_raknet::{ConnectFailure, ConnectOptions, IncomingConfig, wire::ProtocolVersion};
use runtime_tokio::raknet::{ConnectFailed, RaknetStream};
use std::net::SocketAddr;

use super::loopback::{choosy_server, connect, connect_with, opening, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage},
    failure::Failure,
};

/// Comes with a wrong password, with a wrong version, and to a full server.
pub(super) async fn run(_: Stage) -> Result<Outcome, Failure> {
    wrong_password().await?;
    wrong_version().await?;
    full_server().await?;
    let found = "wrong password, wrong version and full server, each with its own reason".into();
    Ok(Outcome { found, ..Outcome::default() })
}

async fn wrong_password() -> Result<(), Failure> {
    let with = |password: &'static str| ConnectOptions {
        password: Bytes::from_static(password.as_bytes()),
        ..ConnectOptions::default()
    };
    let password = Bytes::from_static(b"open sesame");
    let server = choosy_server(IncomingConfig { password, ..IncomingConfig::default() })?;
    refused(server.address(), with("open barley"), ConnectFailure::InvalidPassword).await?;
    say_goodbye(&connect_with(server.address(), opening(with("open sesame"))).await?).await?;
    server.close().await;
    Ok(())
}

async fn wrong_version() -> Result<(), Failure> {
    let versions = vec![ProtocolVersion(11)];
    let server = choosy_server(IncomingConfig { protocol_versions: versions, ..IncomingConfig::default() })?;
    let old = ConnectOptions { protocol_version: ProtocolVersion(10), ..ConnectOptions::default() };
    let reason = ConnectFailure::IncompatibleProtocolVersion { server: ProtocolVersion(11) };
    refused(server.address(), old, reason).await?;
    server.close().await;
    Ok(())
}

async fn full_server() -> Result<(), Failure> {
    let server = choosy_server(IncomingConfig { max_connections: 1, ..IncomingConfig::default() })?;
    let first = connect(server.address()).await?;
    refused(server.address(), ConnectOptions::default(), ConnectFailure::NoFreeIncomingConnections).await?;
    say_goodbye(&first).await?;
    server.close().await;
    Ok(())
}

/// Fails unless `server` refuses for the reason expected.
async fn refused(
    server: SocketAddr,
    options: ConnectOptions,
    expected: ConnectFailure,
) -> Result<(), Failure> {
    match RaknetStream::connect_with(server, opening(options)).await {
        Err(ConnectFailed::Failed(reason)) if reason == expected => Ok(()),
        Err(other) => Err(Failure::check(format_args!("expected {expected:?}, but: {other}"))),
        Ok(_) => Err(Failure::check(format_args!("expected {expected:?}, but was let in"))),
    }
}
