//! Certificates, versions and protocols that fit or do not, and what each says.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]
#![cfg(all(feature = "tls", any(feature = "ring", feature = "aws-lc-rs")))]

mod tls_support;

use core::time::Duration;
use proto_conn::{
    Code, Host, Phase, Url,
    tls::{
        self, ClientAuth, Identity, Roots, TlsClient, TlsConfig, TlsServer, TlsServerConfig, TlsVersion,
        WallClock,
    },
};
use proto_core::UnixTime;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd};
use tls_support::*;

/// What client and server say in the end.
fn outcome(client: TlsConfig, server: TlsServerConfig) -> (Option<Code>, Option<Code>) {
    outcome_at(client, server, &host(), &today())
}

fn outcome_at(
    client: TlsConfig,
    server: TlsServerConfig,
    host: &Host,
    wall: &WallClock,
) -> (Option<Code>, Option<Code>) {
    let (mut client, mut server) = pair_at(client, server, host, wall);
    client.say(b"hello");
    exchange(&mut client, &mut server);
    if client.error.is_none() && server.error.is_none() {
        assert_eq!(server.got, b"hello");
    }
    for error in client.error.iter().chain(&server.error) {
        assert_eq!(error.phase, Phase::Tls);
        assert!(!error.detail.is_empty());
    }
    (client.error.map(|error| error.code), server.error.map(|error| error.code))
}

fn trusting(authority: &Authority) -> TlsConfig {
    TlsConfig { roots: authority.roots(), ..TlsConfig::default() }
}

/// What a client of the authority says to a certificate that it issued.
fn verdict(issued: impl FnOnce(&Authority) -> Identity) -> Option<Code> {
    let authority = Authority::new("authority");
    let server = TlsServerConfig::new(issued(&authority));
    let (client, server) = outcome(trusting(&authority), server);
    assert_eq!(client.is_some(), server == Some(Code::TlsAlert), "the server hears of it");
    client
}

#[test]
fn a_good_certificate_is_good() {
    assert_eq!(verdict(|authority| authority.issue("robot.test").identity()), None);
}

#[test]
fn an_expired_certificate_has_its_code() {
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2026, 5, 31);
    assert_eq!(
        verdict(|authority| authority.issue_with("robot.test", expired).identity()),
        Some(Code::CertExpired)
    );
}

#[test]
fn a_certificate_of_tomorrow_has_its_code() {
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(2026, 6, 2);
    assert_eq!(
        verdict(|authority| authority.issue_with("robot.test", early).identity()),
        Some(Code::CertNotYetValid)
    );
}

#[test]
fn a_certificate_for_another_name_has_its_code() {
    assert_eq!(verdict(|authority| authority.issue("other.test").identity()), Some(Code::CertWrongName));
    assert_eq!(verdict(|authority| authority.issue("*.robot.test").identity()), Some(Code::CertWrongName));
    // One that would be for everybody under a top-level domain is for nobody.
    assert_eq!(verdict(|authority| authority.issue("*.test").identity()), Some(Code::CertWrongName));
}

#[test]
fn a_certificate_for_another_use_has_its_code() {
    let for_clients = |params: &mut CertificateParams| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]
    };
    assert_eq!(
        verdict(|authority| authority.issue_with("robot.test", for_clients).identity()),
        Some(Code::CertWrongUse)
    );
}

#[test]
fn a_certificate_with_a_wrong_signature_has_its_code() {
    assert_eq!(
        verdict(|authority| {
            let mut issued = authority.issue("robot.test");
            *issued.der.last_mut().unwrap() ^= 1;
            issued.identity()
        }),
        Some(Code::CertBadSignature)
    );
}

#[test]
fn a_revoked_certificate_has_its_code() {
    let authority = Authority::new("authority");
    let numbered = |params: &mut CertificateParams| params.serial_number = Some(7.into());
    let server = TlsServerConfig::new(authority.issue_with("robot.test", numbered).identity());
    for (revoked, expected) in [(7, Some(Code::CertRevoked)), (8, None)] {
        let roots = Roots { revocations: vec![authority.revoke(revoked)], ..authority.roots() };
        let client = TlsConfig { roots, ..TlsConfig::default() };
        assert_eq!(outcome(client, server.clone()).0, expected);
    }
}

