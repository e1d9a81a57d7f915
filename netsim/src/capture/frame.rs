//! Captured frames and the link layers around their packets.

use super::{packet::UdpPacket, tcp::TcpSegment};
use proto_core::{Reader, Truncated};
use std::{borrow::Cow, time::Duration};

/// One frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was captured, since the Unix epoch; some pcap-ng blocks do not say.
    pub at: Option<Duration>,
    /// What it starts with.
    pub link_type: LinkType,
    /// Its bytes, as far as they were captured.
    pub data: &'a [u8],
    /// The length that it had on the wire.
    pub original_len: usize,
    /// The first comment of its pcap-ng block.
    pub comment: Option<Cow<'a, str>>,
}

impl<'a> Frame<'a> {
    /// Finds the UDP datagram in the frame. Frames of other protocols, of unknown link types and damaged ones have
    /// none.
    pub fn udp(&self) -> Option<UdpPacket<'a>> {
        UdpPacket::in_ip(self.ip_packet().ok().flatten()?)
    }

    /// Finds the TCP segment in the frame, as [`udp`](Self::udp) finds datagrams.
    pub fn tcp(&self) -> Option<TcpSegment<'a>> {
        TcpSegment::in_ip(self.ip_packet().ok().flatten()?)
    }

    fn ip_packet(&self) -> Result<Option<&'a [u8]>, Truncated> {
        let mut r = Reader::new(self.data);
        match self.link_type {
            LinkType::Raw => Ok(Some(self.data)),
            LinkType::Ethernet => {
                r.take(12)?;
                behind_ether_type(r)
            }
            LinkType::Loopback => {
                // The family's number differs between systems and comes in the capturing host's byte order; the
                // IP version in the packet itself says what it is.
                r.take(4)?;
                Ok(Some(r.rest()))
            }
            LinkType::LinuxCooked => {
                r.take(14)?;
                behind_ether_type(r)
            }
            LinkType::LinuxCooked2 => {
                let is_ip = is_ip(r.u16_be()?);
                r.take(18)?;
                Ok(is_ip.then(|| r.rest()))
            }
            LinkType::Other(_) => Ok(None),
        }
    }
}

/// The link layer of a capture (the LINKTYPE_ registry of tcpdump.org).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// Ethernet (1), with or without VLAN tags.
    Ethernet,
    /// IP packets without anything before them (101, 228, 229; 12 and 14 in old files).
    Raw,
    /// BSD loopback (0, 108): four bytes of address family.
    Loopback,
    /// Linux "cooked" capture, as of the `any` device (113).
    LinuxCooked,
    /// Its second version (276).
    LinuxCooked2,
    /// Something else, in which no datagrams are found.
    Other(u16),
}

impl LinkType {
    /// Returns the number in the registry; [`LinkType::Raw`] has several, the general one is returned.
    pub const fn number(self) -> u16 {
        match self {
            Self::Loopback => 0,
            Self::Ethernet => 1,
            Self::Raw => 101,
            Self::LinuxCooked => 113,
            Self::LinuxCooked2 => 276,
            Self::Other(number) => number,
        }
    }
}

impl From<u16> for LinkType {
    fn from(number: u16) -> Self {
        match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::LinuxCooked,
            276 => Self::LinuxCooked2,
            other => Self::Other(other),
        }
    }
}

/// Reads an EtherType behind any VLAN tags, and what follows where it is IP.
fn behind_ether_type(mut r: Reader<'_>) -> Result<Option<&[u8]>, Truncated> {
    const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    loop {
        let ether_type = r.u16_be()?;
        if !VLAN_TAGS.contains(&ether_type) {
            return Ok(is_ip(ether_type).then(|| r.rest()));
        }
        r.u16_be()?;
    }
}

const fn is_ip(ether_type: u16) -> bool {
    matches!(ether_type, 0x0800 | 0x86dd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> UdpPacket<'static> {
        let (from, to) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        UdpPacket { from, to, payload: b"inside", is_truncated: false }
    }

    fn finds_it(link_type: LinkType, header: &[u8]) -> bool {
        let mut data = header.to_vec();
        packet().emit(&mut data);
        // Ethernet pads short frames; the padding is no payload.
        data.extend([0; 6]);
        let frame = Frame { at: None, link_type, data: &data, original_len: data.len(), comment: None };
        let found = frame.udp();
        assert!(found.is_none() || found == Some(packet()));
        found.is_some()
    }

    #[test]
    fn each_link_layer_is_taken_off() {
        let ethernet = |tail: &[u8]| [&[0; 12], tail].concat();
        assert!(finds_it(LinkType::Raw, &[]));
        assert!(finds_it(LinkType::Ethernet, &ethernet(&[8, 0])));
        assert!(finds_it(LinkType::Ethernet, &ethernet(&[0x81, 0, 0, 5, 8, 0])));
        assert!(finds_it(LinkType::Ethernet, &ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0])));
        assert!(finds_it(LinkType::Loopback, &[2, 0, 0, 0]));
        assert!(finds_it(LinkType::LinuxCooked, &[&[0; 14][..], &[8, 0]].concat()));
        assert!(finds_it(LinkType::LinuxCooked2, &[&[8, 0][..], &[0; 18]].concat()));
    }

    #[test]
    fn other_protocols_hold_no_datagram() {
        assert!(!finds_it(LinkType::Ethernet, &[&[0; 12][..], &[8, 6]].concat()));
        assert!(!finds_it(LinkType::LinuxCooked2, &[&[8, 6][..], &[0; 18]].concat()));
        assert!(!finds_it(LinkType::Other(147), &[]));
    }

    #[test]
    fn link_types_keep_their_numbers() {
        assert!(
            (0..400).all(|number| LinkType::from(LinkType::from(number).number()) == LinkType::from(number))
        );
    }
}
