//! The certificate of the peers, and the TLS settings that go with it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::Command;
use crate::Fault;

/// A folder with a self-signed certificate for [`HOST`](Self::HOST) and its key.
///
/// Whoever runs a peer presents it, and every client trusts it and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a>(&'a Path);

impl<'a> Identity<'a> {
    /// The name in the certificate.
    pub const HOST: &'static str = "localhost";
    /// The file with the certificate.
    pub const CERTIFICATE: &'static str = "certificate.pem";
    /// The file with the key, as PKCS #8.
    pub const KEY: &'static str = "key.pem";

    /// The identity that a command names.
    ///
    /// # Errors
    ///
    /// When it names none.
    pub fn of(command: &'a Command) -> Result<Self, Fault> {
        Ok(Self(command.identity.as_deref().ok_or("no --identity")?))
    }

    /// The certificate in PEM, for clients that bring their own TLS settings.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn certificate_pem(self) -> Result<Vec<u8>, Fault> {
        Ok(fs::read(self.0.join(Self::CERTIFICATE))?)
    }

    /// The key in PEM, for peers that bring their own TLS settings.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn key_pem(self) -> Result<Vec<u8>, Fault> {
        Ok(fs::read(self.0.join(Self::KEY))?)
    }

    /// The settings of a peer that uses rustls.
    ///
    /// # Errors
    ///
    /// When the files cannot be read or do not belong together.
    pub fn server(self) -> Result<Arc<ServerConfig>, Fault> {
        let key = PrivateKeyDer::from_pem_file(self.0.join(Self::KEY))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate()?], key)?;
        Ok(Arc::new(config))
    }

    /// The settings of a client that uses rustls.
    ///
    /// # Errors
    ///
    /// When the certificate cannot be read.
    pub fn client(self) -> Result<Arc<ClientConfig>, Fault> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate()?)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    /// The name that a client asks for.
    ///
    /// # Errors
    ///
    /// Never for the name of this benchmark.
    pub fn server_name() -> Result<ServerName<'static>, Fault> {
        Ok(ServerName::try_from(Self::HOST)?)
    }

    fn certificate(self) -> Result<CertificateDer<'static>, Fault> {
        Ok(CertificateDer::from_pem_file(self.0.join(Self::CERTIFICATE))?)
    }
}
