//! The receive scratch for streams that the drivers of a thread share.

use std::cell::RefCell;

/// Lends out this thread's room for a piece of a stream.
pub(crate) fn with_piece<T>(act: impl FnOnce(&mut [u8]) -> T) -> T {
    thread_local! {
        static PIECE: RefCell<Box<[u8]>> = RefCell::new(vec![0; PIECE_LEN].into());
    }
    PIECE.with_borrow_mut(|piece| act(piece))
}

/// The most that is read from a stream in one turn: enough to make a system call cheap, little enough to stay in a
/// processor's cache.
pub(crate) const PIECE_LEN: usize = 128 * 1024;
