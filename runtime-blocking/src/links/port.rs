//! One link of any kind.

use proto_core::{Instant, LinkId};
use runtime_core::sockets::Lookup;
use std::os::fd::{AsFd, BorrowedFd};

use super::{datagrams::Datagrams, listener::Listener, round::Wants, stream::Stream};

/// A link and how it stands with the machine and with the set of watched descriptors.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) link: LinkId,
    pub(super) port: Port,
    /// What is watched of it.
    pub(super) watched: Wants,
    /// The machine wants nothing from it at present.
    pub(super) held_back: bool,
    /// Nothing was left to read when it was last read.
    pub(super) drained: bool,
    /// It is noted as one whose watching may have to change.
    noted: bool,
}

impl Entry {
    pub(super) fn new(link: LinkId, port: Port) -> Self {
        Self { link, port, watched: Wants::default(), held_back: false, drained: false, noted: false }
    }

    /// Notes that what is to be watched may be different from what is.
    pub(super) fn note_change(&mut self, slot: usize, changed: &mut Vec<usize>) {
        if !self.noted {
            self.noted = true;
            changed.push(slot);
        }
    }

    /// Takes the note back.
    pub(super) const fn settle_change(&mut self) {
        self.noted = false;
    }

    pub(super) fn wants(&self) -> Wants {
        match &self.port {
            Port::Stream(stream) => stream.wants(self.held_back),
            Port::Datagrams(socket) => socket.wants(self.held_back),
            Port::Listener(listener) => listener.wants(self.held_back),
            Port::Lookup { .. } => Wants::default(),
        }
    }
}

/// What a link's number stands for.
#[derive(Debug)]
pub(super) enum Port {
    Stream(Stream),
    Datagrams(Datagrams),
    Listener(Listener),
    Lookup { lookup: Lookup, until: Instant },
}

impl Port {
    /// Returns the descriptor, where the link has one.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Stream(stream) => Some(stream.socket().as_fd()),
            Self::Datagrams(socket) => Some(socket.socket().as_fd()),
            Self::Listener(listener) => Some(listener.socket().as_fd()),
            Self::Lookup { .. } => None,
        }
    }

    /// Returns when the link wants a turn even if nothing happens.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Stream(stream) => stream.deadline(),
            Self::Datagrams(socket) => socket.deadline(),
            Self::Listener(listener) => listener.deadline(),
            Self::Lookup { until, .. } => Some(*until),
        }
    }

    pub(super) fn has_unsent(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.has_unsent(),
            Self::Datagrams(socket) => socket.has_unsent(),
            Self::Listener(_) | Self::Lookup { .. } => false,
        }
    }
}
