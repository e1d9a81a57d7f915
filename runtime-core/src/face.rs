//! What stands between a machine and the application's tasks.

use proto_core::{Instant, Machine};

/// The application's side of a driver: it turns a machine's events into wake-ups of the right tasks.
///
/// All methods run under the driver's lock: they must be short, and a waker woken there must not call back into the
/// driver's handle.
pub trait Face<M: Machine>: Send + 'static {
    /// Takes in an event.
    fn event(&mut self, event: M::Event);

    /// Gives commands that follow from past events, before the driver sends. An event itself comes while the machine
    /// is busy.
    fn prepare(&mut self, _machine: &mut M, _now: Instant) {}

    /// Starts an orderly end, because no handle is left to give commands. The driver goes on until
    /// [`is_finished`](Self::is_finished), but at most for its linger time.
    fn abandon(&mut self, _machine: &mut M, _now: Instant) {}

    /// Says whether nothing is left to do and the driver can end.
    fn is_finished(&self, machine: &M) -> bool;

    /// Takes note that the driver ended: no task may wait any longer. What the machine still holds for the application
    /// can be taken out.
    fn stopped(&mut self, machine: &mut M);
}
