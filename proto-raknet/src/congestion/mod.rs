//! Congestion control: how many bytes may be in flight.

mod cubic;
mod fixed;
mod sliding_window;

use alloc::boxed::Box;
use core::{fmt::Debug, time::Duration};
use proto_core::Instant;

use crate::Congestion;
use cubic::Cubic;
use fixed::Fixed;
use sliding_window::SlidingWindow;

/// A rule for the congestion window.
///
/// One controller serves one session. Bytes are those of whole datagrams, without IP and UDP headers.
pub(crate) trait Controller: Debug + Send {
    /// Takes note of an acknowledged datagram.
    fn on_ack(&mut self, now: Instant, ack: Acked);

    /// Takes note of a lost datagram that was sent at `sent_at`.
    fn on_loss(&mut self, now: Instant, sent_at: Instant);

    /// Takes note that nothing was acknowledged for several probe timeouts.
    fn on_timeout(&mut self, now: Instant);

    /// Returns the window in bytes.
    fn window(&self) -> usize;

    /// Says whether sending at the window's pace spreads it over the round trip.
    fn wants_pacing(&self) -> bool {
        true
    }
}

/// An acknowledged datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// When it was sent.
    pub(crate) sent_at: Instant,
    /// Its size in bytes.
    pub(crate) bytes: usize,
    /// The smoothed round-trip time.
    pub(crate) rtt: Duration,
    /// Whether the window was what limited the sender of late; otherwise it says nothing about the path.
    pub(crate) window_limited: bool,
}

/// Creates the controller of a session whose datagrams hold up to `datagram` bytes.
pub(crate) fn controller(kind: Congestion, datagram: usize) -> Box<dyn Controller> {
    match kind {
        Congestion::Cubic => Box::new(Cubic::new(datagram)),
        Congestion::SlidingWindow => Box::new(SlidingWindow::new(datagram)),
        Congestion::Fixed(window) => Box::new(Fixed(window.max(datagram))),
    }
}

/// Returns a window as a number of bytes.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float-to-int cast saturates, and a window is never negative"
)]
const fn whole_bytes(window: f64) -> usize {
    window as usize
}
