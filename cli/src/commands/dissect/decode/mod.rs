//! RakNet: from the bytes of a datagram to a tree of fields.

mod connected;
mod offline;
mod session;

use netsim::capture::UdpPacket;
use proto_raknet::wire::DatagramKind;

use super::node::Node;

/// What a datagram turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Dissection {
    /// Understood to its end.
    Whole(Node),
    /// Understood up to a fault.
    Damaged {
        /// What was understood.
        node: Node,
        /// Where the fault is, from the start of the datagram or frame.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
    /// Nothing that is known here.
    Unknown,
}

/// Decodes the payload of `packet`.
pub(super) fn decode(packet: &UdpPacket<'_>) -> Dissection {
    let payload = packet.payload;
    offline::decode(payload).unwrap_or_else(|| match payload.first().copied().and_then(DatagramKind::of) {
        Some(DatagramKind::Data) => session::decode_data(payload),
        Some(DatagramKind::Ack { bandwidth }) => session::decode_acknowledgement("Ack", payload, bandwidth),
        Some(DatagramKind::Nack) => session::decode_acknowledgement("Nack", payload, false),
        None => Dissection::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_raknet::wire::ParseError;

    fn of(payload: &[u8]) -> Dissection {
        let (from, to) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        decode(&UdpPacket { from, to, payload, is_truncated: false })
    }

    #[test]
    fn other_protocols_are_unknown() {
        assert_eq!(of(b""), Dissection::Unknown);
        assert_eq!(of(b"GET / HTTP/1.1"), Dissection::Unknown);
    }

    #[test]
    fn a_frame_that_is_cut_off_is_shown_with_its_place() {
        // A whole frame of two bytes, then one that promises four bytes and has one.
        let datagram = [0x84, 5, 0, 0, 0x00, 0, 16, 0xfe, 1, 0x00, 0, 32, 0xfe];
        let Dissection::Damaged { node, offset, reason } = of(&datagram) else { panic!("not damaged") };
        assert_eq!((node.parts.len(), offset, reason), (1, 12, ParseError::Truncated.to_string()));
    }

    #[test]
    fn every_cut_of_a_datagram_is_decoded_without_a_panic() {
        let datagram = [0xc0, 0, 2, 1, 9, 0, 0, 0, 1, 0, 0, 3, 0, 0];
        for len in 0..datagram.len() {
            let damaged = matches!(of(&datagram[..len]), Dissection::Damaged { .. });
            assert_eq!(damaged, len > 0, "{len}");
        }
        assert!(matches!(of(&datagram), Dissection::Whole(_)));
    }
}
