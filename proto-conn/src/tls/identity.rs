//! Who we are.

use alloc::{string::ToString as _, sync::Arc, vec::Vec};
use core::fmt;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

use super::fault::unusable;
use crate::Error;

/// A certificate, those of its issuers, and its private key.
///
/// Whether they fit each other shows when a configuration is prepared. Its debugging form hides the key.
#[derive(Clone)]
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    key: Arc<PrivateKeyDer<'static>>,
}

impl Identity {
    /// Reads them from PEM text: the certificates in order, our own first, and a key in PKCS#8, SEC1 or PKCS#1. Both
    /// may be the same text.
    ///
    /// # Errors
    ///
    /// [`Code::TlsConfig`](crate::Code::TlsConfig) when there is no certificate or no key, or the text is broken. Encrypted keys are not read.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|error| unusable(&error.to_string()))?;
        if chain.is_empty() {
            return Err(unusable("there is no certificate in the PEM text"));
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| unusable(&alloc::format!("the private key: {error}")))?;
        Ok(Self { chain, key: Arc::new(key) })
    }

    /// Takes them in DER: the certificates in order, our own first, and a key in PKCS#8, SEC1 or PKCS#1.
    ///
    /// # Errors
    ///
    /// [`Code::TlsConfig`](crate::Code::TlsConfig) when there is no certificate, or the key is of none of these forms.
    pub fn from_der(chain: Vec<Vec<u8>>, key: Vec<u8>) -> Result<Self, Error> {
        if chain.is_empty() {
            return Err(unusable("there is no certificate"));
        }
        let key = PrivateKeyDer::try_from(key).map_err(unusable)?;
        Ok(Self { chain: chain.into_iter().map(CertificateDer::from).collect(), key: Arc::new(key) })
    }

    pub(super) fn key(&self) -> PrivateKeyDer<'static> {
        self.key.clone_key()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.chain.len()).finish_non_exhaustive()
    }
}
