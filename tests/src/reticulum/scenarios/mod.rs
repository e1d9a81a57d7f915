//! What any two nodes are put through, each the initiator or the responder.
//!
//! A scenario begins with two nodes that can reach each other and know nothing else. It panics where the protocol is
//! not kept.

pub mod announces;
pub mod broadcasts;
pub mod channels;
pub mod links;
pub mod packets;
pub mod ratchets;
pub mod requests;
pub mod resources;

use proto_rns::{DestinationHash, IdentityHash, LinkHash};

use super::{Content, DestinationSpec, LinkEstablished, ReticulumPeer, Waiting as _};

/// What two nodes are put through: the initiator, then the responder.
pub type Scenario = fn(&mut dyn ReticulumPeer, &mut dyn ReticulumPeer);

/// Some of everything, for nodes that are three hops apart.
pub const OVER_THREE_HOPS: [Scenario; 6] = [
    |initiator, responder| announces::are_heard(initiator, responder, 3),
    packets::are_proved,
    links::carry_packets,
    links::identify,
    requests::are_echoed,
    |initiator, responder| resources::arrive(initiator, responder, Content::random(1, 300_000)),
];

/// The name of the responder's destination.
const NAME: &str = "iolite.tests.scenario";

/// A destination that the responder has and the initiator knows.
#[derive(Debug)]
struct Known {
    destination: DestinationHash,
    identity: IdentityHash,
}

/// Has the responder make a destination, changed from one that takes links and proves everything, and announce it until
/// the initiator knows it.
fn known(
    initiator: &mut dyn ReticulumPeer,
    responder: &mut dyn ReticulumPeer,
    change: impl FnOnce(DestinationSpec) -> DestinationSpec,
) -> Known {
    let identity = responder.create_identity();
    let destination = responder.create_destination(&change(DestinationSpec::own(NAME, identity)));
    responder.announce(destination, None);
    initiator.announce_of(destination);
    let other = initiator.create_destination(&DestinationSpec::other(NAME, identity));
    assert_eq!(other, destination, "both ends of a destination have one hash");
    Known { destination, identity }
}

/// Opens a link to such a destination, and checks that both ends see the same one.
fn linked(
    initiator: &mut dyn ReticulumPeer,
    responder: &mut dyn ReticulumPeer,
    change: impl FnOnce(DestinationSpec) -> DestinationSpec,
) -> LinkHash {
    let known = known(initiator, responder, change);
    open_link(initiator, responder, known.destination).link
}

fn open_link(
    initiator: &mut dyn ReticulumPeer,
    responder: &mut dyn ReticulumPeer,
    destination: DestinationHash,
) -> LinkEstablished {
    let link = initiator.open_link(destination);
    let ours = initiator.link_to(destination);
    let theirs = responder.link_to(destination);
    assert_eq!(ours.link, link, "a link has the number that it was opened with");
    assert_eq!(ours, theirs, "both ends see one link");
    ours
}

/// Bytes of a length that a test can tell from others.
fn payload(seed: u64, len: usize) -> Vec<u8> {
    Content::random(seed, len).bytes()
}
