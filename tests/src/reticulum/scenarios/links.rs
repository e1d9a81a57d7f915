//! Links.

use proto_rns::{LinkHash, PacketHash};

use super::{Scenario, known, linked, open_link, payload};
use crate::reticulum::{Closure, ReticulumPeer, Waiting as _};

/// What links do, whatever they go over.
pub const ALL: [Scenario; 5] =
    [carry_packets, identify, are_closed_by_initiator, are_closed_by_responder, live_side_by_side];

/// Packets of every length that fits arrive both ways on a link, and are proved.
pub fn carry_packets(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| spec);
    let open = open_link(initiator, responder, known.destination);
    for (seed, len) in (0..).zip([1, 16, 200, open.mdu]) {
        let sent = payload(seed, len);
        // The responder proves as its destination does. The initiator has no destination that would say so.
        let proved = (0..PATIENT).any(|_| {
            let packet = carries(initiator, responder, open.link, &sent);
            initiator.was_proved(packet)
        });
        assert!(proved, "no packet of {len} bytes was proved in time");
        carries(responder, initiator, open.link, &sent);
    }
}

/// A link has the largest frame that all interfaces on the way allow.
pub fn have_mtu(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer, mtu: usize) {
    let known = known(initiator, responder, |spec| spec);
    let open = open_link(initiator, responder, known.destination);
    assert_eq!(open.mtu, mtu);
    // A link's packet has 19 bytes before, and 48 around, whole cipher blocks of which one byte is padding (spec 1.1).
    assert_eq!(open.mdu, (mtu - 1 - 19 - 48) / 16 * 16 - 1);
}

/// The initiator can say who it is.
pub fn identify(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    let identity = initiator.create_identity();
    initiator.identify(link, identity);
    assert_eq!(responder.identified(link).identity, identity);
}

/// The initiator closes a link, and both ends know that it did.
pub fn are_closed_by_initiator(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    initiator.close_link(link);
    assert_eq!(initiator.closed(link).closure, Closure::ByInitiator);
    assert_eq!(responder.closed(link).closure, Closure::ByInitiator);
}

/// The responder closes a link, and both ends know that it did.
pub fn are_closed_by_responder(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    responder.close_link(link);
    assert_eq!(initiator.closed(link).closure, Closure::ByDestination);
    assert_eq!(responder.closed(link).closure, Closure::ByDestination);
}

/// Several links to one destination do not disturb each other.
pub fn live_side_by_side(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| spec);
    let links: Vec<_> = (0..4).map(|_| open_link(initiator, responder, known.destination).link).collect();
    for (seed, link) in (0..).zip(&links) {
        initiator.send_on_link(*link, &payload(seed, 40));
    }
    for (seed, link) in [3, 0, 2, 1].map(|seed: u8| (u64::from(seed), &links[usize::from(seed)])) {
        assert_eq!(responder.packet_on(*link).payload, payload(seed, 40));
    }
    initiator.close_link(links[0]);
    responder.closed(links[0]);
    initiator.send_on_link(links[1], b"still here");
    assert_eq!(responder.packet_on(links[1]).payload, b"still here");
}

fn carries(
    from: &mut dyn ReticulumPeer,
    to: &mut dyn ReticulumPeer,
    link: LinkHash,
    sent: &[u8],
) -> PacketHash {
    let packet = from.send_on_link(link, sent);
    assert!(to.packet_on(link).payload == sent, "{} bytes changed on the way", sent.len());
    packet
}

/// How often a packet may be proved too late: there are six round trips for it, but hardly more than 5 ms on one machine
/// (spec 1.9), which others keep busy too.
const PATIENT: usize = 8;
