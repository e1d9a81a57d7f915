//! TCP segments in IPv4 and IPv6 packets.

use super::ip::IpPayload;
use proto_core::{Reader, Truncated};
use std::net::SocketAddr;

/// A TCP segment found in a packet (RFC 9293 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSegment<'a> {
    /// The source.
    pub from: SocketAddr,
    /// The destination.
    pub to: SocketAddr,
    /// The number of the payload's first byte, or of the flag that opens the connection.
    pub sequence: u32,
    /// Whether it opens the connection (SYN).
    pub opens: bool,
    /// Whether it ends the connection (FIN or RST).
    pub ends: bool,
    /// The payload, as far as it was captured.
    pub payload: &'a [u8],
}

const TCP: u8 = 6;

impl<'a> TcpSegment<'a> {
    /// Finds the TCP segment in an IP packet. Other protocols and later fragments have none.
    pub fn in_ip(packet: &'a [u8]) -> Option<Self> {
        let ip = IpPayload::find(packet)?;
        if ip.protocol == TCP { Self::parse(&ip).ok() } else { None }
    }

    fn parse(ip: &IpPayload<'a>) -> Result<Self, Truncated> {
        let mut r = Reader::new(ip.body);
        let (from, to) = (SocketAddr::new(ip.from, r.u16_be()?), SocketAddr::new(ip.to, r.u16_be()?));
        let sequence = r.u32_be()?;
        r.u32_be()?;
        let header_len = usize::from(r.u8()? >> 4) * 4;
        let flags = r.u8()?;
        r.take(6)?;
        r.take(header_len.checked_sub(20).ok_or(Truncated)?)?;
        Ok(Self { from, to, sequence, opens: flags & 0x02 != 0, ends: flags & 0x05 != 0, payload: r.rest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: &[u8]) -> Vec<u8> {
        let total = u8::try_from(44 + payload.len()).unwrap();
        let mut packet = vec![0x45, 0, 0, total, 0, 0, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([
            0x12, 0x34, 0x56, 0x78, 0, 0, 0, 9, 0, 0, 0, 0, 0x60, 0x12, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
        ]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn a_segment_is_found_behind_its_options() {
        let bytes = packet(b"hi");
        let expected = TcpSegment {
            from: "10.0.0.1:4660".parse().unwrap(),
            to: "10.0.0.2:22136".parse().unwrap(),
            sequence: 9,
            opens: true,
            ends: false,
            payload: b"hi",
        };
        assert_eq!(TcpSegment::in_ip(&bytes), Some(expected));
        for len in 0..44 {
            assert_eq!(TcpSegment::in_ip(&bytes[..len]), None, "{len}");
        }
    }
}
