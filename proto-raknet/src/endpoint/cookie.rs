//! Cookies: the proof that a connecting address receives our answers, without any state (spec 1.2).

use core::{
    hash::Hasher,
    net::{IpAddr, SocketAddr},
};
use proto_core::Instant;
use siphasher::sip::SipHasher24;

use crate::wire::ProtocolVersion;

/// How long one key makes cookies; the one before is still accepted.
const SLOT_MILLIS: u64 = 5_000;

/// Makes and checks cookies: SipHash-2-4 of address and protocol version, under a key that changes every 5 s.
///
/// Between the two requests of a client nothing is remembered but what the cookie carries, so the version is in it.
#[derive(Clone)]
pub(crate) struct Cookies {
    master: [u8; 16],
}

impl Cookies {
    pub(crate) const fn new(master: [u8; 16]) -> Self {
        Self { master }
    }

    /// Returns the cookie for an address and the version it asked for.
    pub(crate) fn make(&self, address: SocketAddr, version: ProtocolVersion, now: Instant) -> u32 {
        self.in_slot(slot(now), address, version)
    }

    /// Returns the version whose cookie this is, if it was made for the address a short while ago.
    pub(crate) fn check(
        &self,
        cookie: u32,
        address: SocketAddr,
        versions: &[ProtocolVersion],
        now: Instant,
    ) -> Option<ProtocolVersion> {
        let current = slot(now);
        [Some(current), current.checked_sub(1)].into_iter().flatten().find_map(|slot| {
            versions.iter().copied().find(|&version| self.in_slot(slot, address, version) == cookie)
        })
    }

    fn in_slot(&self, slot: u64, address: SocketAddr, version: ProtocolVersion) -> u32 {
        let mut key = [0; 16];
        for (half, out) in key.chunks_exact_mut(8).enumerate() {
            let mut hasher = SipHasher24::new_with_key(&self.master);
            hasher.write_u64(slot);
            hasher.write_u8(u8::from(half == 1));
            out.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        let mut hasher = SipHasher24::new_with_key(&key);
        match address.ip() {
            IpAddr::V4(ip) => hasher.write(&ip.octets()),
            IpAddr::V6(ip) => hasher.write(&ip.octets()),
        }
        hasher.write_u16(address.port());
        hasher.write_u8(version.0);
        #[allow(clippy::cast_possible_truncation, reason = "the protocol has room for 32 bits")]
        let cookie = hasher.finish() as u32;
        cookie
    }
}

impl core::fmt::Debug for Cookies {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Cookies(..)")
    }
}

const fn slot(now: Instant) -> u64 {
    now.as_millis() / SLOT_MILLIS
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion(11), ProtocolVersion(10)];

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn a_cookie_holds_for_its_address_and_carries_the_version() {
        let cookies = Cookies::new([7; 16]);
        let now = Instant::from_millis(12_345);
        let cookie = cookies.make(address(1), ProtocolVersion(10), now);
        assert_eq!(cookies.check(cookie, address(1), &VERSIONS, now), Some(ProtocolVersion(10)));
        assert_eq!(cookies.check(cookie, address(2), &VERSIONS, now), None);
        assert_eq!(cookies.check(cookie ^ 1, address(1), &VERSIONS, now), None);
        assert_eq!(Cookies::new([8; 16]).check(cookie, address(1), &VERSIONS, now), None);
    }

    #[test]
    fn a_cookie_outlives_one_change_of_the_key_and_no_more() {
        let cookies = Cookies::new([7; 16]);
        let cookie = cookies.make(address(1), ProtocolVersion(11), Instant::from_millis(4_999));
        let valid =
            |millis| cookies.check(cookie, address(1), &VERSIONS, Instant::from_millis(millis)).is_some();
        assert!(valid(5_000) && valid(9_999) && !valid(10_000));
    }
}
