//! How both sides are configured; all else is as by default.

use std::time::Duration;

use bench_peer::Fault;
use bench_peer::conn::{Command, Identity, Scheme};
use proto_core::{DatagramOptions, Interface};
use runtime_blocking::ReceiveMode;
use runtime_blocking::conn::machine::Config;
use runtime_blocking::conn::tls::{self, Roots, TlsClient, TlsConfig, TlsServer, TlsServerConfig};
use runtime_blocking::conn::{Options, system_clock};

/// Asleep while waiting, and against the lean peer in a thread instead of Iolite's server.
pub(crate) const LEAN: &str = "lean";

/// How calls wait.
pub(crate) fn mode(command: &Command) -> Result<ReceiveMode, Fault> {
    match command.mode.as_str() {
        "park" | LEAN => Ok(ReceiveMode::Park),
        "spin" => Ok(ReceiveMode::Spin(SPIN)),
        mode => Err(format!("unknown mode `{mode}`: this contender has park, lean, spin").into()),
    }
}

/// How a client behaves.
pub(crate) fn options(command: &Command) -> Result<Options, Fault> {
    let mut options = Options::default();
    if command.scheme.is_secure() {
        let roots = Roots::from_pem(&Identity::of(command)?.certificate_pem()?)?;
        let server_name = Some(Identity::HOST.to_owned());
        let config = TlsConfig { roots, server_name, ..TlsConfig::default() };
        options.tls = Some(TlsClient::new(config, &system_clock())?);
    }
    if command.scheme == Scheme::UdpMulticast {
        options.interfaces = vec![loopback()];
        options.datagram = near();
    }
    Ok(options)
}

/// How a server behaves.
pub(crate) fn config(command: &Command) -> Result<Config, Fault> {
    let mut config = Config::default();
    if command.scheme.is_secure() {
        let identity = Identity::of(command)?;
        let identity = tls::Identity::from_pem(&identity.certificate_pem()?, &identity.key_pem()?)?;
        config.tls = Some(TlsServer::new(TlsServerConfig::new(identity), &system_clock())?);
    }
    Ok(config)
}

/// The interface of groups.
pub(crate) fn loopback() -> Interface {
    Interface::Name("lo".to_owned())
}

/// For datagrams to groups: one hop, which the loopback interface is not.
pub(crate) fn near() -> DatagramOptions {
    DatagramOptions { ttl: Some(1), ..DatagramOptions::default() }
}

/// For how long a call that spins asks again and again.
const SPIN: Duration = Duration::from_micros(50);
