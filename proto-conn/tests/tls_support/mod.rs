//! Authorities, and connections in memory.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use core::time::Duration;
use proto_conn::{
    Error, Host, Outgoing,
    tls::{
        self, Identity, Roots, TlsClient, TlsConfig, TlsLayer, TlsServer, TlsServerConfig, WRITE_LIMIT,
        WallClock,
    },
};
use proto_core::UnixTime;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, date_time_ymd,
};

/// 2026-06-01.
pub(crate) fn today() -> WallClock {
    WallClock::new(UnixTime::new(Duration::from_secs(1_780_272_000)))
}

/// Somebody who issues certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) der: Vec<u8>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = Self::params(name);
        let certificate = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), der: certificate.der().to_vec(), pem: certificate.pem() }
    }

    /// Creates one that this one vouches for.
    pub(crate) fn intermediate(&self, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = Self::params(name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Self { issuer: Issuer::new(params, key), der: certificate.der().to_vec(), pem: certificate.pem() }
    }

    /// Issues a server's certificate for a name or address.
    pub(crate) fn issue(&self, name: &str) -> Issued {
        self.issue_with(name, |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth])
    }

    /// Issues a certificate with particulars.
    pub(crate) fn issue_with(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Issued {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "robot");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Issued { der: certificate.der().to_vec(), key: key.serialize_der() }
    }

    /// Revokes the certificates with a serial number, until the end of the year.
    pub(crate) fn revoke(&self, serial_number: u64) -> Vec<u8> {
        let revoked = RevokedCertParams {
            serial_number: serial_number.into(),
            revocation_time: date_time_ymd(2026, 5, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 5, 1),
            next_update: date_time_ymd(2026, 12, 31),
            crl_number: 1.into(),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().der().to_vec()
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots { own: vec![self.der.clone()], ..Roots::none() }
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
    }
}

/// A certificate and its key.
#[derive(Clone)]
pub(crate) struct Issued {
    pub(crate) der: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Issued {
    pub(crate) fn identity(&self) -> Identity {
        self.identity_with(&[])
    }

    pub(crate) fn identity_with(&self, issuers: &[&Authority]) -> Identity {
        let mut chain = vec![self.der.clone()];
        chain.extend(issuers.iter().map(|issuer| issuer.der.clone()));
        Identity::from_der(chain, self.key.clone()).unwrap()
    }
}

/// A client and a server that trust each other, for `robot.test`.
pub(crate) fn configs() -> (TlsConfig, TlsServerConfig) {
    let authority = Authority::new("authority");
    let server = TlsServerConfig::new(authority.issue("robot.test").identity());
    (TlsConfig { roots: authority.roots(), ..TlsConfig::default() }, server)
}

pub(crate) fn host() -> Host {
    Host::Name("robot.test".to_owned())
}

/// One side of a connection, and what it has received.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) layer: Box<dyn TlsLayer>,
    pub(crate) outgoing: Outgoing,
    pub(crate) got: Vec<u8>,
    pub(crate) error: Option<Error>,
    /// What the next bytes of the other side are not taken beyond.
    pub(crate) room: usize,
}

impl Side {
    pub(crate) fn new(layer: Box<dyn TlsLayer>) -> Self {
        Self { layer, outgoing: Outgoing::default(), got: Vec::new(), error: None, room: usize::MAX }
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.outgoing.write(|buf| buf.extend_from_slice(bytes));
    }

    /// Returns all that it has to send.
    pub(crate) fn sent(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let before = all.len();
            if let Err(error) = self.layer.encrypt(&mut self.outgoing, WRITE_LIMIT, &mut all) {
                self.error = Some(error);
            }
            if all.len() == before {
                return all;
            }
        }
    }

    /// Takes in ciphertext as a driver does that reads into the lent place.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        let Self { layer, got, error, room, .. } = self;
        while !bytes.is_empty() && error.is_none() && layer.wants_input() {
            let spare = layer.spare();
            assert!(!spare.is_empty());
            let len = spare.len().min(bytes.len());
            spare[..len].copy_from_slice(&bytes[..len]);
            bytes = &bytes[len..];
            let result = layer.advance(len, &mut |plain| {
                let taken = plain.len().min(*room - got.len());
                got.extend_from_slice(&plain[..taken]);
                taken
            });
            *error = result.err();
        }
    }
}

pub(crate) fn pair(client: TlsConfig, server: TlsServerConfig) -> (Side, Side) {
    pair_at(client, server, &host(), &today())
}

pub(crate) fn pair_at(
    client: TlsConfig,
    server: TlsServerConfig,
    host: &Host,
    wall: &WallClock,
) -> (Side, Side) {
    sides(&TlsClient::new(client, wall).unwrap(), &TlsServer::new(server, wall).unwrap(), host)
}

pub(crate) fn sides(client: &TlsClient, server: &TlsServer, host: &Host) -> (Side, Side) {
    (Side::new(tls::client(client, host).unwrap()), Side::new(tls::server(server).unwrap()))
}

/// Carries bytes both ways, in pieces of `chunk`, until there are no more.
pub(crate) fn exchange_in(client: &mut Side, server: &mut Side, chunk: usize) {
    for _ in 0..1_000 {
        let (up, down) = (client.sent(), server.sent());
        up.chunks(chunk).for_each(|piece| server.take(piece));
        down.chunks(chunk).for_each(|piece| client.take(piece));
        if up.is_empty() && down.is_empty() {
            return;
        }
    }
    panic!("it does not come to an end");
}

pub(crate) fn exchange(client: &mut Side, server: &mut Side) {
    exchange_in(client, server, usize::MAX);
}
