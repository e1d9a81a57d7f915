//! The life of a connection, and messages on it.

use core::num::NonZeroU64;
use proto_conn::{Code, Error, ExchangeId, Message, Phase, Url};
use runtime_blocking::conn::Connection;
use std::ffi::c_char;

use crate::{
    error::ic_error,
    guard::{caught, guarded_or, remember},
    handle::{Inner, entered, free, ic_conn, peeked},
    msg::{ic_msg, message, released},
    options::{ic_options, mode_from_c, prepared},
    time::{nanoseconds, timeout},
    versioned::Versioned,
    view::{bytes, optional_text, text, write},
};

/// Makes a connection to a URL of one of the schemes http, https, ws, wss, udp and udp_multicast. Nothing is opened
/// before ic_connect or the first message. Null `options` are the defaults; they are not needed any more afterwards.
///
/// Returns 0 and the handle in `out`, which ic_free ends; or a code, and more in `error`, which may be null.
///
/// # Safety
/// `url` ends with a zero byte; `options` is null or from ic_options_new; `out` points to a pointer; `error` is null or
/// points to an ic_error with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_open(
    url: *const c_char,
    options: *const ic_options,
    out: *mut *mut ic_conn,
    error: *mut ic_error,
) -> i32 {
    // SAFETY: the caller vouches for the pointers.
    let opened = caught(|| unsafe {
        write(out, core::ptr::null_mut())?;
        write(out, open(text(url)?, options)?)
    });
    let Err(why) = opened else { return 0 };
    let code = why.code as i32;
    if !error.is_null() {
        // SAFETY: the caller vouches for the structure; where its size is wrong, the code is told all the same.
        let _ = unsafe { ic_error::of(Some(&why)).fill(error) };
    }
    remember(why);
    code
}

/// # Safety
/// `options` is null or from [`ic_options_new`](crate::ic_options_new).
unsafe fn open(url: &str, options: *const ic_options) -> Result<*mut ic_conn, Error> {
    let parsed = Url::parse(url).map_err(|error| {
        Error::new(Code::BadUrl, Phase::Arguments).with_detail(format!("{url:?}: {error}"))
    })?;
    // SAFETY: passed on.
    let prepared = unsafe { prepared(options, &parsed) }?;
    let mut connection = Connection::open_url(parsed, prepared.options)?;
    connection.set_receive_mode(prepared.mode);
    let waker = if prepared.is_wakeable { Some(connection.waker()?) } else { None };
    Ok(ic_conn::create(Inner::new(connection, prepared.is_polled, prepared.observer), waker))
}

/// Opens the connection and waits until it is ready for messages. The first message opens it as well.
///
/// Returns 0, or what went wrong; IC_E_TIMED_OUT at the deadline, after which opening goes on.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_connect(conn: *mut ic_conn, timeout_ns: i64) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe { entered(conn, |inner| inner.connection.connect(timeout(timeout_ns))) }
}

/// Sends a message, or takes it to be sent as soon as the connection is open. The message stays the caller's, and can
/// be sent again. `exchange`, unless it is null, is told the number of a request's exchange, for ic_answer.
///
/// Returns 0; IC_E_WOULD_BLOCK where too many wait; or why the message cannot be sent.
///
/// # Safety
/// `conn` is a handle, `msg` a message; `exchange` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_send(conn: *mut ic_conn, msg: *const ic_msg, exchange: *mut u64) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointers.
    unsafe {
        entered(conn, |inner| {
            let number = inner.connection.send(message(msg)?.clone())?;
            if exchange.is_null() {
                return Ok(());
            }
            write(exchange, number.map_or(0, |number| number.0.get()))
        })
    }
}

/// Receives the next message: a response, a WebSocket message, a datagram.
///
/// Returns 0 and the message in `out`, which ic_msg_free or ic_recycle ends; IC_E_TIMED_OUT at the deadline;
/// IC_E_WOULD_BLOCK where nothing is there and the deadline is 0; IC_E_BAD_STATE after a close in good order; or what
/// went wrong.
///
/// # Safety
/// `conn` is a handle; `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_recv(conn: *mut ic_conn, timeout_ns: i64, out: *mut *mut ic_msg) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointer.
    unsafe { receive(conn, out, |inner| inner.receive(timeout_ns)) }
}

/// Sends a message and receives what answers it: a request's response, or the next WebSocket message or datagram. The
/// request stays the caller's, and can be sent again. It is withdrawn at the deadline.
///
/// Returns as ic_send and ic_recv do.
///
/// # Safety
/// `conn` is a handle, `msg` a message; `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_request(
    conn: *mut ic_conn,
    msg: *const ic_msg,
    timeout_ns: i64,
    out: *mut *mut ic_msg,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointers.
    unsafe {
        receive(conn, out, |inner| inner.connection.request(message(msg)?.clone(), timeout(timeout_ns)))
    }
}

/// Receives the response of an exchange that ic_send began, or with exchange 0 the next WebSocket message or datagram.
/// The exchange goes on at the deadline, and can be waited for again.
///
/// Returns as ic_recv does.
///
/// # Safety
/// `conn` is a handle; `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_answer(
    conn: *mut ic_conn,
    exchange: u64,
    timeout_ns: i64,
    out: *mut *mut ic_msg,
) -> i32 {
    let exchange = NonZeroU64::new(exchange).map(ExchangeId);
    // SAFETY: the caller vouches for the handle and the pointer.
    unsafe { receive(conn, out, |inner| inner.connection.answer(exchange, inner.patience(timeout_ns))) }
}

