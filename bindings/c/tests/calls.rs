//! What calls do besides sending and receiving: they keep what does not fit, wait as they are told, and are woken.

#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use iolite_conn::*;
use proto_conn::Code;
use std::{
    ffi::{CStr, CString, c_char, c_void},
    ptr::{null, null_mut},
    sync::atomic::{AtomicI32, Ordering},
    time::Duration,
};
use support::echo::Echo;

const SECOND: i64 = 1_000_000_000;

/// Opens a handle.
fn open(url: &str, set: impl FnOnce(*mut ic_options)) -> *mut ic_conn {
    let url = CString::new(url).unwrap();
    let options = ic_options_new();
    set(options);
    let mut conn = null_mut();
    // SAFETY: texts end with zero bytes, and each pointer is one to write to.
    unsafe {
        assert_eq!(ic_open(url.as_ptr(), options, &mut conn, null_mut()), 0);
        ic_options_free(options);
    }
    conn
}

fn set(options: *mut ic_options, option: ic_opt, value: i64) {
    // SAFETY: they are options of this thread.
    assert_eq!(unsafe { ic_options_set_int(options, option as i32, value) }, 0);
}

fn ws(echo: &Echo) -> String {
    format!("ws://{}/", echo.stream)
}

fn send(conn: *mut ic_conn, body: &[u8]) {
    let kind = ic_kind::IC_KIND_BINARY as i32;
    // SAFETY: it is a handle of this thread, and the bytes are there.
    assert_eq!(unsafe { ic_send_bytes(conn, kind, body.as_ptr(), body.len()) }, 0);
}

/// Receives into a buffer, and returns the code and what is said of the length.
fn receive_into(conn: *mut ic_conn, buf: &mut [u8], timeout: i64) -> (i32, usize) {
    let mut len = 0;
    // SAFETY: it is a handle of this thread, and the buffer is as long as the call says.
    let code = unsafe { ic_recv_into(conn, buf.as_mut_ptr(), buf.len(), &mut len, null_mut(), timeout) };
    (code, len)
}

#[test]
fn what_does_not_fit_is_kept_and_comes_first() {
    let echo = Echo::start();
    let conn = open(&ws(&echo), |_| {});
    send(conn, b"twelve bytes");
    send(conn, b"next");
    let mut small = [0; 4];
    for _ in 0..2 {
        assert_eq!(receive_into(conn, &mut small, 5 * SECOND), (Code::TooSmall as i32, 12));
    }
    let mut large = [0; 16];
    assert_eq!(receive_into(conn, &mut large, 0), (0, 12));
    assert_eq!(&large[..12], b"twelve bytes");
    assert_eq!(receive_into(conn, &mut small, 5 * SECOND), (0, 4));
    // SAFETY: it is not used again.
    unsafe { ic_free(conn) };
}

#[test]
fn a_place_that_is_none_loses_no_message() {
    let echo = Echo::start();
    let conn = open(&ws(&echo), |_| {});
    send(conn, b"here");
    let mut info = ic_info {
        struct_size: 3,
        kind: 0,
        status: 0,
        flags: 0,
        interface_index: 0,
        reserved: 0,
        received_ns: 0,
    };
    let (mut buf, mut len, mut msg) = ([0; 8], 0, null_mut());
    // SAFETY: null pointers and a structure without its size are what is tested; the rest is as it must be.
    unsafe {
        assert_eq!(ic_recv(conn, 5 * SECOND, null_mut()), Code::BadHandle as i32);
        let wrong = ic_recv_into(conn, buf.as_mut_ptr(), 8, &mut len, &mut info, 5 * SECOND);
        assert_eq!(wrong, Code::AbiMismatch as i32);
        assert_eq!(ic_recv(conn, 5 * SECOND, &mut msg), 0);
        let body = ic_msg_body(msg);
        assert_eq!(core::slice::from_raw_parts(body.ptr, body.len), b"here");
        ic_msg_free(msg);
        ic_free(conn);
    }
}

#[test]
fn polling_returns_at_once_and_parking_at_its_deadline() {
    let echo = Echo::start();
    let conn = open(&ws(&echo), |options| {
        set(options, ic_opt::IC_OPT_RECEIVE_MODE, i64::from(ic_receive_mode::IC_RECEIVE_POLL as i32));
    });
    let mut buf = [0; 8];
    // SAFETY: it is a handle of this thread.
    unsafe {
        assert_eq!(ic_connect(conn, 5 * SECOND), 0);
        assert_eq!(receive_into(conn, &mut buf, -1).0, Code::WouldBlock as i32);
        assert_eq!(receive_into(conn, &mut buf, 0).0, Code::WouldBlock as i32);
        assert_eq!(receive_into(conn, &mut buf, 1_000_000).0, Code::TimedOut as i32);
        assert_eq!(ic_set_receive_mode(conn, 9, -1), Code::BadOption as i32);
        assert_eq!(ic_set_receive_mode(conn, ic_receive_mode::IC_RECEIVE_SPIN as i32, -1), 0);
        send(conn, b"spun");
        assert_eq!(receive_into(conn, &mut buf, 5 * SECOND), (0, 4));
        ic_free(conn);
    }
}

/// A handle in another thread.
struct Shared(*mut ic_conn);
// SAFETY: only functions that any thread may call are called with it.
unsafe impl Send for Shared {}

