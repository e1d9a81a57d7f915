//! A test's own choice of what is lost.

use crate::node::NodeId;
use std::fmt;

/// A function that picks the datagrams to lose, by sender, receiver and payload.
pub(crate) struct Picker(Box<Picks>);

type Picks = dyn FnMut(NodeId, NodeId, &[u8]) -> bool;

impl Picker {
    pub(crate) fn new(picks: impl FnMut(NodeId, NodeId, &[u8]) -> bool + 'static) -> Self {
        Self(Box::new(picks))
    }

    pub(crate) fn picks(&mut self, from: NodeId, to: NodeId, data: &[u8]) -> bool {
        (self.0)(from, to, data)
    }
}

impl fmt::Debug for Picker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Picker")
    }
}
