//! Functions of the application's that are told something.

use proto_conn::{client::State, tls::KeyLog};
use std::ffi::{c_char, c_void};

use crate::events::state_to_c;

/// A function that is told something: `user` is the pointer that it was given with, `what` a number and `text` of `len`
/// bytes, which depend on the option. It is called by the thread that is in a call of the handle, and must not call
/// functions on that handle.
pub type ic_callback =
    Option<unsafe extern "C" fn(user: *mut c_void, what: i32, text: *const c_char, len: usize)>;

/// A callback with its pointer.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    callback: unsafe extern "C" fn(*mut c_void, i32, *const c_char, usize),
    user: *mut c_void,
}

// SAFETY: the pointer is only handed back to the application, which was told in which threads that happens.
unsafe impl Send for Observer {}
// SAFETY: as above.
unsafe impl Sync for Observer {}

impl Observer {
    pub(super) fn new(callback: ic_callback, user: *mut c_void) -> Option<Self> {
        callback.map(|callback| Self { callback, user })
    }

    /// Tells of another state.
    pub(crate) fn tell(&self, before: State, after: State) {
        if before != after {
            self.call(state_to_c(after) as i32, "");
        }
    }

    pub(super) fn into_key_log(self) -> KeyLog {
        KeyLog::new(move |line| self.call(0, line))
    }

    fn call(&self, what: i32, text: &str) {
        // SAFETY: the application gave both for this.
        unsafe { (self.callback)(self.user, what, text.as_ptr().cast(), text.len()) };
    }
}
