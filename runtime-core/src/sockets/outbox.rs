//! What sending leaves behind: counts, and events for the machine.

use proto_core::{LinkEvent, LinkId};
use std::io;

use crate::Stats;

/// Where a link puts its counts and reports while it sends.
#[derive(Debug)]
pub struct Outbox<'a> {
    /// The driver's counters.
    pub stats: &'a mut Stats,
    /// What the machine is to be told once the transmit is done.
    pub reports: &'a mut Vec<(LinkId, LinkEvent)>,
}

impl Outbox<'_> {
    /// Counts one system call that sent `bytes` in datagrams of `segment`.
    pub fn count_sent(&mut self, bytes: usize, segment: usize) {
        let datagrams = bytes.div_ceil(segment.max(1)).max(1);
        self.stats.sent.add(datagrams, bytes);
        if datagrams > 1 {
            self.stats.segmented_sends = self.stats.segmented_sends.wrapping_add(1);
        }
    }

    /// Counts a run of datagrams that has to be repeated one by one.
    pub(super) const fn count_refused_run(&mut self) {
        self.stats.refused_segmentations = self.stats.refused_segmentations.wrapping_add(1);
    }

    /// Counts a datagram that was dropped, or a stream that ended, for `error`.
    pub fn count_error(&mut self, error: &io::Error) {
        self.stats.count_send_error(error);
    }

    /// Counts a link that has no room.
    pub const fn count_blocked(&mut self) {
        self.stats.blocked = self.stats.blocked.wrapping_add(1);
    }

    /// Notes an event for the machine; one that repeats the last is left out.
    pub fn report(&mut self, link: LinkId, event: LinkEvent) {
        if self.reports.last().is_none_or(|last| *last != (link, event.clone())) {
            self.reports.push((link, event));
        }
    }
}
