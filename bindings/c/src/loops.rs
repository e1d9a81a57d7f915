//! Event loops of the application's own, and other threads.

use runtime_blocking::Wants;
use std::os::fd::AsRawFd as _;

use crate::{
    guard::{guarded, guarded_or},
    handle::{CANCEL, WAKE, entered, entered_for, ic_conn, peeked, shared},
    time::{instant, nanoseconds},
};

/// Bit of ic_wants: watch the descriptor for reading.
pub const IC_WANTS_READ: i32 = 1;
/// Bit of ic_wants: watch the descriptor for writing.
pub const IC_WANTS_WRITE: i32 = 2;

/// Returns the descriptor to watch: when it is ready for what ic_wants says, or after ic_next_timeout_ns, call
/// ic_process, and then take what there is with ic_recv or ic_next_event and a deadline of 0. The descriptor may become
/// another with any call: ask for all three again.
///
/// Returns a descriptor, which stays the library's, or a negative code.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_fd(conn: *mut ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    let fd = unsafe { entered_for(conn, |inner| inner.connection.fd().map(|fd| fd.as_raw_fd())) };
    fd.unwrap_or_else(|code| code)
}

/// Returns what ic_fd is to be watched for: IC_WANTS_READ and IC_WANTS_WRITE; or a negative code.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_wants(conn: *mut ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    let wants = unsafe { entered_for(conn, |inner| Ok(inner.connection.wants())) };
    wants.map_or_else(
        |code| code,
        |Wants { read, write }| {
            (if read { IC_WANTS_READ } else { 0 }) | (if write { IC_WANTS_WRITE } else { 0 })
        },
    )
}

/// Returns after how many ns ic_process is due even if the descriptor stays silent: 0 for now, -1 for never.
///
/// # Safety
/// `conn` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_next_timeout_ns(conn: *const ic_conn) -> i64 {
    // SAFETY: passed on.
    guarded_or(-1, || unsafe {
        peeked(conn, |inner| {
            if inner.kept.is_some() { 0 } else { inner.connection.next_timeout().map_or(-1, nanoseconds) }
        })
    })
}

/// Does what can be done without waiting.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_process(conn: *mut ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe { entered(conn, |inner| inner.connection.process()) }
}

/// Begins opening the connection, without waiting: for event loops. A message opens it as well.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_begin(conn: *mut ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe { entered(conn, |inner| inner.connection.begin()) }
}

/// Begins closing, without waiting: for event loops. The event IC_EVENT_CLOSED tells the end.
///
/// # Safety
/// `conn` is a handle; `reason` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_begin_close(
    conn: *mut ic_conn,
    code: i32,
    reason: *const core::ffi::c_char,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the text.
    unsafe {
        entered(conn, |inner| {
            let (code, reason) = crate::calls::parting_words(code, reason)?;
            inner.connection.begin_close(code, reason)
        })
    }
}

/// Has the call that waits on the handle, or the next one that would, return IC_E_WOULD_BLOCK as if its deadline had
/// come. Any thread may call it, as long as the handle is not freed. The handle needs IC_OPT_WAKEABLE.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_wake(conn: *const ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    guarded(|| unsafe { shared(conn) }?.ask(WAKE))
}

/// Has the call that waits on the handle, or the next one that would, return IC_E_CANCELLED. Any thread may call it, as
/// long as the handle is not freed. The handle needs IC_OPT_WAKEABLE.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_cancel(conn: *const ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    guarded(|| unsafe { shared(conn) }?.ask(CANCEL))
}

/// Returns the time on the connection's own clock, in ns since it was made; -1 for what is not a handle.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_now_ns(conn: *mut ic_conn) -> i64 {
    // SAFETY: the caller vouches for the handle.
    unsafe { entered_for(conn, |inner| Ok(instant(inner.connection.now()))) }.unwrap_or(-1)
}
