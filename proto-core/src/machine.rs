//! The trait that every protocol implements.

use crate::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, Transmit};
use alloc::vec::Vec;
use bytes::Bytes;
use core::num::NonZeroUsize;

/// A protocol as a pure state machine.
///
/// Inputs never fail: a peer's fault becomes an event or a counter. Commands are inherent methods of the
/// implementor with `Result`s of their own; after a command the machine must be drained, as after any input.
/// Use [`pump`](crate::pump) for that.
///
/// # Laws
///
/// `netsim::laws` checks these for every machine.
///
/// 1. After any `handle_*` or command, draining until every `poll_*` is `None` ends in bounded steps.
/// 2. `poll_transmit` appends exactly `len` bytes; with `segment = s` every datagram but the last is `s` long,
///    and there are at most `max_segments` of them.
/// 3. No spin: after `handle_timeout(now)` and a full drain `poll_timeout()` is `None` or later than `now`.
/// 4. An early or repeated `handle_timeout` does nothing; time going backwards counts as the last time seen.
/// 5. Any bytes, any link, any order of calls: no panic, bounded memory.
/// 6. After `Blocked` on a link nothing leaves for it until `Writable`; other links are unaffected.
/// 7. Any chunking of the same stream bytes gives the same events and the same final state, limits included.
/// 8. The same seed and the same inputs give the same outputs, byte for byte.
/// 9. Event queues are bounded; when one is full, `wants_read` is false or a documented drop counter rises.
/// 10. After `Down` nothing leaves for that link; an id is not reused before its close was seen.
pub trait Machine {
    /// What the machine tells the application.
    type Event;

    /// Takes in one datagram from a datagram link.
    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>);

    /// Takes in the next bytes of a stream link. Machines without stream links ignore them.
    fn handle_stream(&mut self, _now: Instant, _link: LinkId, _data: &mut [u8]) {}

    /// Takes note of a change in a link's life.
    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent);

    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next request about links.
    fn poll_link(&mut self) -> Option<LinkRequest> {
        None
    }

    /// Appends the next bytes to send to `buf`, at most `max_segments` datagrams for one destination.
    fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<Transmit>;

    /// Returns the next event for the application.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns when [`handle_timeout`](Self::handle_timeout) must be called next. Costs O(1).
    fn poll_timeout(&self) -> Option<Instant>;

    /// Says whether the machine can take more input from `link` now. A driver leaves the bytes with the operating
    /// system while it cannot.
    fn wants_read(&self, _link: LinkId) -> bool {
        true
    }

    /// Moves owned pieces that follow the stream transmit just polled into `pieces`.
    ///
    /// Together with the bytes appended to the buffer they form one write, which a driver can hand to the
    /// operating system as a gather list instead of copying a large body. The default has none.
    fn poll_gather(&mut self, _pieces: &mut Vec<Bytes>) {}

    /// Lends the buffer into which the next bytes of a stream link are to be read.
    ///
    /// A driver that uses it reports the count through [`handle_filled`](Self::handle_filled) instead of calling
    /// [`handle_stream`](Self::handle_stream). The default lends nothing.
    fn recv_buffer(&mut self, _link: LinkId) -> Option<&mut [u8]> {
        None
    }

    /// Takes note that the first `len` bytes of the lent buffer were filled.
    fn handle_filled(&mut self, _now: Instant, _link: LinkId, _len: usize) {}
}
