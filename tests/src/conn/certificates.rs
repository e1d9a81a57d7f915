//! An authority and what it issues, as objects for us and as files for others.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use runtime_blocking::conn::{
    system_clock,
    tls::{Identity, Roots, TlsClient, TlsConfig, TlsServer, TlsServerConfig},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// An authority with a certificate for `localhost` and one for a client.
#[derive(Debug)]
pub struct Certificates {
    authority: String,
    server: Issued,
    client: Issued,
}

/// A certificate and its key in PEM.
#[derive(Debug)]
struct Issued {
    certificate: String,
    key: String,
}

/// Where [`Certificates::write`] left them.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// The authority's certificate.
    pub(super) authority: PathBuf,
    /// The server's certificate.
    pub(super) certificate: PathBuf,
    /// The server's key.
    pub(super) key: PathBuf,
    /// Both in one file.
    pub(super) both: PathBuf,
}

impl Certificates {
    /// Issues new ones by the authority that the tests trust.
    ///
    /// # Panics
    /// There is no randomness.
    pub fn new() -> Self {
        Self::by("Iolite tests")
    }

    /// Issues new ones by an authority with a name of its own.
    ///
    /// # Panics
    /// There is no randomness.
    pub fn by(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let issue = |names: &[&str], purpose| {
            let key = KeyPair::generate().expect("a key");
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let mut params = CertificateParams::new(names).expect("good names");
            params.distinguished_name.push(DnType::CommonName, "Iolite");
            params.extended_key_usages = vec![purpose];
            let certificate = params.signed_by(&key, &issuer).expect("a certificate").pem();
            Issued { certificate, key: key.serialize_pem() }
        };
        Self {
            server: issue(&["localhost", "127.0.0.1"], ExtendedKeyUsagePurpose::ServerAuth),
            client: issue(&["client.test"], ExtendedKeyUsagePurpose::ClientAuth),
            authority,
        }
    }

    /// Returns a client that believes the authority.
    ///
    /// # Panics
    /// Never: they are good.
    pub fn client(&self) -> TlsClient {
        self.client_with(None)
    }

    /// Returns one that presents a certificate too.
    ///
    /// # Panics
    /// Never: they are good.
    pub fn known_client(&self) -> TlsClient {
        self.client_with(Some(self.client.identity()))
    }

    /// Returns our server.
    ///
    /// # Panics
    /// Never: they are good.
    pub fn server(&self) -> TlsServer {
        let config = TlsServerConfig::new(self.server.identity());
        TlsServer::new(config, &system_clock()).expect("good certificates")
    }

    /// Writes the authority's certificate, for clients, and returns where it is.
    ///
    /// # Panics
    /// The folder cannot be written.
    pub fn write_authority(&self, folder: &Path) -> PathBuf {
        self.write(folder).authority
    }

    /// Writes what servers of others need.
    pub(super) fn write(&self, folder: &Path) -> Files {
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a writable folder");
            path
        };
        Files {
            authority: put("authority.pem", &self.authority),
            certificate: put("server.pem", &self.server.certificate),
            key: put("server.key", &self.server.key),
            both: put("both.pem", &format!("{}{}", self.server.certificate, self.server.key)),
        }
    }

    fn client_with(&self, identity: Option<Identity>) -> TlsClient {
        let roots = Roots::from_pem(self.authority.as_bytes()).expect("a good certificate");
        let config = TlsConfig { roots, identity, ..TlsConfig::default() };
        TlsClient::new(config, &system_clock()).expect("good certificates")
    }
}

impl Default for Certificates {
    fn default() -> Self {
        Self::new()
    }
}

impl Issued {
    fn identity(&self) -> Identity {
        Identity::from_pem(self.certificate.as_bytes(), self.key.as_bytes()).expect("a good certificate")
    }
}
