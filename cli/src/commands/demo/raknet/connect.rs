//! A session is opened, with the versions and sizes that both sides can do.

use proto_raknet::{ConnectOptions, wire::ProtocolVersion};
use std::time::Instant;

use super::loopback::{connect_with, echo_server, opening, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::time,
};

/// Opens a session in each protocol version in use.
pub(super) async fn run(_: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let (mut fastest, mut mtu) = (None, 0);
    for version in VERSIONS.map(ProtocolVersion) {
        let options = ConnectOptions { protocol_version: version, ..ConnectOptions::default() };
        let start = Instant::now();
        let stream = connect_with(server.address(), opening(options)).await?;
        let taken = start.elapsed();
        fastest = Some(fastest.map_or(taken, |fastest| taken.min(fastest)));
        mtu = stream.mtu();
        check(stream.protocol_version() == version, || {
            format!("the session is not in version {}", version.0)
        })?;
        check(stream.guid() == server.listener().guid(), || "the server has another identifier".into())?;
        check(mtu == 1_492, || format!("loopback carries 1492 bytes, but {mtu} were agreed on"))?;
        say_goodbye(&stream).await?;
    }
    server.close().await;
    let fastest = time(fastest.unwrap_or_default());
    let found = format!("protocol versions 6 to 11, cookies, mtu {mtu}, handshake in {fastest}");
    Ok(Outcome { found, ..Outcome::default() })
}

const VERSIONS: [u8; 6] = [6, 7, 8, 9, 10, 11];
