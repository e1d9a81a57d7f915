//! Destinations that are not those of one identity: GROUP and PLAIN.

use super::payload;
use crate::reticulum::{DestinationSpec, Direction, ReticulumPeer, Waiting as _};

/// Packets to a group arrive where its key is known, and nowhere else.
pub fn reach_a_group(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let private_key = [0x42; 64];
    let identity = initiator.load_identity(&private_key);
    assert_eq!(responder.load_identity(&private_key), identity, "one key is one identity");
    let end = |name, key, direction| DestinationSpec::group(name, identity, key, direction);
    let [ours, theirs, others] = [[0x11; 64], [0x11; 64], [0x22; 64]];
    let member = initiator.create_destination(&end("iolite.tests.members", ours, Direction::Out));
    assert_eq!(responder.create_destination(&end("iolite.tests.members", theirs, Direction::In)), member);
    let stranger = initiator.create_destination(&end("iolite.tests.strangers", ours, Direction::Out));
    assert_eq!(responder.create_destination(&end("iolite.tests.strangers", others, Direction::In)), stranger);
    initiator.send_packet(stranger, b"secret");
    initiator.send_packet(member, &payload(1, LONGEST_GROUP));
    assert_eq!(responder.packet_to(member).payload, payload(1, LONGEST_GROUP));
    responder.no_packet_to(stranger);
}

/// Packets to everyone arrive at a neighbour.
pub fn reach_everyone(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let end = |direction| DestinationSpec::plain("iolite.tests.everyone", direction);
    let destination = initiator.create_destination(&end(Direction::Out));
    assert_eq!(responder.create_destination(&end(Direction::In)), destination);
    for (seed, len) in (0..).zip([1, 100, LONGEST_PLAIN]) {
        initiator.send_packet(destination, &payload(seed, len));
        assert_eq!(responder.packet_to(destination).payload, payload(seed, len));
    }
}

/// What fits into a packet without encryption (spec 1.1).
const LONGEST_PLAIN: usize = 464;

/// What fits into a packet to a group: the reference takes no more than to one identity.
const LONGEST_GROUP: usize = 383;
