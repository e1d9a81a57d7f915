//! Resources.

use proto_rns::LinkHash;

use super::{Scenario, linked};
use crate::reticulum::{Content, DestinationSpec, Outcome, ReticulumPeer, Waiting as _};

/// Resources of a byte, of all that fits into one segment, compressed and not, and of several segments.
pub const OF_EVERY_LENGTH: [Scenario; 4] = [
    |a, b| arrive(a, b, Content::random(1, 1)),
    |a, b| arrive(a, b, Content::random(2, (1 << 20) - 1)),
    |a, b| arrive(a, b, Content::compressible(3, (1 << 20) - 1)),
    |a, b| arrive_one_way(a, b, Content::random(4, 5 << 20)),
];

/// What resources do beside arriving.
pub const UNDER_CONTROL: [Scenario; 4] =
    [wait_for_each_other, can_be_refused, can_be_cancelled_by_sender, can_be_cancelled_by_receiver];

/// A resource of a length arrives both ways, with its note.
pub fn arrive(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer, content: Content) {
    let link = linked(initiator, responder, |spec| spec);
    arrives(initiator, responder, link, content, Some(b"there"));
    arrives(responder, initiator, link, content, None);
}

/// A resource of a length arrives.
pub fn arrive_one_way(
    initiator: &mut dyn ReticulumPeer,
    responder: &mut dyn ReticulumPeer,
    content: Content,
) {
    let link = linked(initiator, responder, |spec| spec);
    arrives(initiator, responder, link, content, None);
}

/// Resources that are sent at the same time arrive one after the other.
pub fn wait_for_each_other(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    let contents = [Content::random(1, 200_000), Content::random(2, 1_000), Content::random(3, 50_000)];
    let sent = contents.map(|content| (content, initiator.send_resource(link, content, None)));
    for (content, resource) in sent {
        assert_eq!(responder.resource_received(resource).body, Some(content.fingerprint()));
        assert_eq!(initiator.resource_sent(resource).outcome, Outcome::Complete);
    }
}

/// A resource that is larger than the responder takes is refused, and a smaller one is not.
pub fn can_be_refused(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link =
        linked(initiator, responder, |spec| DestinationSpec { largest_resource: Some(10_000), ..spec });
    let large = initiator.send_resource(link, Content::random(1, 20_000), None);
    assert_eq!(initiator.resource_sent(large).outcome, Outcome::Rejected);
    arrives(initiator, responder, link, Content::random(2, 5_000), None);
}

/// A resource can be stopped by who sends it.
pub fn can_be_cancelled_by_sender(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    let resource = initiator.send_resource(link, LONG, None);
    responder.resource_offered(resource);
    initiator.progressed(resource, 10);
    initiator.cancel_resource(resource);
    assert_eq!(initiator.resource_sent(resource).outcome, Outcome::Failed);
    assert_eq!(responder.resource_received(resource).outcome, Outcome::Failed);
    arrives(initiator, responder, link, Content::random(2, 1_000), None);
}

/// A resource can be stopped by who receives it.
pub fn can_be_cancelled_by_receiver(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec);
    let resource = initiator.send_resource(link, LONG, None);
    responder.resource_offered(resource);
    responder.cancel_resource(resource);
    let sent = initiator.resource_sent(resource).outcome;
    assert!(matches!(sent, Outcome::Failed | Outcome::Rejected), "{sent:?}");
    assert_eq!(responder.resource_received(resource).outcome, Outcome::Failed);
    arrives(initiator, responder, link, Content::random(2, 1_000), None);
}

fn arrives(
    from: &mut dyn ReticulumPeer,
    to: &mut dyn ReticulumPeer,
    link: LinkHash,
    content: Content,
    note: Option<&[u8]>,
) {
    let resource = from.send_resource(link, content, note);
    let arrived = to.resource_received(resource);
    assert_eq!((arrived.link, arrived.outcome), (link, Outcome::Complete));
    assert_eq!(arrived.body, Some(content.fingerprint()));
    assert_eq!(arrived.note.as_deref(), note);
    assert_eq!(from.resource_sent(resource).outcome, Outcome::Complete);
}

/// Long enough to be stopped on the way.
const LONG: Content = Content::random(1, 16 << 20);
