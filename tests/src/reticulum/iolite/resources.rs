//! The resources of all links, by the hash that both ends know them by.

use proto_rns::{
    LinkHash, ResourceHash,
    node::Node,
    resource::{self, FailReason, Offer, ResourceId},
};
use std::collections::BTreeMap;

use super::desk::{bytes_in, permille};
use crate::reticulum::{Event, Fingerprint, Outcome, ResourceProgress, ResourceReceived, ResourceSent};

/// Resources that were offered, by this node or to it.
#[derive(Debug, Default)]
pub(super) struct Resources(BTreeMap<(LinkHash, ResourceId), Known>);

#[derive(Clone, Copy, Debug)]
struct Known {
    hash: ResourceHash,
    is_ours: bool,
}

impl Resources {
    /// Takes note of the hashes of those whose turn to be sent has come.
    pub(super) fn name_outgoing(&mut self, node: &Node) {
        let outgoing = node.links().filter_map(|link| Some((link.id(), link.outgoing_resource()?)));
        for (link, (id, hash)) in outgoing {
            self.0.insert((link, id), Known { hash, is_ours: true });
        }
    }

    /// Takes note of one that comes in.
    pub(super) fn offered(&mut self, link: LinkHash, offer: &Offer) {
        self.0.insert((link, offer.id), Known { hash: offer.hash, is_ours: false });
    }

    /// Returns the hash of a resource, once it is known.
    pub(super) fn hash(&self, link: LinkHash, id: ResourceId) -> Option<ResourceHash> {
        self.0.get(&(link, id)).map(|known| known.hash)
    }

    /// Finds a resource by its hash.
    pub(super) fn find(&self, hash: ResourceHash) -> Option<(LinkHash, ResourceId)> {
        self.0.iter().find(|(_, known)| known.hash == hash).map(|(key, _)| *key)
    }

    /// Returns what there is to tell of what happened to a resource.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the start of a resource is told with its offer")]
    pub(super) fn event(&self, link: LinkHash, event: resource::Event) -> Option<Event> {
        Some(match event {
            resource::Event::Progress { id, done, total } => {
                let Known { hash, is_ours: true } = self.known(link, id)? else { return None };
                let permille = permille(done, total);
                Event::ResourceProgress(ResourceProgress { resource: hash, permille })
            }
            resource::Event::Received { id, data, metadata, .. } => {
                Event::ResourceReceived(ResourceReceived {
                    link,
                    resource: self.known(link, id)?.hash,
                    outcome: Outcome::Complete,
                    body: Some(Fingerprint::of(&data)),
                    note: metadata.and_then(|metadata| bytes_in(&metadata, "note")),
                })
            }
            resource::Event::Sent { id, .. } => {
                let resource = self.known(link, id)?.hash;
                Event::ResourceSent(ResourceSent { resource, outcome: Outcome::Complete })
            }
            resource::Event::Failed { id, reason, .. } => {
                let Known { hash: resource, is_ours } = self.known(link, id)?;
                let outcome = outcome(reason);
                if is_ours {
                    Event::ResourceSent(ResourceSent { resource, outcome })
                } else {
                    let (body, note) = (None, None);
                    Event::ResourceReceived(ResourceReceived { link, resource, outcome, body, note })
                }
            }
            _ => return None,
        })
    }

    fn known(&self, link: LinkHash, id: ResourceId) -> Option<Known> {
        self.0.get(&(link, id)).copied()
    }
}

const fn outcome(reason: FailReason) -> Outcome {
    match reason {
        FailReason::Rejected => Outcome::Rejected,
        FailReason::Corrupt => Outcome::Corrupt,
        _ => Outcome::Failed,
    }
}