#[test]
#[allow(clippy::disallowed_methods, reason = "the other thread comes later")]
fn another_thread_wakes_and_cancels_a_wait() {
    let echo = Echo::start();
    let conn = open(&ws(&echo), |options| set(options, ic_opt::IC_OPT_WAKEABLE, 1));
    let mut buf = [0; 8];
    // SAFETY: it is a handle of this thread; others only wake and cancel.
    unsafe { assert_eq!(ic_connect(conn, 5 * SECOND), 0) };
    for (interrupt, code) in
        [(ic_wake as unsafe extern "C" fn(_) -> i32, Code::WouldBlock), (ic_cancel, Code::Cancelled)]
    {
        let shared = Shared(conn);
        let other = std::thread::spawn(move || {
            let shared = shared;
            std::thread::sleep(Duration::from_millis(30));
            // SAFETY: the handle lives until this thread was joined.
            unsafe { interrupt(shared.0) }
        });
        assert_eq!(receive_into(conn, &mut buf, 30 * SECOND).0, code as i32);
        assert_eq!(other.join().unwrap(), 0);
    }
    send(conn, b"still");
    assert_eq!(receive_into(conn, &mut buf, 5 * SECOND), (0, 5));
    // SAFETY: it is not used again, except to see that this is found out.
    unsafe {
        ic_free(conn);
        assert_eq!(ic_cancel(conn), Code::BadHandle as i32);
    }
}

#[test]
fn a_connection_that_is_not_wakeable_says_so() {
    let conn = open("udp://127.0.0.1:9", |_| {});
    // SAFETY: it is a handle of this thread.
    unsafe {
        assert_eq!(ic_wake(conn), Code::BadState as i32);
        ic_free(conn);
    }
}

#[test]
fn states_are_told_by_a_function_which_cannot_use_the_handle() {
    static CONN: AtomicI32 = AtomicI32::new(0);
    unsafe extern "C" fn note(user: *mut c_void, state: i32, _: *const c_char, _: usize) {
        CONN.store(state, Ordering::SeqCst);
        // SAFETY: the test gave a pointer to where its handle is.
        let conn = unsafe { *user.cast::<*mut ic_conn>() };
        if !conn.is_null() {
            // SAFETY: it is a handle; that it is in a call is what is tested.
            assert_eq!(unsafe { ic_abort(conn) }, Code::BadHandle as i32);
        }
    }
    let echo = Echo::start();
    let place: *mut *mut ic_conn = Box::into_raw(Box::new(null_mut()));
    let conn = open(&ws(&echo), |options| {
        let option = ic_opt::IC_OPT_STATE_CALLBACK as i32;
        // SAFETY: function and pointer outlive the handle.
        assert_eq!(unsafe { ic_options_set_cb(options, option, Some(note), place.cast()) }, 0);
    });
    // SAFETY: it is a handle of this thread; the place is freed once nobody uses it.
    unsafe {
        *place = conn;
        assert_eq!(ic_connect(conn, 5 * SECOND), 0);
        assert_eq!(CONN.load(Ordering::SeqCst), ic_state(conn));
        assert_eq!(ic_close(conn, 1000, c"bye".as_ptr(), 5 * SECOND), 0);
        assert_eq!(CONN.load(Ordering::SeqCst), ic_state_id::IC_STATE_CLOSED as i32);
        ic_free(conn);
        drop(Box::from_raw(place));
    }
}

#[test]
fn an_error_has_its_phase_and_the_systems_number() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let conn = open(&format!("http://{free}/"), |_| {});
    let mut error: ic_error = ic_error {
        struct_size: 280,
        code: 0,
        phase: 0,
        os_errno: 0,
        tls_alert: 0,
        http_status: 0,
        msg: [0; IC_ERROR_TEXT],
    };
    let (mut request, mut answer) = (null_mut(), null_mut());
    // SAFETY: it is a handle of this thread, the structure has its size, and each pointer is one to write to.
    unsafe {
        assert_eq!(ic_msg_new_request(null(), null(), &mut request), 0);
        assert_eq!(ic_request(conn, request, 5 * SECOND, &mut answer), Code::ConnectRefused as i32);
        assert!(answer.is_null());
        assert_eq!(ic_last_error(conn, &mut error), 0);
        let words = CStr::from_ptr(error.msg.as_ptr()).to_str().unwrap();
        assert!(words.starts_with("connect: connection refused"), "{words}");
        ic_msg_free(request);
        ic_free(conn);
    }
    let found = (error.code, error.phase, error.os_errno, error.tls_alert, error.http_status);
    assert_eq!(found, (Code::ConnectRefused as i32, ic_phase::IC_PHASE_CONNECT as i32, 111, -1, 0));
}

#[test]
fn closing_a_peer_that_is_silent_ends_at_the_deadline() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let conn = open(&format!("ws://{}/", silent.local_addr().unwrap()), |_| {});
    // SAFETY: it is a handle of this thread.
    unsafe {
        assert_eq!(ic_connect(conn, 100_000_000), Code::TimedOut as i32);
        let code = ic_close(conn, 1000, null(), 2 * SECOND);
        assert!(code <= 0, "{code}");
        assert_eq!(ic_state(conn), ic_state_id::IC_STATE_CLOSED as i32);
        assert_eq!(ic_close(conn, 1000, null(), 0), code);
        ic_free(conn);
    }
}
