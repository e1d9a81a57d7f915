//! What went wrong, in our codes.

use alloc::string::{String, ToString as _};
use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::verify::Refusal;
use crate::{Code, Error, Phase};

/// Translates an error of a connection.
pub(super) fn error(error: &rustls::Error) -> Error {
    let code = code(error);
    let alert = if let rustls::Error::AlertReceived(alert) = error { Some(u8::from(*alert)) } else { None };
    Error { alert, ..Error::new(code, Phase::Tls).with_detail(detail(error)) }
}

/// Translates an error about our own keys and certificates.
pub(super) fn configuration(error: &rustls::Error) -> Error {
    unusable(&error.to_string())
}

/// Says what of a configuration cannot be used.
pub(super) fn unusable(detail: &str) -> Error {
    Error::new(Code::TlsConfig, Phase::Arguments).with_detail(detail)
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "what has no code of its own is said of peers that break the protocol"
)]
fn code(error: &rustls::Error) -> Code {
    use rustls::Error as E;
    match error {
        E::InvalidCertificate(error) => certificate(error),
        E::InvalidCertRevocationList(_) => Code::CertRevoked,
        E::NoCertificatesPresented => Code::ClientCertRequired,
        E::AlertReceived(alert) => self::alert(*alert),
        E::NoApplicationProtocol => Code::NoAlpn,
        E::PeerIncompatible(_) => Code::TlsIncompatible,
        E::InconsistentKeys(_) | E::FailedToGetCurrentTime | E::FailedToGetRandomBytes => Code::TlsConfig,
        _ => Code::TlsProtocol,
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "many rules of certificates have no code of their own")]
fn certificate(error: &CertificateError) -> Code {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => Code::CertExpired,
        E::NotValidYet | E::NotValidYetContext { .. } => Code::CertNotYetValid,
        E::UnknownIssuer => Code::CertUnknownIssuer,
        E::NotValidForName | E::NotValidForNameContext { .. } => Code::CertWrongName,
        E::Revoked
        | E::UnknownRevocationStatus
        | E::ExpiredRevocationList
        | E::ExpiredRevocationListContext { .. }
        | E::InvalidOcspResponse => Code::CertRevoked,
        E::BadSignature => Code::CertBadSignature,
        E::UnsupportedSignatureAlgorithmContext { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => Code::CertWeak,
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => Code::CertWrongUse,
        E::Other(other) => match other.0.downcast_ref() {
            Some(Refusal::PinMismatch) => Code::PinMismatch,
            Some(Refusal::SelfSigned) => Code::CertSelfSigned,
            None => Code::CertInvalid,
        },
        _ => Code::CertInvalid,
    }
}

fn alert(alert: AlertDescription) -> Code {
    if alert == AlertDescription::NoApplicationProtocol {
        Code::NoAlpn
    } else if alert == AlertDescription::CertificateRequired {
        Code::ClientCertRequired
    } else if matches!(alert, AlertDescription::ProtocolVersion | AlertDescription::InsufficientSecurity) {
        Code::TlsIncompatible
    } else {
        Code::TlsAlert
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "most errors have a sentence of their own")]
fn detail(error: &rustls::Error) -> String {
    use rustls::Error as E;
    match error {
        E::InvalidMessage(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            "what arrived is no TLS record; does this port speak TLS?".to_string()
        }
        E::NoCertificatesPresented => "the client presented no certificate".to_string(),
        E::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the issuer is not among the roots, or the peer left out certificates between its own and a root"
                .to_string()
        }
        E::InvalidCertificate(CertificateError::Other(other)) => other.0.to_string(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{sync::Arc, vec};
    use rustls::{Error as E, OtherError, PeerIncompatible, PeerMisbehaved};

    fn code_of(fault: CertificateError) -> Code {
        error(&E::InvalidCertificate(fault)).code
    }

    #[test]
    fn every_fault_of_a_certificate_has_its_code() {
        use CertificateError as C;
        assert_eq!(code_of(C::Expired), Code::CertExpired);
        assert_eq!(code_of(C::NotValidYet), Code::CertNotYetValid);
        assert_eq!(code_of(C::UnknownIssuer), Code::CertUnknownIssuer);
        assert_eq!(code_of(C::NotValidForName), Code::CertWrongName);
        assert_eq!(code_of(C::Revoked), Code::CertRevoked);
        assert_eq!(code_of(C::BadSignature), Code::CertBadSignature);
        let weak = C::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: vec![],
            supported_algorithms: vec![],
        };
        assert_eq!(code_of(weak), Code::CertWeak);
        assert_eq!(code_of(C::InvalidPurpose), Code::CertWrongUse);
        assert_eq!(code_of(C::BadEncoding), Code::CertInvalid);
        assert_eq!(code_of(C::Other(OtherError(Arc::new(Refusal::PinMismatch)))), Code::PinMismatch);
        assert_eq!(code_of(C::Other(OtherError(Arc::new(Refusal::SelfSigned)))), Code::CertSelfSigned);
        assert_eq!(code_of(C::Other(OtherError(Arc::new(core::fmt::Error)))), Code::CertInvalid);
    }

    #[test]
    fn every_other_fault_has_its_code_and_alerts_have_their_number() {
        let alert = |alert| {
            let fault = error(&E::AlertReceived(alert));
            (fault.code, fault.alert)
        };
        assert_eq!(alert(AlertDescription::NoApplicationProtocol), (Code::NoAlpn, Some(120)));
        assert_eq!(alert(AlertDescription::CertificateRequired), (Code::ClientCertRequired, Some(116)));
        assert_eq!(alert(AlertDescription::ProtocolVersion), (Code::TlsIncompatible, Some(70)));
        assert_eq!(alert(AlertDescription::HandshakeFailure), (Code::TlsAlert, Some(40)));
        let code = |fault| error(&fault).code;
        assert_eq!(code(E::NoCertificatesPresented), Code::ClientCertRequired);
        assert_eq!(
            code(E::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon)),
            Code::TlsIncompatible
        );
        assert_eq!(
            code(E::PeerMisbehaved(PeerMisbehaved::IllegalMiddleboxChangeCipherSpec)),
            Code::TlsProtocol
        );
        assert_eq!(code(E::DecryptError), Code::TlsProtocol);
        assert_eq!(configuration(&E::General("no".into())).phase, Phase::Arguments);
    }
}
