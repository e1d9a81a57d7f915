//! What IPv4 and IPv6 packets carry.

use proto_core::{Reader, Truncated};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The payload of an IP packet, behind all headers of the network layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IpPayload<'a> {
    /// The number of the protocol in it.
    pub(super) protocol: u8,
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    /// Its bytes, as far as they were captured.
    pub(super) body: &'a [u8],
}

impl<'a> IpPayload<'a> {
    /// Finds the payload. Later fragments and damaged packets have none.
    pub(super) fn find(packet: &'a [u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::in_ipv4(packet).ok().flatten(),
            6 => Self::in_ipv6(packet).ok().flatten(),
            _ => None,
        }
    }

    fn in_ipv4(packet: &'a [u8]) -> Result<Option<Self>, Truncated> {
        let mut r = Reader::new(packet);
        let header_len = usize::from(r.u8()? & 0x0f) * 4;
        r.u8()?;
        let total_len = usize::from(r.u16_be()?);
        r.u16_be()?;
        let fragment = r.u16_be()?;
        r.u8()?;
        let protocol = r.u8()?;
        r.u16_be()?;
        let (from, to) = (Ipv4Addr::from(r.array::<4>()?), Ipv4Addr::from(r.array::<4>()?));
        r.take(header_len.checked_sub(20).ok_or(Truncated)?)?;
        let is_first_fragment = fragment & 0x1fff == 0;
        if !is_first_fragment {
            return Ok(None);
        }
        // A length of zero stands in captures made before the network card cut a large packet into segments.
        let end = if total_len == 0 { r.remaining() } else { total_len.saturating_sub(header_len) };
        let body = r.rest().get(..end).unwrap_or_else(|| r.rest());
        Ok(Some(Self { protocol, from: from.into(), to: to.into(), body }))
    }

    fn in_ipv6(packet: &'a [u8]) -> Result<Option<Self>, Truncated> {
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const FRAGMENT: u8 = 44;
        const DESTINATION_OPTIONS: u8 = 60;
        let mut r = Reader::new(packet);
        r.u32_be()?;
        let payload_len = usize::from(r.u16_be()?);
        let mut next = r.u8()?;
        r.u8()?;
        let (from, to) = (Ipv6Addr::from(r.array::<16>()?), Ipv6Addr::from(r.array::<16>()?));
        let end = if payload_len == 0 { r.remaining() } else { payload_len };
        let mut r = Reader::new(r.rest().get(..end).unwrap_or_else(|| r.rest()));
        loop {
            match next {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                    next = r.u8()?;
                    let more_octets = usize::from(r.u8()?) * 8;
                    r.take(6 + more_octets)?;
                }
                FRAGMENT => {
                    next = r.u8()?;
                    r.u8()?;
                    let is_first_fragment = r.u16_be()? >> 3 == 0;
                    r.u32_be()?;
                    if !is_first_fragment {
                        return Ok(None);
                    }
                }
                protocol => {
                    let (from, to) = (from.into(), to.into());
                    return Ok(Some(Self { protocol, from, to, body: r.rest() }));
                }
            }
        }
    }
}
