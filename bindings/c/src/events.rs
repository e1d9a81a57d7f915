//! Everything that a connection tells, not only messages; and bodies in parts.

use proto_conn::{
    Error, Kind, Message, Payload,
    client::{Closed, Event, State},
};

use crate::{
    error::ic_error,
    guard::guarded_or,
    handle::{Inner, entered, ic_conn, peeked},
    msg::{copied, ic_msg, message},
    time::{nanoseconds, timeout},
    versioned::Versioned,
    view::{bytes, write},
};

/// The states of a connection. Numbers from 11 on are free for later ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_state_id {
    /// Nothing is open. The next message opens it.
    IC_STATE_IDLE = 0,
    /// Asking for the addresses of a name.
    IC_STATE_RESOLVING = 1,
    /// Connecting to addresses.
    IC_STATE_CONNECTING = 2,
    /// Asking a proxy for a tunnel.
    IC_STATE_PROXY_TUNNEL = 3,
    /// In the TLS handshake.
    IC_STATE_TLS_HANDSHAKE = 4,
    /// Ready for HTTP exchanges.
    IC_STATE_HTTP_READY = 5,
    /// In the WebSocket handshake.
    IC_STATE_WS_UPGRADING = 6,
    /// Open for WebSocket messages or datagrams.
    IC_STATE_OPEN = 7,
    /// Waiting before another attempt.
    IC_STATE_WAITING = 8,
    /// Closing.
    IC_STATE_CLOSING = 9,
    /// Closed for good.
    IC_STATE_CLOSED = 10,
}

/// What an event tells. Numbers from 9 on are free for later ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_event_kind {
    /// Nothing happened.
    IC_EVENT_NONE = 0,
    /// The connection is in another state: `state`.
    IC_EVENT_STATE = 1,
    /// A message came: `msg`, which is the caller's to free.
    IC_EVENT_MESSAGE = 2,
    /// A part of a streamed body came: the body of `msg`, which is the caller's to free.
    IC_EVENT_PART = 3,
    /// A streamed body ended: `msg`, which is the caller's to free, has the trailer fields.
    IC_EVENT_END = 4,
    /// There is room for more after IC_E_WOULD_BLOCK.
    IC_EVENT_WRITABLE = 5,
    /// An exchange failed: `exchange` and `error`; exchange 0 is what belongs to none, such as a datagram that nobody
    /// took.
    IC_EVENT_FAILED = 6,
    /// The connection is made again after `after_ns`, the `attempt`th time, because of `error`.
    IC_EVENT_RECONNECTING = 7,
    /// The connection is closed for good: `close_code`, and `error`, whose code is 0 for a close in good order.
    IC_EVENT_CLOSED = 8,
}

/// An event. Set `struct_size` to sizeof(ic_event), and that of `error` to sizeof(ic_error), before it is given to
/// ic_next_event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ic_event {
    /// The size of this structure as the caller knows it.
    pub struct_size: u32,
    /// What it tells: one of IC_EVENT_*. The fields that it does not name have no meaning.
    pub kind: i32,
    /// The connection's state: one of IC_STATE_*.
    pub state: i32,
    /// The WebSocket close code: 1005 for none, 1006 for an end without one.
    pub close_code: i32,
    /// A message, to be freed.
    pub msg: *mut ic_msg,
    /// An exchange.
    pub exchange: u64,
    /// A time.
    pub after_ns: i64,
    /// A number of attempts.
    pub attempt: u32,
    /// Room for later fields.
    pub reserved: u32,
    /// What went wrong.
    pub error: ic_error,
}

// SAFETY: it is `repr(C)`, begins with its size, and has numbers and pointers only.
unsafe impl Versioned for ic_event {
    const FIRST_SIZE: usize = size_of::<Self>();
}

impl ic_event {
    fn of(event: Option<Event>, state: State, spare: &mut Option<Box<ic_msg>>) -> Self {
        use ic_event_kind as K;
        let mut hand_out = |message| ic_msg::hand_out(message, spare);
        let plain = |kind: K| Self { kind: kind as i32, ..Self::new(state) };
        match event {
            None => plain(K::IC_EVENT_NONE),
            Some(Event::State(state)) => Self { kind: K::IC_EVENT_STATE as i32, ..Self::new(state) },
            Some(Event::Message(message)) => Self { msg: hand_out(message), ..plain(K::IC_EVENT_MESSAGE) },
            Some(Event::Part(body)) => {
                let part = Message { kind: Kind::Response, body, ..Message::default() };
                Self { msg: hand_out(part), ..plain(K::IC_EVENT_PART) }
            }
            Some(Event::End(trailers)) => {
                let end = Message { kind: Kind::Response, trailers, ..Message::default() };
                Self { msg: hand_out(end), ..plain(K::IC_EVENT_END) }
            }
            Some(Event::Writable) => plain(K::IC_EVENT_WRITABLE),
            Some(Event::Failed { exchange, error }) => Self {
                exchange: exchange.map_or(0, |exchange| exchange.0.get()),
                error: ic_error::of(Some(&error)),
                ..plain(K::IC_EVENT_FAILED)
            },
            Some(Event::Reconnecting { after, attempt, error }) => Self {
                after_ns: nanoseconds(after),
                attempt,
                error: ic_error::of(Some(&error)),
                ..plain(K::IC_EVENT_RECONNECTING)
            },
            Some(Event::Closed(closed)) => Self {
                close_code: i32::from(closed.code),
                error: ic_error::of(closed.error.as_ref()),
                ..plain(K::IC_EVENT_CLOSED)
            },
        }
    }

