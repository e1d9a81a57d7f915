//! The flags of system calls on sockets.

use std::ffi::c_int;

/// Sending never waits, whatever mode the socket is in; and writing to a peer that is gone is an error, not the end of a
/// process that is not of Rust.
#[cfg(all(unix, not(target_vendor = "apple")))]
pub(super) const SEND: c_int = {
    use rustix::net::SendFlags;
    (SendFlags::DONTWAIT.bits() | SendFlags::NOSIGNAL.bits()).cast_signed()
};

/// Apple's systems have that signal turned off for the socket.
#[cfg(target_vendor = "apple")]
pub(super) const SEND: c_int = rustix::net::SendFlags::DONTWAIT.bits().cast_signed();

/// Other systems have neither; their sockets stay non-blocking.
#[cfg(not(unix))]
pub(super) const SEND: c_int = 0;
