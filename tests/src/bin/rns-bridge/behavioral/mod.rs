//! Commands for one node with interfaces of the suite's hand.

use crate::call::{Answer, Params};

/// The nodes that the suite started.
#[derive(Debug, Default)]
pub(crate) struct Behavioral {}

impl Behavioral {
    /// Answers a command, named without the family; `None` for one that is not known.
    pub(crate) fn answer(&mut self, _command: &str, _params: Params<'_>) -> Option<Answer> {
        None
    }
}
