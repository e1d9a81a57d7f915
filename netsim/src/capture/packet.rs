//! UDP datagrams in IPv4 and IPv6 packets.

use super::ip::IpPayload;
use proto_core::{Reader, Truncated};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A UDP datagram found in a packet, or to be written as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpPacket<'a> {
    /// The source.
    pub from: SocketAddr,
    /// The destination.
    pub to: SocketAddr,
    /// The payload, as far as it was captured.
    pub payload: &'a [u8],
    /// Whether the capture holds less of the payload than was sent: cut by the snapshot length or by
    /// fragmentation. Ignored when writing.
    pub is_truncated: bool,
}

const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

impl<'a> UdpPacket<'a> {
    /// Finds the UDP datagram in an IP packet. Other protocols and later fragments have none.
    pub fn in_ip(packet: &'a [u8]) -> Option<Self> {
        let ip = IpPayload::find(packet)?;
        if ip.protocol == UDP { Self::in_udp(ip.body, ip.from, ip.to).ok() } else { None }
    }

    /// Appends the datagram as an IP packet with right lengths and checksums: IPv4 if both addresses are, else IPv6.
    /// Of a payload that exceeds the longest UDP datagram only as much as fits is written.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        let longest = usize::from(u16::MAX) - UDP_HEADER - 20;
        let payload = self.payload.get(..longest).unwrap_or(self.payload);
        let udp_len = u16::try_from(payload.len() + UDP_HEADER).unwrap_or(u16::MAX);
        let mut pseudo = Checksum::default();
        match (self.from.ip(), self.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                emit_ipv4(buf, from, to, udp_len);
                pseudo.add(&from.octets());
                pseudo.add(&to.octets());
            }
            (from, to) => {
                let (from, to) = (as_ipv6(from), as_ipv6(to));
                emit_ipv6(buf, from, to, udp_len);
                pseudo.add(&from.octets());
                pseudo.add(&to.octets());
            }
        }
        pseudo.add(&[0, UDP]);
        pseudo.add(&udp_len.to_be_bytes());
        self.emit_udp(buf, payload, udp_len, pseudo);
    }

    fn emit_udp(&self, buf: &mut Vec<u8>, payload: &[u8], udp_len: u16, mut checksum: Checksum) {
        let mut header = [self.from.port(), self.to.port(), udp_len].map(u16::to_be_bytes).concat();
        checksum.add(&header);
        checksum.add(payload);
        // Zero on the wire means "no checksum", so a sum of zero is sent as its other representation.
        let sum = match checksum.finish() {
            0 => u16::MAX,
            sum => sum,
        };
        header.extend(sum.to_be_bytes());
        buf.extend(header);
        buf.extend_from_slice(payload);
    }

    fn in_udp(body: &'a [u8], from: IpAddr, to: IpAddr) -> Result<Self, Truncated> {
        let mut r = Reader::new(body);
        let (from, to) = (SocketAddr::new(from, r.u16_be()?), SocketAddr::new(to, r.u16_be()?));
        let udp_len = usize::from(r.u16_be()?);
        r.u16_be()?;
        let len =
            if udp_len == 0 { r.remaining() } else { udp_len.checked_sub(UDP_HEADER).ok_or(Truncated)? };
        let payload = r.rest().get(..len).unwrap_or_else(|| r.rest());
        Ok(Self { from, to, payload, is_truncated: payload.len() < len })
    }
}

fn emit_ipv4(buf: &mut Vec<u8>, from: Ipv4Addr, to: Ipv4Addr, udp_len: u16) {
    let [len_high, len_low] = udp_len.saturating_add(20).to_be_bytes();
    let dont_fragment = 0x40;
    let mut header = vec![0x45, 0, len_high, len_low, 0, 0, dont_fragment, 0, 64, UDP];
    let mut checksum = Checksum::default();
    checksum.add(&header);
    checksum.add(&from.octets());
    checksum.add(&to.octets());
    header.extend(checksum.finish().to_be_bytes());
    header.extend(from.octets());
    header.extend(to.octets());
    buf.extend(header);
}

fn emit_ipv6(buf: &mut Vec<u8>, from: Ipv6Addr, to: Ipv6Addr, udp_len: u16) {
    buf.extend([0x60, 0, 0, 0]);
    buf.extend(udp_len.to_be_bytes());
    buf.extend([UDP, 64]);
    buf.extend(from.octets());
    buf.extend(to.octets());
}

