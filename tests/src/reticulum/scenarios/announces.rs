//! Announces and paths.

use proto_rns::DestinationHash;
use std::time::Duration;

use super::{NAME, known};
use crate::{
    peers::patience::pause,
    reticulum::{DestinationSpec, ReticulumPeer, Waiting as _},
};

/// An announce is heard, and says who it is of, how far away, and what it is told to say.
pub fn are_heard(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer, hops: u8) {
    let identity = responder.create_identity();
    let mut spec = DestinationSpec::own(NAME, identity);
    spec.app_data = Some(b"by default".to_vec());
    let destination = responder.create_destination(&spec);
    for said in [None, Some(b"on purpose".as_slice())] {
        if said.is_some() {
            next_second();
        }
        responder.announce(destination, said);
        let heard = initiator.announce_of(destination);
        assert_eq!(heard.identity, identity);
        assert_eq!(heard.app_data.as_deref(), said.or(spec.app_data.as_deref()));
        assert_eq!(heard.hops, hops);
        assert!(!heard.path_response);
        assert_eq!(initiator.hops_to(destination), Some(hops));
    }
}

/// Both nodes hear what the other announces at the same time.
pub fn cross(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let theirs = own_destination(responder);
    let ours = own_destination(initiator);
    responder.announce(theirs, None);
    initiator.announce(ours, None);
    assert_eq!(initiator.announce_of(theirs).destination, theirs);
    assert_eq!(responder.announce_of(ours).destination, ours);
}

/// A destination that is not announced is found by asking for a path, where the nodes are neighbours.
pub fn are_given_on_request(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let destination = own_destination(responder);
    assert_eq!(initiator.hops_to(destination), None);
    initiator.request_path(destination);
    let heard = initiator.announce_of(destination);
    assert!(heard.path_response);
    assert_eq!(initiator.path_to(destination), 1);
}

/// Nodes that are joined, but not in one closed network, hear nothing of each other.
pub fn are_not_heard(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let destination = own_destination(responder);
    responder.announce(destination, None);
    initiator.no_announce_of(destination);
    initiator.request_path(destination);
    initiator.no_announce_of(destination);
    assert_eq!(initiator.hops_to(destination), None);
}

/// Announces of unknown destinations that come faster than three a second are held back, all but the first two: a
/// frequency takes three (spec 1.8).
pub fn are_held_back_in_bursts(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let mut announced = Vec::new();
    for _ in 0..6 {
        let destination = own_destination(responder);
        responder.announce(destination, None);
        announced.push(destination);
    }
    for destination in &announced[..2] {
        initiator.announce_of(*destination);
    }
    for destination in &announced[2..] {
        initiator.no_announce_of(*destination);
    }
}

/// A node that announces again is still known by the same hash.
pub fn can_be_repeated(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let known = known(initiator, responder, |spec| spec);
    for said in [b"one".as_slice(), b"two"] {
        next_second();
        responder.announce(known.destination, Some(said));
        let heard = initiator.announce_of(known.destination);
        assert_eq!(heard.app_data.as_deref(), Some(said));
        assert_eq!(heard.identity, known.identity);
    }
}

/// Waits until an announce is newer than those before: the time that it carries has whole seconds (spec 1.6), and one
/// that is not newer is not told of.
fn next_second() {
    pause(Duration::from_millis(1_050));
}

fn own_destination(peer: &mut dyn ReticulumPeer) -> DestinationHash {
    let identity = peer.create_identity();
    peer.create_destination(&DestinationSpec::own(NAME, identity))
}
