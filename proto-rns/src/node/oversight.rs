//! What those who look after a node ask and change, beside the tables that the router shows.

use super::Node;
use crate::{DestinationHash, IdentityHash, transport::Refusal};
use alloc::string::String;
use core::time::Duration;
use proto_core::UnixTime;

impl Node {
    /// Returns how long the first node on the path to a destination may take.
    pub fn first_hop_timeout(&self, destination: DestinationHash) -> Duration {
        self.router.first_hop_timeout(destination, &self.interfaces)
    }

    /// Returns how long it may take to find a path through the slowest interface.
    pub fn medium_path_timeout(&self) -> Duration {
        self.router.medium_path_timeout(&self.interfaces)
    }

    /// Notes that a destination did not answer: an announce of the same time by a longer way may replace its path. False
    /// when there is none.
    pub fn mark_unresponsive(&mut self, destination: DestinationHash) -> bool {
        self.router.mark_unresponsive(destination);
        self.router.path(destination).is_some()
    }

    /// Forgets the announces that wait for their turn to be passed on.
    pub fn drop_announce_queues(&mut self) {
        self.router.drop_announce_queues();
    }

    /// Refuses an identity on behalf of this node's owner and forgets the paths to its destinations. False when it is
    /// refused already, or there is no room.
    pub fn refuse(
        &mut self,
        identity: IdentityHash,
        until: Option<UnixTime>,
        reason: Option<String>,
    ) -> bool {
        let is_new = !self.router.blackhole().is_refused(identity, self.core.wall());
        is_new && self.router.refuse(identity, Refusal { source: self.transport_id(), until, reason })
    }

    /// Accepts an identity again. False when it was not refused.
    pub fn accept_again(&mut self, identity: IdentityHash) -> bool {
        self.router.blackhole_mut().remove(identity).is_some()
    }

    /// Refuses the identities on a list that another node published. Returns how many were not refused before, `None`
    /// when it is no list.
    pub fn refuse_listed(&mut self, list: &[u8], source: IdentityHash) -> Option<usize> {
        self.router.refuse_listed(list, source).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        IdentityHash,
        node::{Node, NodeConfig, Tools},
        transport::Blackhole,
    };
    use core::time::Duration;
    use proto_core::{Instant, UnixTime};

    fn node() -> Node {
        let wall = UnixTime::new(Duration::from_secs(1_000));
        Node::new(NodeConfig::default(), Tools::default(), None, [7; 32], Instant::ZERO, wall).unwrap()
    }

    #[test]
    fn an_identity_is_refused_once_until_it_is_accepted_again() {
        let (mut node, identity) = (node(), IdentityHash::new([1; 16]));
        assert!(node.refuse(identity, None, Some("spam".into())));
        assert!(!node.refuse(identity, None, None));
        let (_, refusal) = node.router().blackhole().iter().next().unwrap();
        assert_eq!(refusal.source, node.transport_id());
        assert!(node.accept_again(identity));
        assert!(!node.accept_again(identity));
    }

    #[test]
    fn a_destination_without_a_path_cannot_be_unresponsive() {
        assert!(!node().mark_unresponsive(crate::DestinationHash::new([1; 16])));
    }

    #[test]
    fn a_refusal_whose_time_is_over_can_be_made_anew() {
        let (mut node, identity) = (node(), IdentityHash::new([1; 16]));
        let past = UnixTime::new(Duration::from_secs(999));
        assert!(node.refuse(identity, Some(past), None));
        assert!(node.refuse(identity, None, None));
    }

    #[test]
    fn a_published_list_is_refused_in_its_source_s_name() {
        let (mut publisher, mut reader) = (node(), node());
        publisher.refuse(IdentityHash::new([1; 16]), None, None);
        let source = publisher.transport_id();
        let list = Blackhole::encode(publisher.router().blackhole(), source);
        assert_eq!(reader.refuse_listed(&list, source), Some(1));
        assert_eq!(reader.refuse_listed(&list, source), Some(0));
        assert_eq!(reader.refuse_listed(&list[..list.len() - 1], source), None);
    }
}
