//! TLS for both sides.

use super::NAME;
use crate::tls_support::{Authority, today};
use proto_conn::tls::{ClientAuth, TlsClient, TlsConfig, TlsServer, TlsServerConfig};
use std::sync::OnceLock;

fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| Authority::new("tests"))
}

/// A client that trusts [`servers`].
pub(crate) fn clients() -> TlsClient {
    let config = TlsConfig { roots: authority().roots(), ..TlsConfig::default() };
    TlsClient::new(config, &today()).unwrap()
}

/// A server by the name of [`NAME`].
pub(crate) fn servers() -> TlsServer {
    TlsServer::new(TlsServerConfig::new(authority().issue(NAME).identity()), &today()).unwrap()
}

/// The same server, which lets nobody in without a certificate.
pub(crate) fn suspicious_servers() -> TlsServer {
    let identity = authority().issue(NAME).identity();
    let client_auth = ClientAuth::Required(authority().roots());
    TlsServer::new(TlsServerConfig { client_auth, ..TlsServerConfig::new(identity) }, &today()).unwrap()
}