/// Withdraws an exchange that ic_send began: nobody wants its response any more.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_withdraw(conn: *mut ic_conn, exchange: u64) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe {
        entered(conn, |inner| {
            if let Some(exchange) = NonZeroU64::new(exchange) {
                inner.connection.withdraw(ExchangeId(exchange));
            }
            Ok(())
        })
    }
}

/// Frees a message and leaves its memory to the connection, which makes the next one cheaper. Null is fine.
///
/// # Safety
/// `conn` is a handle, `msg` null or a message that its caller does not use again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_recycle(conn: *mut ic_conn, msg: *mut ic_msg) -> i32 {
    // SAFETY: the caller vouches for the handle and the message.
    unsafe {
        entered(conn, |inner| {
            if msg.is_null() {
                return Ok(());
            }
            if let Some(mut shell) = released(msg)? {
                inner.connection.recycle(shell.take());
                inner.spare = Some(shell);
            }
            Ok(())
        })
    }
}

/// Closes the connection and waits for the end, at most until the deadline: a WebSocket until the peer has agreed.
/// `code` is the WebSocket close code, such as 1000; `reason` may be null.
///
/// Returns 0; IC_E_TIMED_OUT at the deadline, after which ic_abort or ic_free ends it; or how it ended.
///
/// # Safety
/// `conn` is a handle; `reason` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_close(
    conn: *mut ic_conn,
    code: i32,
    reason: *const c_char,
    timeout_ns: i64,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the text.
    unsafe {
        entered(conn, |inner| {
            let (code, reason) = parting_words(code, reason)?;
            inner.connection.close(code, reason, timeout(timeout_ns)).map(|_| ())
        })
    }
}

/// Ends the connection at once, without a word to the peer. The handle remains, to be freed.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_abort(conn: *mut ic_conn) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe {
        entered(conn, |inner| {
            inner.connection.abort();
            Ok(())
        })
    }
}

/// Ends a handle, and its connection at once. Messages that came from it stay. Null is fine.
///
/// A second call, or another call with a handle that was freed lately, does no harm: it is IC_E_BAD_HANDLE.
///
/// # Safety
/// `conn` is null or a handle that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_free(conn: *mut ic_conn) {
    // SAFETY: passed on.
    guarded_or((), || unsafe { free(conn) });
}

/// Sets how calls wait: `mode` is one of IC_RECEIVE_*; less than 0 for `spin_ns` is 50 us.
///
/// # Safety
/// `conn` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_set_receive_mode(conn: *mut ic_conn, mode: i32, spin_ns: i64) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe {
        entered(conn, |inner| {
            let (mode, is_polled) = mode_from_c(mode, spin_ns)?;
            inner.connection.set_receive_mode(mode);
            inner.is_polled = is_polled;
            Ok(())
        })
    }
}

/// Returns how long the last ping of a WebSocket took to be answered, in ns; -1 where none was.
///
/// # Safety
/// `conn` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_rtt_ns(conn: *const ic_conn) -> i64 {
    // SAFETY: passed on.
    guarded_or(-1, || unsafe {
        peeked(conn, |inner| inner.connection.machine().rtt().map_or(-1, nanoseconds))
    })
}

/// Returns how many datagrams were dropped because the application did not take them.
///
/// # Safety
/// `conn` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_dropped_datagrams(conn: *const ic_conn) -> u64 {
    // SAFETY: passed on.
    guarded_or(0, || unsafe { peeked(conn, |inner| inner.connection.machine().dropped_datagrams()) })
}

/// Reads what a close tells the peer.
///
/// # Safety
/// `reason` is null or ends with a zero byte.
pub(crate) unsafe fn parting_words<'a>(code: i32, reason: *const c_char) -> Result<(u16, &'a str), Error> {
    let wrong = |_| Error::new(Code::BadMessage, Phase::Arguments).with_detail("not a close code");
    let code = u16::try_from(code).map_err(wrong)?;
    // SAFETY: passed on.
    Ok((code, unsafe { optional_text(reason) }?.unwrap_or_default()))
}

/// Receives a message into a pointer of C's.
///
/// # Safety
/// `conn` is null or a handle; `out` is null or points to a pointer.
unsafe fn receive(
    conn: *mut ic_conn,
    out: *mut *mut ic_msg,
    receive: impl FnOnce(&mut Inner) -> Result<Message, Error>,
) -> i32 {
    // SAFETY: passed on.
    unsafe {
        entered(conn, |inner| {
            // A message must not be lost for want of a place.
            write(out, core::ptr::null_mut())?;
            let message = receive(inner)?;
            write(out, ic_msg::hand_out(message, &mut inner.spare))
        })
    }
}

impl Inner {
    /// Returns the message that was kept, or the next one.
    pub(crate) fn receive(&mut self, timeout_ns: i64) -> Result<Message, Error> {
        if let Some(kept) = self.kept.take() {
            return Ok(kept);
        }
        let patience = self.patience(timeout_ns);
        self.connection.recv(patience).map_err(|error| {
            let is_poll = patience.is_some_and(|patience| patience.is_zero());
            let code = if is_poll && error.code == Code::TimedOut { Code::WouldBlock } else { error.code };
            Error { code, ..error }
        })
    }
}

/// Reads the bytes that are to be sent into memory that is used again and again.
///
/// # Safety
/// `ptr` points to `len` bytes.
pub(crate) unsafe fn pooled(
    inner: &mut Inner,
    ptr: *const u8,
    len: usize,
) -> Result<proto_conn::Payload, Error> {
    // SAFETY: passed on.
    let bytes = unsafe { bytes(ptr, len) }?;
    if bytes.is_empty() {
        return Ok(proto_conn::Payload::new());
    }
    let mut filling = inner.pool.fill(bytes.len());
    filling.extend(bytes);
    Ok(filling.finish(&mut inner.pool))
}
