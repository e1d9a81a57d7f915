//! The send scratch that the drivers of a thread share.

use std::cell::Cell;

/// Lends out this thread's buffer for the bytes of one transmit after the other.
pub(super) fn with_scratch<T>(act: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    thread_local! {
        static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut scratch = SCRATCH.take();
    let result = act(&mut scratch);
    SCRATCH.set(scratch);
    result
}
