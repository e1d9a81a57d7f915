//! What a link gets to see while it is served, and how its turn ends.

use proto_core::{DownReason, Instant, LinkEvent, LinkId, Machine, StdClock};
use runtime_core::Stats;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::net::SocketAddr;

/// One round through the links that are ready.
pub(crate) struct Round<'a, M> {
    pub(crate) machine: &'a mut M,
    pub(crate) clock: &'a StdClock,
    pub(crate) now: Instant,
    pub(crate) stats: &'a mut Stats,
    /// The machine was told something.
    pub(crate) told: bool,
}

impl<M: Machine> Round<'_, M> {
    /// Tells the machine what became of a link.
    pub(super) fn tell(&mut self, link: LinkId, event: LinkEvent) {
        self.told = true;
        self.machine.handle_link(self.now, link, event);
    }

    /// Takes note that something has arrived, some time after the round began if it was waited for.
    pub(super) fn arrived(&mut self, how: How) {
        self.told = true;
        if how == How::Wait {
            self.refresh();
        }
    }

    /// Takes note that time has passed.
    #[allow(clippy::disallowed_methods, reason = "a driver reads the clock")]
    pub(super) fn refresh(&mut self) {
        self.now = self.clock.to_machine(std::time::Instant::now());
    }
}

/// How a link is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Once, and the call itself waits.
    Wait,
    /// Up to so many times, without waiting.
    Try(usize),
}

impl How {
    pub(super) const fn flags(self) -> RecvFlags {
        match self {
            Self::Wait => RecvFlags::empty(),
            Self::Try(_) => RecvFlags::DONTWAIT,
        }
    }

    pub(super) const fn reads(self) -> usize {
        match self {
            Self::Wait => 1,
            Self::Try(reads) => reads,
        }
    }
}

/// How a link's turn ended.
#[derive(Debug)]
pub(super) enum Turn {
    /// What there was is read, as far as can be told.
    Drained,
    /// There may be more.
    More,
    /// The machine wants nothing from it at present.
    HeldBack,
    /// A listener took in a stream, and there may be more.
    Accepted(Socket, Option<SocketAddr>),
    /// The link is gone and the machine must know.
    Down(DownReason),
    /// The link is gone and the machine knows.
    Over,
}

/// What is to be watched of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wants {
    /// That it can be read.
    pub read: bool,
    /// That it can be written.
    pub write: bool,
}

impl Wants {
    pub(super) const fn any(self) -> bool {
        self.read || self.write
    }
}
