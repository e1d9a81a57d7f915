//! What the links of a driver get to see while they are served.

use proto_core::{DownReason, Instant, LinkEvent, LinkId, Machine};

use super::listener::Accepted;
use crate::shared::Shared;

/// One round through the links that are ready.
pub(super) struct Round<'a, M, F> {
    pub(super) shared: &'a Shared<M, F>,
    pub(super) now: Instant,
    /// Room for what a machine did not lend a buffer for.
    pub(super) piece: &'a mut [u8],
    /// How much was read.
    pub(super) bytes: usize,
    /// The machine was told something.
    pub(super) any: bool,
    /// Streams that were taken in and are to become links.
    pub(super) accepted: Vec<Accepted>,
}

/// How a link's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is woken when there is something to do.
    Asleep,
    /// There is something to do at once, but others come first.
    Again,
    /// The machine wants nothing from it at present.
    HeldBack,
    /// The link is gone and the machine must know.
    Down(DownReason),
    /// The link is gone and the machine knows.
    Over,
}

impl<M: Machine, F> Round<'_, M, F> {
    /// Tells the machine what became of a link.
    pub(super) fn tell(&mut self, link: LinkId, event: LinkEvent) {
        self.any = true;
        self.shared.lock().machine.handle_link(self.now, link, event);
    }
}
