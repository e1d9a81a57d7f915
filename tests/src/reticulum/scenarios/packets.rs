//! Single packets and their proofs.

use super::{known, payload};
use crate::reticulum::{DestinationSpec, Proofs, ReticulumPeer, WISH, Waiting as _};

/// Packets of every length that fits arrive, and are proved.
pub fn are_proved(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| spec);
    for (seed, len) in (0..).zip([1, 15, 16, 17, 100, LONGEST]) {
        let sent = payload(seed, len);
        let packet = initiator.send_packet(known.destination, &sent);
        let arrived = responder.packet_to(known.destination);
        assert_eq!(arrived.payload, sent, "{len} bytes");
        assert_eq!(arrived.ratchet, None);
        initiator.proved(packet);
    }
}

/// A destination that proves on wish proves the packets that it wishes to, and no others.
pub fn are_proved_on_wish(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| DestinationSpec { proofs: Proofs::OnWish, ..spec });
    let unwanted = initiator.send_packet(known.destination, b"never mind");
    let wanted = initiator.send_packet(known.destination, WISH);
    initiator.proved(wanted);
    initiator.not_proved(unwanted);
    assert_eq!(responder.packet_to(known.destination).payload, b"never mind");
    assert_eq!(responder.packet_to(known.destination).payload, WISH);
}

/// A destination that never proves takes packets all the same.
pub fn arrive_without_proof(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| DestinationSpec { proofs: Proofs::Never, ..spec });
    let packet = initiator.send_packet(known.destination, b"hello");
    assert_eq!(responder.packet_to(known.destination).payload, b"hello");
    initiator.not_proved(packet);
}

/// What fits into a packet to one identity (spec 1.1).
const LONGEST: usize = 383;
