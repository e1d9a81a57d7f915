//! Destinations with ratchets.

use super::{Scenario, known};
use crate::reticulum::{DestinationSpec, Ratchets, ReticulumPeer, Waiting as _};

/// Ratchets that may be used, and such that must.
pub const ALL: [Scenario; 2] =
    [|a, b| are_used(a, b, Ratchets::Enabled), |a, b| are_used(a, b, Ratchets::Enforced)];

/// Packets are sealed for the ratchet that was announced, and proved as others are.
pub fn are_used(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer, ratchets: Ratchets) {
    let known = known(initiator, responder, |spec| DestinationSpec { ratchets, ..spec });
    let mut seen = Vec::new();
    for said in [b"one", b"two"] {
        let packet = initiator.send_packet(known.destination, said);
        let arrived = responder.packet_to(known.destination);
        assert_eq!(arrived.payload, said);
        seen.push(arrived.ratchet.expect("a ratchet"));
        initiator.proved(packet);
    }
    assert_eq!(seen[0], seen[1], "a ratchet lives for half an hour");
}