#[test]
fn an_unknown_authority_has_its_code() {
    assert_eq!(
        verdict(|_| Authority::new("other").issue("robot.test").identity()),
        Some(Code::CertUnknownIssuer)
    );
}

#[test]
fn a_missing_intermediate_is_an_unknown_issuer() {
    assert_eq!(
        verdict(|authority| authority.intermediate("between").issue("robot.test").identity()),
        Some(Code::CertUnknownIssuer)
    );
    assert_eq!(
        verdict(|authority| {
            let between = authority.intermediate("between");
            between.issue("robot.test").identity_with(&[&between])
        }),
        None
    );
}

fn self_signed(is_ca: IsCa) -> Issued {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["robot.test".to_owned()]).unwrap();
    params.is_ca = is_ca;
    Issued { der: params.self_signed(&key).unwrap().der().to_vec(), key: key.serialize_der() }
}

#[test]
fn a_self_signed_certificate_has_its_code_whether_it_calls_itself_an_authority_or_not() {
    assert_eq!(verdict(|_| self_signed(IsCa::NoCa).identity()), Some(Code::CertSelfSigned));
    let authority = IsCa::Ca(BasicConstraints::Unconstrained);
    assert_eq!(verdict(|_| self_signed(authority).identity()), Some(Code::CertSelfSigned));
}

#[test]
fn a_self_signed_certificate_can_be_trusted_as_a_root() {
    let issued = self_signed(IsCa::NoCa);
    let roots = Roots { own: vec![issued.der.clone()], ..Roots::none() };
    let client = TlsConfig { roots, ..TlsConfig::default() };
    assert_eq!(outcome(client, TlsServerConfig::new(issued.identity())), (None, None));
}

#[test]
fn a_pinned_key_is_enough_without_roots() {
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let issued = self_signed(is_ca);
        let pins = vec![[0; 32], tls::pin(&issued.der).unwrap()];
        let client = TlsConfig { roots: Roots::none(), pins, ..TlsConfig::default() };
        let server = TlsServerConfig::new(issued.identity());
        assert_eq!(outcome(client.clone(), server.clone()), (None, None));
        let wrong = TlsConfig { pins: vec![[0; 32]], ..client };
        assert_eq!(outcome(wrong, server).0, Some(Code::PinMismatch));
    }
}

#[test]
fn a_pinned_key_counts_beside_roots() {
    let (client, server) = configs();
    let wrong_pin = TlsConfig { pins: vec![[0; 32]], ..client.clone() };
    assert_eq!(outcome(wrong_pin, server.clone()).0, Some(Code::PinMismatch));
    let own = self_signed(IsCa::NoCa);
    let right_pin = TlsConfig { pins: vec![tls::pin(&own.der).unwrap()], ..client };
    let unknown = TlsServerConfig::new(own.identity());
    assert_eq!(outcome(right_pin, unknown).0, Some(Code::CertSelfSigned));
}

#[test]
fn skipping_verification_skips_all_but_pins() {
    let skipping = TlsConfig { roots: Roots::none(), insecure_skip_verify: true, ..TlsConfig::default() };
    let server = TlsServerConfig::new(Authority::new("other").issue("other.test").identity());
    assert_eq!(outcome(skipping.clone(), server.clone()), (None, None));
    let pinned = TlsConfig { pins: vec![[0; 32]], ..skipping };
    assert_eq!(outcome(pinned, server).0, Some(Code::PinMismatch));
}

#[test]
fn names_and_addresses_are_verified_each_against_its_own_kind() {
    let authority = Authority::new("authority");
    for (url, name, expected) in [
        ("https://192.0.2.7", "192.0.2.7", None),
        ("https://[2001:db8::7]", "2001:db8::7", None),
        ("https://192.0.2.8", "192.0.2.7", Some(Code::CertWrongName)),
        ("https://192.0.2.7", "robot.test", Some(Code::CertWrongName)),
        ("https://robot.test.", "robot.test", None),
        ("https://arm.robot.test", "*.robot.test", None),
        ("https://left.arm.robot.test", "*.robot.test", Some(Code::CertWrongName)),
    ] {
        let server = TlsServerConfig::new(authority.issue(name).identity());
        let host = Url::parse(url).unwrap().host;
        let (client, _) = outcome_at(trusting(&authority), server, &host, &today());
        assert_eq!(client, expected, "{url} {name}");
    }
}

