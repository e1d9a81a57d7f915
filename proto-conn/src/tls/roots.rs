//! Whose certificates are believed.

use alloc::{format, string::ToString as _, vec::Vec};
use core::fmt;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, CertificateRevocationListDer, pem::PemObject as _},
};

use super::fault::unusable;
use crate::Error;

/// Certificates of those who are believed about others. Its debugging form counts them.
#[derive(Clone, PartialEq, Eq)]
pub struct Roots {
    /// Those that Mozilla trusts, compiled in (feature `webpki-roots`). Chosen by default where they are there.
    pub webpki: bool,
    /// Those that the operating system trusts, read when a configuration is prepared (feature `native-roots`).
    pub native: bool,
    /// The operating system's own rules, in place of ours (feature `platform-verifier`). Clients only.
    pub platform: bool,
    /// One's own, in DER.
    pub own: Vec<Vec<u8>>,
    /// Revocation lists in DER. Certificates of issuers that no list is from count as not revoked. The operating
    /// system's rules do without them.
    pub revocations: Vec<Vec<u8>>,
}

impl Roots {
    /// Nobody.
    pub const fn none() -> Self {
        Self { webpki: false, native: false, platform: false, own: Vec::new(), revocations: Vec::new() }
    }

    /// Those in PEM text, and nobody else: right for networks with an authority of their own.
    ///
    /// # Errors
    ///
    /// As [`add_pem`](Self::add_pem).
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        let mut roots = Self::none();
        roots.add_pem(pem)?;
        Ok(roots)
    }

    /// Adds the certificates in PEM text.
    ///
    /// # Errors
    ///
    /// [`Code::TlsConfig`](crate::Code::TlsConfig) when there are none, or the text is broken.
    pub fn add_pem(&mut self, pem: &[u8]) -> Result<(), Error> {
        let before = self.own.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            self.own.push(certificate.map_err(|error| unusable(&error.to_string()))?.to_vec());
        }
        if self.own.len() == before {
            Err(unusable("there is no certificate in the PEM text"))
        } else {
            Ok(())
        }
    }

    pub(super) fn lists(&self) -> Vec<CertificateRevocationListDer<'static>> {
        self.revocations.iter().cloned().map(Into::into).collect()
    }

    pub(super) const fn is_empty(&self) -> bool {
        !self.webpki && !self.native && !self.platform && self.own.is_empty()
    }

    /// Collects them.
    pub(super) fn store(&self) -> Result<RootCertStore, Error> {
        let mut store = RootCertStore::empty();
        for (index, certificate) in self.own.iter().enumerate() {
            let certificate = CertificateDer::from(certificate.as_slice());
            store
                .add(certificate)
                .map_err(|error| unusable(&format!("root certificate {index}: {error}")))?;
        }
        if self.webpki {
            add_webpki(&mut store)?;
        }
        if self.native {
            add_native(&mut store)?;
        }
        Ok(store)
    }
}

impl Default for Roots {
    fn default() -> Self {
        Self { webpki: cfg!(feature = "webpki-roots"), ..Self::none() }
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roots")
            .field("webpki", &self.webpki)
            .field("native", &self.native)
            .field("platform", &self.platform)
            .field("own", &self.own.len())
            .field("revocations", &self.revocations.len())
            .finish()
    }
}

#[cfg(feature = "webpki-roots")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn add_webpki(store: &mut RootCertStore) -> Result<(), Error> {
    store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    Ok(())
}

#[cfg(not(feature = "webpki-roots"))]
fn add_webpki(_: &mut RootCertStore) -> Result<(), Error> {
    Err(unusable("Mozilla's roots need the feature webpki-roots"))
}

#[cfg(feature = "native-roots")]
fn add_native(store: &mut RootCertStore) -> Result<(), Error> {
    // Systems have old certificates that cannot be read among good ones.
    let loaded = rustls_native_certs::load_native_certs();
    match (store.add_parsable_certificates(loaded.certs), loaded.errors.first()) {
        ((0, _), Some(error)) => Err(unusable(&format!("the system's roots: {error}"))),
        ((0, _), None) => Err(unusable("the system has no roots")),
        _ => Ok(()),
    }
}

#[cfg(not(feature = "native-roots"))]
fn add_native(_: &mut RootCertStore) -> Result<(), Error> {
    Err(unusable("the system's roots need the feature native-roots"))
}
