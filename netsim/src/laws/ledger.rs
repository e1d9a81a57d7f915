//! What a driver has told a machine about its links, to check what leaves against it.

use super::{Law, Violation};
use proto_core::{LinkEvent, LinkId, LinkRequest, Transmit};
use std::{collections::BTreeSet, num::NonZeroUsize};

/// The links that are blocked, down or in use, as the machine knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    blocked: BTreeSet<LinkId>,
    down: BTreeSet<LinkId>,
    in_use: BTreeSet<LinkId>,
}

impl Ledger {
    /// Takes note of what the machine is told.
    pub(crate) fn note_event(&mut self, link: LinkId, event: &LinkEvent) {
        match event {
            LinkEvent::Up { .. } | LinkEvent::Accepted { .. } => {
                self.down.remove(&link);
                self.in_use.insert(link);
            }
            LinkEvent::Blocked => self.note_blocked(link),
            LinkEvent::Writable => {
                self.blocked.remove(&link);
            }
            LinkEvent::Down(_) => {
                self.release(link);
                self.down.insert(link);
            }
            LinkEvent::Resolved { .. } => self.release(link),
            LinkEvent::Eof | LinkEvent::TooBig { .. } | _ => {}
        }
    }

    /// Takes note that a transmit filled the link's device.
    pub(crate) fn note_blocked(&mut self, link: LinkId) {
        self.blocked.insert(link);
    }

    /// Checks that a number is not given twice.
    pub(crate) fn check_request(&mut self, request: &LinkRequest) -> Result<(), Violation> {
        let LinkRequest::Open { link, .. } = request else { return Ok(()) };
        if !self.in_use.insert(*link) {
            let what = format!("{link:?} is opened again before its close was seen");
            return Err(Violation::new(Law::RespectsDown, what));
        }
        self.down.remove(link);
        Ok(())
    }

    /// Checks that a transmit is what it says and that its link takes it.
    pub(crate) fn check_transmit(
        &self,
        transmit: &Transmit,
        bytes: &[u8],
        max_segments: NonZeroUsize,
    ) -> Result<(), Violation> {
        let link = transmit.link;
        if bytes.len() != transmit.len {
            let what = format!("a transmit of {} bytes says it has {}", bytes.len(), transmit.len);
            return Err(Violation::new(Law::TellsLengths, what));
        }
        if transmit.segments() > max_segments.get() {
            let what = format!("{} segments where {max_segments} were allowed", transmit.segments());
            return Err(Violation::new(Law::TellsLengths, what));
        }
        if self.blocked.contains(&link) {
            return Err(Violation::new(
                Law::RespectsBlocked,
                format!("a transmit for {link:?}, which is blocked"),
            ));
        }
        if self.down.contains(&link) {
            return Err(Violation::new(Law::RespectsDown, format!("a transmit for {link:?}, which is down")));
        }
        Ok(())
    }

    fn release(&mut self, link: LinkId) {
        self.blocked.remove(&link);
        self.in_use.remove(&link);
    }
}