#[test]
fn the_name_can_be_another_than_the_hosts() {
    let authority = Authority::new("authority");
    let server = TlsServerConfig::new(authority.issue("robot.test").identity());
    let client = TlsConfig { server_name: Some("robot.test".to_owned()), ..trusting(&authority) };
    let elsewhere = Host::Name("elsewhere.test".to_owned());
    assert_eq!(outcome_at(client, server.clone(), &elsewhere, &today()), (None, None));
    let client = TlsConfig { server_name: Some("elsewhere.test".to_owned()), ..trusting(&authority) };
    assert_eq!(outcome_at(client, server, &host(), &today()).0, Some(Code::CertWrongName));
}

#[test]
fn time_is_what_the_clock_shows() {
    let (client, server) = configs();
    let wall = WallClock::default();
    assert_eq!(outcome_at(client.clone(), server.clone(), &host(), &wall).0, Some(Code::CertNotYetValid));
    wall.set(UnixTime::new(Duration::from_secs(1_780_272_000)));
    assert_eq!(outcome_at(client, server, &host(), &wall), (None, None));
}

#[test]
fn a_server_that_requires_a_certificate_gets_it_or_says_so() {
    let authority = Authority::new("authority");
    let for_clients = |params: &mut CertificateParams| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]
    };
    let own = authority.issue_with("arm.test", for_clients).identity();
    let foreign = Authority::new("other").issue_with("arm.test", for_clients).identity();
    let for_servers = authority.issue("arm.test").identity();
    let required = ClientAuth::Required(authority.roots());
    let optional = ClientAuth::Optional(authority.roots());
    for (auth, identity, expected) in [
        (&required, Some(&own), (None, None)),
        (&required, None, (Some(Code::ClientCertRequired), Some(Code::ClientCertRequired))),
        (&required, Some(&foreign), (Some(Code::TlsAlert), Some(Code::CertUnknownIssuer))),
        (&required, Some(&for_servers), (Some(Code::TlsAlert), Some(Code::CertWrongUse))),
        (&optional, Some(&own), (None, None)),
        (&optional, None, (None, None)),
        (&optional, Some(&foreign), (Some(Code::TlsAlert), Some(Code::CertUnknownIssuer))),
    ] {
        for newest in [TlsVersion::V1_2, TlsVersion::V1_3] {
            let server = TlsServerConfig {
                client_auth: auth.clone(),
                newest,
                ..TlsServerConfig::new(authority.issue("robot.test").identity())
            };
            let client = TlsConfig { identity: identity.cloned(), ..trusting(&authority) };
            assert_eq!(outcome(client, server), expected, "{auth:?} {identity:?} {newest:?}");
        }
    }
}

#[test]
fn the_alert_is_told() {
    let (client, server) = configs();
    let server = TlsServerConfig { client_auth: ClientAuth::Required(client.roots.clone()), ..server };
    let (mut client, mut server) = pair(client, server);
    exchange(&mut client, &mut server);
    // certificate_required, RFC 8446 section 6.2.
    assert_eq!(client.error.unwrap().alert, Some(116));
    assert_eq!(server.error.unwrap().alert, None);
}

#[test]
fn versions_are_negotiated_or_incompatible() {
    use TlsVersion::{V1_2, V1_3};
    for (client_range, server_range, expected) in [
        ((V1_2, V1_3), (V1_2, V1_3), Some(V1_3)),
        ((V1_2, V1_3), (V1_2, V1_2), Some(V1_2)),
        ((V1_2, V1_2), (V1_2, V1_3), Some(V1_2)),
        ((V1_3, V1_3), (V1_2, V1_2), None),
        ((V1_2, V1_2), (V1_3, V1_3), None),
    ] {
        let (client, server) = configs();
        let client = TlsConfig { oldest: client_range.0, newest: client_range.1, ..client };
        let server = TlsServerConfig { oldest: server_range.0, newest: server_range.1, ..server };
        let (mut client, mut server) = pair(client, server);
        exchange(&mut client, &mut server);
        assert_eq!(client.layer.info().map(|info| info.version), expected);
        if expected.is_none() {
            assert_eq!(client.error.unwrap().code, Code::TlsIncompatible);
            assert_eq!(server.error.unwrap().code, Code::TlsIncompatible);
        }
    }
}

