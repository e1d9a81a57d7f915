//! Whether to believe a server.

use alloc::{sync::Arc, vec::Vec};
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use super::{Ciphers, der, provider};

/// Believes servers by their chain of issuers, by their key, or by both.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    /// The check of the chain, dates and names; none when the key alone decides.
    pub(super) chain: Option<Arc<dyn ServerCertVerifier>>,
    /// SHA-256 of keys of which it must be one; any key when there are none.
    pub(super) pins: Vec<[u8; 32]>,
    pub(super) provider: Arc<CryptoProvider>,
}

impl ServerVerifier {
    fn is_pinned(&self, certificate: &CertificateDer<'_>) -> Result<bool, Error> {
        let pin = pin_by(&self.provider, certificate)?;
        Ok(pin.is_some_and(|pin| self.pins.contains(&pin)))
    }
}

/// Returns what pins the key of a certificate.
pub(super) fn pin(certificate: &[u8]) -> Result<[u8; 32], Error> {
    let provider = provider::provider(Ciphers::default());
    let pin = provider.map(|provider| pin_by(&provider, &certificate.into())).transpose()?;
    pin.flatten().ok_or_else(|| Error::General("no cryptography was built in".into()))
}

fn pin_by(provider: &CryptoProvider, certificate: &CertificateDer<'_>) -> Result<Option<[u8; 32]>, Error> {
    let key = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
    Ok(provider::sha256(provider, &key))
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(chain) = &self.chain {
            chain
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .map_err(|error| explained(error, end_entity))?;
        }
        if !self.pins.is_empty() && !self.is_pinned(end_entity)? {
            return Err(Refusal::PinMismatch.into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Why a certificate is refused that rustls has no error for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the server's key is not a pinned one")]
    PinMismatch,
    #[error("the server issued its certificate itself; pin its key, or trust an authority that issues one")]
    SelfSigned,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(refusal))))
    }
}

/// Tells certificates without an issuer from those with one that is not known. The check of the chain also refuses an
/// authority's certificate as a server's, with an error that has no name: on devices that is a self-signed one.
fn explained(error: Error, certificate: &CertificateDer<'_>) -> Error {
    let may_be_self_signed = matches!(
        error,
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_))
    );
    if may_be_self_signed && der::is_self_issued(certificate) { Refusal::SelfSigned.into() } else { error }
}
