//! An echo peer, and a connection to it.

use proto_conn::{
    Scheme, Url,
    client::Options,
    tls::{ClientAuth, Roots, TlsClient, TlsConfig},
    ws::Deflate,
};
use proto_core::Interface;
use runtime_blocking::conn::{Connection, system_clock};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use crate::{
    conn::serve::{
        Certificate,
        echo::{Echo, Plan},
    },
    failure::Failure,
};

/// Starts a peer for a scheme and connects to it.
///
/// # Errors
/// Either does not succeed.
pub(super) fn connected(scheme: Scheme) -> Result<(Echo, Connection), Failure> {
    let mut plan = Plan::default();
    let mut options = Options::default();
    options.ws.deflate = Some(Deflate::default());
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    match scheme {
        Scheme::Http | Scheme::Ws => plan.http = Some(any),
        Scheme::Https | Scheme::Wss => {
            let Certificate { identity, pem } = Certificate::make(&[])?;
            let roots = Roots::from_pem(pem.as_bytes()).map_err(Failure::check)?;
            let tls = TlsClient::new(TlsConfig { roots, ..TlsConfig::default() }, &system_clock());
            options.tls = Some(tls.map_err(Failure::check)?);
            plan.https = Some((any, identity, ClientAuth::None));
        }
        Scheme::Udp => plan.udp = Some(any),
        Scheme::UdpMulticast => {
            plan.group = Some((GROUP, loopback()));
            options.interfaces = vec![loopback()];
        }
    }
    let echo = Echo::start(plan, Arc::new(|_| {}))?;
    let place = echo.places().first().ok_or_else(|| Failure::check("nobody listens"))?;
    let url = Url::parse(&format!("{scheme}://{}", place.address)).map_err(Failure::check)?;
    let mut conn = Connection::open_url(url, options).map_err(Failure::network)?;
    conn.connect(Some(PATIENCE)).map_err(Failure::network)?;
    Ok((echo, conn))
}

fn loopback() -> Interface {
    Interface::Name("lo".into())
}

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A group of the scope that is free for local use (RFC 2365 §6.1).
const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 255, 71, 31)), 42_731);
