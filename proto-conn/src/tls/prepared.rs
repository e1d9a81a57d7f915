//! Configurations that connections share.

use alloc::{
    borrow::ToOwned as _,
    boxed::Box,
    format,
    string::{String, ToString as _},
    sync::Arc,
};
use core::fmt;
use rustls::{
    ClientConfig, ServerConfig, SupportedProtocolVersion,
    client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{IpAddr, ServerName},
    server::{
        NoServerSessionStorage, UnbufferedServerConnection, WebPkiClientVerifier, danger::ClientCertVerifier,
    },
    version::{TLS12, TLS13},
};

use super::{
    Ciphers, ClientAuth, Roots, TlsConfig, TlsLayer, TlsServerConfig, TlsVersion, WallClock,
    config::Logged,
    fault::{self, unusable},
    layer::RustlsLayer,
    provider,
    time::Provided,
    verify::ServerVerifier,
};
use crate::{Error, Host};

/// A client's configuration, ready for connections. Clones share it.
#[derive(Clone)]
pub struct TlsClient {
    rustls: Arc<ClientConfig>,
    server_name: Option<String>,
}

impl TlsClient {
    /// Prepares a configuration; certificates will be judged by the time that `wall` shows. Reads the operating
    /// system's roots if they are asked for.
    ///
    /// # Errors
    ///
    /// [`Code::TlsConfig`](crate::Code::TlsConfig) when nobody can be believed, certificates or keys cannot be used or do not fit each other,
    /// or what is asked for was not built in.
    pub fn new(config: TlsConfig, wall: &WallClock) -> Result<Self, Error> {
        let provider = Arc::new(provider::provider(config.ciphers).ok_or_else(no_provider)?);
        let verifier = ServerVerifier {
            chain: chain_verifier(&config, &provider)?,
            pins: config.pins,
            provider: Arc::clone(&provider),
        };
        let builder = ClientConfig::builder_with_details(provider, Arc::new(Provided(wall.clone())))
            .with_protocol_versions(versions(config.oldest, config.newest))
            .map_err(|error| fault::configuration(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut rustls = match config.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(identity.chain.clone(), identity.key())
                .map_err(|error| fault::configuration(&error))?,
        };
        rustls.alpn_protocols = config.alpn;
        rustls.resumption = match config.sessions {
            0 => Resumption::disabled(),
            servers => Resumption::in_memory_sessions(servers),
        };
        if let Some(log) = config.key_log {
            rustls.key_log = Arc::new(Logged(log));
        }
        Ok(Self { rustls: Arc::new(rustls), server_name: config.server_name })
    }

    pub(super) fn connect(&self, host: &Host) -> Result<Box<dyn TlsLayer>, Error> {
        let name = match &self.server_name {
            Some(name) => name_of(name)?,
            None => server_name(host)?,
        };
        let connection = UnbufferedClientConnection::new(Arc::clone(&self.rustls), name)
            .map_err(|error| fault::configuration(&error))?;
        Ok(Box::new(RustlsLayer::new(connection)?))
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsClient").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

/// A server's configuration, ready for connections. Clones share it.
#[derive(Clone)]
pub struct TlsServer {
    rustls: Arc<ServerConfig>,
}

impl TlsServer {
    /// Prepares a configuration; client certificates will be judged by the time that `wall` shows.
    ///
    /// # Errors
    ///
    /// [`Code::TlsConfig`](crate::Code::TlsConfig) when certificates or keys cannot be used or do not fit each other, or what is asked for was
    /// not built in.
    pub fn new(config: TlsServerConfig, wall: &WallClock) -> Result<Self, Error> {
        let provider = Arc::new(provider::provider(Ciphers::Fast).ok_or_else(no_provider)?);
        let builder =
            ServerConfig::builder_with_details(Arc::clone(&provider), Arc::new(Provided(wall.clone())))
                .with_protocol_versions(versions(config.oldest, config.newest))
                .map_err(|error| fault::configuration(&error))?;
        let builder = match client_verifier(&config.client_auth, provider)? {
            None => builder.with_no_client_auth(),
            Some(verifier) => builder.with_client_cert_verifier(verifier),
        };
        let mut rustls = builder
            .with_single_cert(config.identity.chain.clone(), config.identity.key())
            .map_err(|error| fault::configuration(&error))?;
        rustls.alpn_protocols = config.alpn;
        if let Some(log) = config.key_log {
            rustls.key_log = Arc::new(Logged(log));
        }
        if config.sessions == 0 {
            rustls.session_storage = Arc::new(NoServerSessionStorage {});
            rustls.send_tls13_tickets = 0;
        } else {
            rustls.session_storage = rustls::server::ServerSessionMemoryCache::new(config.sessions);
        }
        Ok(Self { rustls: Arc::new(rustls) })
    }

    pub(super) fn accept(&self) -> Result<Box<dyn TlsLayer>, Error> {
        let connection = UnbufferedServerConnection::new(Arc::clone(&self.rustls))
            .map_err(|error| fault::configuration(&error))?;
        Ok(Box::new(RustlsLayer::new(connection)?))
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer").finish_non_exhaustive()
    }
}

/// Returns the check of chains that the configuration asks for; none when keys alone decide, or nothing does.
fn chain_verifier(
    config: &TlsConfig,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ServerCertVerifier>>, Error> {
    if config.insecure_skip_verify || (config.roots.is_empty() && !config.pins.is_empty()) {
        return Ok(None);
    }
    if config.roots.platform {
        return platform_verifier(&config.roots, provider).map(Some);
    }
    let store = Arc::new(config.roots.store()?);
    let verifier = WebPkiServerVerifier::builder_with_provider(store, Arc::clone(provider))
        .with_crls(config.roots.lists())
        .allow_unknown_revocation_status()
        .build();
    verifier.map(|verifier| Some(verifier as _)).map_err(|error| unusable(&error.to_string()))
}

#[cfg(all(feature = "platform-verifier", not(target_os = "android")))]
fn platform_verifier(
    roots: &Roots,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let own = roots.own.iter().map(|certificate| certificate.clone().into());
    let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(own, Arc::clone(provider));
    Ok(Arc::new(verifier.map_err(|error| fault::configuration(&error))?))
}

#[cfg(not(all(feature = "platform-verifier", not(target_os = "android"))))]
fn platform_verifier(_: &Roots, _: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    Err(unusable("the system's rules need the feature platform-verifier"))
}

fn client_verifier(
    auth: &ClientAuth,
    provider: Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, Error> {
    let (roots, is_required) = match auth {
        ClientAuth::None => return Ok(None),
        ClientAuth::Optional(roots) => (roots, false),
        ClientAuth::Required(roots) => (roots, true),
    };
    if roots.platform {
        return Err(unusable("client certificates are not judged by the system's rules"));
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots.store()?), provider)
        .with_crls(roots.lists())
        .allow_unknown_revocation_status();
    let builder = if is_required { builder } else { builder.allow_unauthenticated() };
    builder.build().map(Some).map_err(|error| unusable(&error.to_string()))
}

fn versions(oldest: TlsVersion, newest: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    static BOTH: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
    let (new, old) = BOTH.split_at(1);
    match (oldest, newest) {
        (TlsVersion::V1_2, TlsVersion::V1_3) => &BOTH,
        (TlsVersion::V1_3, TlsVersion::V1_3) => new,
        (TlsVersion::V1_2, TlsVersion::V1_2) => old,
        (TlsVersion::V1_3, TlsVersion::V1_2) => &[],
    }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, Error> {
    match host {
        // The dot at the end is for resolvers (RFC 6066 §3).
        Host::Name(name) => name_of(name.strip_suffix('.').unwrap_or(name)),
        Host::V4(ip) => Ok(ServerName::IpAddress(IpAddr::from(core::net::IpAddr::V4(*ip)))),
        Host::V6 { ip, .. } => Ok(ServerName::IpAddress(IpAddr::from(core::net::IpAddr::V6(*ip)))),
    }
}

fn name_of(name: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(name.to_owned())
        .map_err(|_| unusable(&format!("no certificate can be for the name {name:?}")))
}

fn no_provider() -> Error {
    unusable("no cryptography was built in: one of the features ring and aws-lc-rs is needed")
}
