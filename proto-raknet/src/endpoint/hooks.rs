//! What an application can hang into the path of datagrams.

use alloc::boxed::Box;
use core::{fmt, net::SocketAddr};
use proto_core::Instant;

/// Whether a datagram comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// It was received.
    In,
    /// It is about to be sent.
    Out,
}

/// Says whether a received datagram may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is read.
    Pass,
    /// It is dropped and counted.
    Drop,
}

/// Judges received datagrams by source and content.
pub type DatagramFilter = Box<dyn FnMut(SocketAddr, &[u8]) -> Verdict + Send>;

/// Sees datagrams as they come and go.
pub type PacketLog = Box<dyn FnMut(Instant, Direction, SocketAddr, &[u8]) + Send>;

/// The two hooks; neither costs anything while unused.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) filter: Option<DatagramFilter>,
    pub(crate) log: Option<PacketLog>,
}

impl Hooks {
    #[inline]
    pub(crate) fn admits(&mut self, from: SocketAddr, data: &[u8]) -> bool {
        self.filter.as_mut().is_none_or(|filter| filter(from, data) == Verdict::Pass)
    }

    #[inline]
    pub(crate) fn log(&mut self, now: Instant, direction: Direction, address: SocketAddr, data: &[u8]) {
        if let Some(log) = &mut self.log {
            log(now, direction, address, data);
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("filter", &self.filter.is_some())
            .field("log", &self.log.is_some())
            .finish()
    }
}