const fn as_ipv6(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

/// The Internet checksum (RFC 1071) over pieces, of which only the last may have an odd length.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks(2) {
            let mut word = [0; 2];
            word.iter_mut().zip(pair).for_each(|(place, byte)| *place = *byte);
            self.0 += u64::from(u16::from_be_bytes(word));
        }
    }

    fn finish(self) -> u16 {
        let mut sum = self.0;
        while let high @ 1.. = sum >> 16 {
            sum = (sum & 0xffff) + high;
        }
        !u16::try_from(sum).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(packet: &UdpPacket<'_>) -> Vec<u8> {
        let mut buf = vec![];
        packet.emit(&mut buf);
        buf
    }

    #[test]
    fn an_ipv4_packet_has_known_bytes() {
        let packet = UdpPacket {
            from: "10.0.0.1:4660".parse().unwrap(),
            to: "10.0.0.2:22136".parse().unwrap(),
            payload: b"hi!",
            is_truncated: false,
        };
        // The header's checksum is by hand; the other test verifies the datagram's.
        let expected = [
            0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2, //
            0x12, 0x34, 0x56, 0x78, 0, 11, 0, 0, b'h', b'i', b'!',
        ];
        let bytes = emitted(&packet);
        assert_eq!(bytes[..26], expected[..26]);
        assert_eq!(bytes[28..], expected[28..]);
        assert_eq!(UdpPacket::in_ip(&bytes), Some(packet));
    }

    #[test]
    fn every_emitted_checksum_verifies() {
        for (from, to) in
            [("10.0.0.1:1", "10.9.8.7:2"), ("[fd00::1]:3", "[fd00::2]:4"), ("[fd00::1]:3", "1.2.3.4:5")]
        {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            let bytes = emitted(&UdpPacket { from, to, payload: &[9; 33], is_truncated: false });
            let (header, addresses) =
                if bytes[0] >> 4 == 4 { (20, &bytes[12..20]) } else { (40, &bytes[8..40]) };
            let mut sum = Checksum::default();
            sum.add(addresses);
            sum.add(&[0, UDP, 0, 41]);
            sum.add(&bytes[header..]);
            assert_eq!(sum.finish(), 0);
        }
    }

    #[test]
    fn extension_headers_are_skipped_and_later_fragments_are_not_datagrams() {
        let (from, to) = ("[fd00::1]:3".parse().unwrap(), "[fd00::2]:4".parse().unwrap());
        let packet = UdpPacket { from, to, payload: &[5; 4], is_truncated: false };
        let plain = emitted(&packet);
        let with = |next: u8, extension: &[u8]| {
            let mut bytes = plain[..40].to_vec();
            bytes[6] = next;
            bytes[5] += u8::try_from(extension.len()).unwrap();
            [&bytes, extension, &plain[40..]].concat()
        };
        assert_eq!(UdpPacket::in_ip(&with(0, &[UDP, 0, 1, 4, 0, 0, 0, 0])), Some(packet));
        assert_eq!(UdpPacket::in_ip(&with(44, &[UDP, 0, 0, 1, 0, 0, 0, 7])), Some(packet));
        assert_eq!(UdpPacket::in_ip(&with(44, &[UDP, 0, 0, 9, 0, 0, 0, 7])), None);
    }

    #[test]
    fn a_cut_payload_is_marked() {
        let (from, to) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let bytes = emitted(&UdpPacket { from, to, payload: &[1, 2, 3], is_truncated: false });
        let cut = UdpPacket::in_ip(&bytes[..bytes.len() - 1]).unwrap();
        assert_eq!((cut.payload, cut.is_truncated), (&[1, 2][..], true));
    }

    proptest! {
        #[test]
        fn datagrams_survive_the_round_trip(a: AddressPair, payload: Vec<u8>) {
            let packet = UdpPacket { from: a.0, to: a.1, payload: &payload, is_truncated: false };
            let bytes = emitted(&packet);
            prop_assert_eq!(UdpPacket::in_ip(&bytes), Some(packet));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = UdpPacket::in_ip(&bytes);
        }
    }

    /// A pair of addresses of one family.
    #[derive(Debug)]
    struct AddressPair(SocketAddr, SocketAddr);

    impl Arbitrary for AddressPair {
        type Parameters = ();
        type Strategy = BoxedStrategy<Self>;
        fn arbitrary_with((): ()) -> Self::Strategy {
            let v4 = any::<([u8; 4], u16, [u8; 4], u16)>()
                .prop_map(|(a, p, b, q)| Self((a, p).into(), (b, q).into()));
            let v6 = any::<([u16; 8], u16, [u16; 8], u16)>()
                .prop_map(|(a, p, b, q)| Self((a, p).into(), (b, q).into()));
            prop_oneof![v4, v6].boxed()
        }
    }
}
