//! Socket addresses inside messages.
//!
//! These fields report how a peer sees an address. Translators and proxies change addresses on the way, so
//! they are never compared with anything.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use proto_core::Reader;

use super::ParseError;

/// The address that fills unused fields, as Bedrock writes it.
pub const UNASSIGNED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// The length of an encoded IPv4 address: family, octets, port.
pub const V4_LEN: usize = 1 + 4 + 2;

/// The length of an encoded IPv6 address: family and a raw `sockaddr_in6`.
pub const V6_LEN: usize = 1 + 28;

const TAG_V4: u8 = 4;
/// What some peers write in front of an unassigned IPv4 address.
const TAG_V4_UNSET: u8 = 0;
const TAG_V6: u8 = 6;

/// `AF_INET6` of Windows, little-endian like the machines that run it: what Bedrock clients expect.
const FAMILY_V6: [u8; 2] = [23, 0];

/// Takes an address.
///
/// The family, flow information and scope inside an IPv6 address are in the sender's terms and are ignored.
///
/// # Errors
/// [`ParseError::Address`] for a family other than 0, 4 (both IPv4) and 6, [`ParseError::Truncated`] at the
/// end.
pub fn parse(r: &mut Reader<'_>) -> Result<SocketAddr, ParseError> {
    match r.u8()? {
        TAG_V4 | TAG_V4_UNSET => {
            let inverted: [u8; 4] = r.array()?;
            let ip = Ipv4Addr::from(inverted.map(|octet| !octet));
            Ok(SocketAddrV4::new(ip, r.u16_be()?).into())
        }
        TAG_V6 => {
            let _family: [u8; 2] = r.array()?;
            let port = r.u16_be()?;
            let _flow_information = r.u32_be()?;
            let ip = Ipv6Addr::from(r.array::<16>()?);
            let _scope = r.u32_be()?;
            Ok(SocketAddrV6::new(ip, port, 0, 0).into())
        }
        family => Err(ParseError::Address(family)),
    }
}

/// Appends `address`, without the flow information and scope of an IPv6 address.
pub fn emit(address: SocketAddr, buf: &mut Vec<u8>) {
    match address {
        SocketAddr::V4(v4) => {
            buf.push(TAG_V4);
            buf.extend(v4.ip().octets().map(|octet| !octet));
            buf.extend(v4.port().to_be_bytes());
        }
        SocketAddr::V6(v6) => {
            buf.push(TAG_V6);
            buf.extend(FAMILY_V6);
            buf.extend(v6.port().to_be_bytes());
            buf.extend([0; 4]);
            buf.extend(v6.ip().octets());
            buf.extend([0; 4]);
        }
    }
}

/// Returns the length of `address` on the wire.
pub const fn encoded_len(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => V4_LEN,
        SocketAddr::V6(_) => V6_LEN,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{any_address, refuses_every_truncation};
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn emitted(address: SocketAddr) -> Vec<u8> {
        let mut buf = Vec::new();
        emit(address, &mut buf);
        assert_eq!(buf.len(), encoded_len(address));
        buf
    }

    #[test]
    fn the_octets_of_a_v4_address_are_inverted() {
        assert_eq!(emitted("127.0.0.1:59667".parse().unwrap()), [4, 0x80, 0xff, 0xff, 0xfe, 0xe9, 0x13]);
        assert_eq!(emitted(UNASSIGNED), [4, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }

    #[test]
    fn a_v6_address_is_a_windows_sockaddr() {
        let bytes = emitted("[::1]:19133".parse().unwrap());
        let mut expected = vec![6, 23, 0, 0x4a, 0xbd, 0, 0, 0, 0];
        expected.extend([0; 15]);
        expected.extend([1, 0, 0, 0, 0]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_senders_family_flow_and_scope_do_not_matter() {
        let mut bytes = emitted("[2001:db8::7]:80".parse().unwrap());
        bytes[1] = 10;
        bytes[5..9].fill(0xaa);
        bytes[25..].fill(0xbb);
        assert_eq!(parse(&mut Reader::new(&bytes)), Ok("[2001:db8::7]:80".parse().unwrap()));
    }

    #[test]
    fn family_0_reads_as_v4_and_others_are_refused() {
        let mut bytes = emitted("10.1.2.3:4".parse().unwrap());
        bytes[0] = 0;
        assert_eq!(parse(&mut Reader::new(&bytes)), Ok("10.1.2.3:4".parse().unwrap()));
        bytes[0] = 5;
        assert_eq!(parse(&mut Reader::new(&bytes)), Err(ParseError::Address(5)));
    }

    proptest! {
        #[test]
        fn what_is_emitted_parses_back(address in any_address()) {
            let bytes = emitted(address);
            prop_assert_eq!(parse(&mut Reader::new(&bytes)), Ok(address));
            refuses_every_truncation(&bytes, parse);
        }
    }
}