    fn new(state: State) -> Self {
        Self {
            struct_size: 0,
            kind: 0,
            state: state_to_c(state) as i32,
            close_code: 0,
            msg: core::ptr::null_mut(),
            exchange: 0,
            after_ns: 0,
            attempt: 0,
            reserved: 0,
            error: ic_error {
                struct_size: u32::try_from(size_of::<ic_error>()).unwrap_or(u32::MAX),
                ..ic_error::of(None)
            },
        }
    }
}

/// Tells the next event of any kind. Whoever takes events this way takes messages this way, too.
///
/// Returns 0, and IC_EVENT_NONE where none came by the deadline.
///
/// # Safety
/// `conn` is a handle; `out` points to an ic_event with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_next_event(conn: *mut ic_conn, timeout_ns: i64, out: *mut ic_event) -> i32 {
    // SAFETY: the caller vouches for the handle and the structure.
    unsafe {
        entered(conn, |inner| {
            // A structure that is too small is found out before an event is lost.
            ic_event::new(State::Idle).fill(out)?;
            let event = match inner.kept.take() {
                Some(message) => Some(Event::Message(message)),
                None => inner.connection.event(inner.patience(timeout_ns))?,
            };
            let state = inner.connection.state();
            ic_event::of(event, state, &mut inner.spare).fill(out)
        })
    }
}

/// Sends a part of the body of the request with IC_FLAG_STREAMED that was sent last. The bytes are copied.
///
/// Returns 0, or IC_E_TIMED_OUT where the peer did not take what was sent before: the part was not sent then.
///
/// # Safety
/// `conn` is a handle; `part` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_send_part(
    conn: *mut ic_conn,
    part: *const u8,
    len: usize,
    timeout_ns: i64,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the bytes.
    unsafe {
        entered(conn, |inner| {
            let part: Payload = copied(bytes(part, len)?)?;
            inner.connection.send_part(&part, timeout(timeout_ns))
        })
    }
}

/// Ends the body of a streamed request. The header fields of `trailers` follow it; null is none.
///
/// # Safety
/// `conn` is a handle; `trailers` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_finish_body(conn: *mut ic_conn, trailers: *const ic_msg, timeout_ns: i64) -> i32 {
    // SAFETY: the caller vouches for the handle and the message.
    unsafe {
        entered(conn, |inner| {
            let none = Message::default();
            let trailers = if trailers.is_null() { &none } else { message(trailers)? };
            inner.connection.finish_body(&trailers.headers, timeout(timeout_ns))
        })
    }
}

/// Returns the state: one of IC_STATE_*; IC_STATE_CLOSED for what is not a handle.
///
/// # Safety
/// `conn` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_state(conn: *const ic_conn) -> i32 {
    let closed = ic_state_id::IC_STATE_CLOSED as i32;
    // SAFETY: passed on.
    guarded_or(closed, || unsafe { peeked(conn, |inner| state_to_c(inner.connection.state()) as i32) })
}

/// Tells how the connection ended: the WebSocket close code, and in `reason` the peer's words or ours as a message
/// whose body they are, which is the caller's to free; `reason` may be null.
///
/// Returns 1, or 0 where it has not ended.
///
/// # Safety
/// `conn` is a handle; `close_code` points to a number; `reason` is null or points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_closed(
    conn: *const ic_conn,
    close_code: *mut i32,
    reason: *mut *mut ic_msg,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointers.
    guarded_or(0, || unsafe {
        let Some(closed) = peeked(conn, |inner| inner.connection.closed().cloned())? else { return Ok(0) };
        tell_end(closed, close_code, reason)
    })
}

/// # Safety
/// As for [`ic_closed`].
unsafe fn tell_end(closed: Closed, close_code: *mut i32, reason: *mut *mut ic_msg) -> Result<i32, Error> {
    let words =
        Message { kind: Kind::Close, status: closed.code, body: closed.reason.into(), ..Message::default() };
    // SAFETY: passed on.
    unsafe {
        write(close_code, i32::from(closed.code))?;
        if !reason.is_null() {
            write(reason, ic_msg::hand_out(words, &mut None))?;
        }
    }
    Ok(1)
}

impl Inner {
    /// Reads a deadline of a call that receives.
    pub(crate) fn patience(&self, timeout_ns: i64) -> Option<core::time::Duration> {
        timeout(if self.is_polled && timeout_ns < 0 { 0 } else { timeout_ns })
    }
}

/// Turns a state into C's.
pub(crate) const fn state_to_c(state: State) -> ic_state_id {
    match state {
        State::Idle => ic_state_id::IC_STATE_IDLE,
        State::Resolving => ic_state_id::IC_STATE_RESOLVING,
        State::Connecting => ic_state_id::IC_STATE_CONNECTING,
        State::ProxyTunnel => ic_state_id::IC_STATE_PROXY_TUNNEL,
        State::TlsHandshake => ic_state_id::IC_STATE_TLS_HANDSHAKE,
        State::HttpReady => ic_state_id::IC_STATE_HTTP_READY,
        State::WsUpgrading => ic_state_id::IC_STATE_WS_UPGRADING,
        State::Open => ic_state_id::IC_STATE_OPEN,
        State::Waiting => ic_state_id::IC_STATE_WAITING,
        State::Closing => ic_state_id::IC_STATE_CLOSING,
        State::Closed => ic_state_id::IC_STATE_CLOSED,
    }
}