#[test]
fn application_protocols_are_negotiated_or_there_is_none_in_common() {
    let alpn = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
    for (client_alpn, server_alpn, expected) in [
        (&["http/1.1"][..], &["h2", "http/1.1"][..], Ok(Some("http/1.1"))),
        (&["a", "b"], &["b", "a"], Ok(Some("b"))),
        (&[], &["http/1.1"], Ok(None)),
        (&["http/1.1"], &[], Ok(None)),
        (&["http/1.1"], &["h2"], Err(Code::NoAlpn)),
    ] {
        let (client, server) = configs();
        let client = TlsConfig { alpn: alpn(client_alpn), ..client };
        let server = TlsServerConfig { alpn: alpn(server_alpn), ..server };
        let (mut client, mut server) = pair(client, server);
        exchange(&mut client, &mut server);
        match expected {
            Ok(name) => {
                let name = name.map(|name| name.as_bytes().to_vec());
                assert_eq!(client.layer.info().unwrap().alpn, name);
                assert_eq!(server.layer.info().unwrap().alpn, name);
            }
            Err(code) => {
                assert_eq!(client.error.unwrap().code, code);
                assert_eq!(server.error.unwrap().code, code);
            }
        }
    }
}

#[test]
fn a_peer_that_does_not_speak_tls_is_found_out() {
    let (client, server) = configs();
    let (mut client, mut server) = pair(client, server);
    client.take(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    server.take(b"GET / HTTP/1.1\r\nHost: robot.test\r\n\r\n");
    for error in [client.error.unwrap(), server.error.unwrap()] {
        assert_eq!(error.code, Code::TlsProtocol);
        assert!(error.detail.contains("does this port speak TLS?"), "{error}");
    }
}

#[test]
fn configurations_of_no_use_are_refused_with_a_sentence() {
    let authority = Authority::new("authority");
    let issued = authority.issue("robot.test");
    let client = |config| TlsClient::new(config, &today()).map(|_| ()).unwrap_err();
    let nobody = client(TlsConfig { roots: Roots::none(), ..TlsConfig::default() });
    let broken = Roots { own: vec![vec![1, 2, 3]], ..Roots::none() };
    let broken = client(TlsConfig { roots: broken, ..TlsConfig::default() });
    let broken_list = Roots { revocations: vec![vec![1]], ..authority.roots() };
    let broken_list = client(TlsConfig { roots: broken_list, ..TlsConfig::default() });
    let backwards = TlsConfig { oldest: TlsVersion::V1_3, newest: TlsVersion::V1_2, ..trusting(&authority) };
    let backwards = client(backwards);
    let mixed_up = Identity::from_der(vec![issued.der.clone()], authority.issue("x.test").key).unwrap();
    let mixed_up = TlsServer::new(TlsServerConfig::new(mixed_up), &today()).map(|_| ()).unwrap_err();
    let no_certificate = Identity::from_pem(b"", b"").map(|_| ()).unwrap_err();
    let no_key = Identity::from_pem(authority.pem.as_bytes(), b"").map(|_| ()).unwrap_err();
    let bad_key = Identity::from_der(vec![issued.der], vec![1, 2, 3]).map(|_| ()).unwrap_err();
    let no_roots = Roots::from_pem(b"nothing").unwrap_err();
    for error in [nobody, broken, broken_list, backwards, mixed_up, no_certificate, no_key, bad_key, no_roots]
    {
        assert_eq!((error.code, error.phase), (Code::TlsConfig, Phase::Arguments), "{error}");
        assert!(!error.detail.is_empty(), "{error}");
    }
}

#[test]
fn pem_text_is_read() {
    let authority = Authority::new("authority");
    assert_eq!(Roots::from_pem(authority.pem.as_bytes()).unwrap(), authority.roots());
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["robot.test".to_owned()]).unwrap().self_signed(&key).unwrap();
    let both = certificate.pem() + &key.serialize_pem();
    let identity = Identity::from_pem(both.as_bytes(), both.as_bytes()).unwrap();
    let roots = Roots::from_pem(both.as_bytes()).unwrap();
    assert_eq!(format!("{identity:?}"), "Identity { certificates: 1, .. }");
    let client = TlsConfig { roots, ..TlsConfig::default() };
    assert_eq!(outcome(client, TlsServerConfig::new(identity)), (None, None));
}

#[cfg(feature = "webpki-roots")]
#[test]
fn everyday_roots_are_built_in() {
    assert!(TlsClient::new(TlsConfig::default(), &today()).is_ok());
}
