//! What protocols over a byte stream have in common.

use proto_core::Instant;

use crate::Outgoing;

/// A protocol's side of one byte stream, whatever carries the stream: TCP, or TLS over it.
///
/// It is fed what arrives, in pieces of any size, and leaves what is to be sent in its [`Outgoing`]. What it has to
/// tell comes from its own `poll_event`.
pub trait Talk {
    /// Takes in the next bytes, and returns how many it took. The rest is to be offered again once
    /// [`wants_input`](Self::wants_input) says so.
    fn handle_input(&mut self, now: Instant, data: &[u8]) -> usize;

    /// Takes note that nothing more arrives.
    fn handle_end(&mut self, now: Instant, end: StreamEnd);

    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// Says whether it can take input: the application has not fallen behind.
    fn wants_input(&self) -> bool;

    /// Lends the place where the next bytes belong, if those are part of a long payload: read there, they need not be
    /// copied.
    fn spare(&mut self) -> Option<&mut [u8]>;

    /// Takes note that the first `len` bytes of the lent place were filled.
    fn advance(&mut self, now: Instant, len: usize);

    /// Returns what is to be sent.
    fn outgoing(&mut self) -> &mut Outgoing;

    /// Takes note that all that was to be sent has been handed to the carrier.
    fn handle_sent(&mut self, now: Instant);

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Says whether the stream is to be closed once everything is sent.
    fn is_over(&self) -> bool;
}

/// How a stream's input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamEnd {
    /// The peer closed its side.
    Closed,
    /// The carrier is TLS, and it ended without its own goodbye: somebody may have cut it.
    Truncated,
    /// The peer reset the connection, or it broke.
    Reset,
}
