//! Calls that go from the caller's memory to the caller's memory, and allocate nothing in the long run.

use core::num::NonZeroU32;
use proto_conn::{Code, Error, Message, Phase};
use std::ffi::c_char;

use crate::{
    calls::pooled,
    handle::{Inner, entered, ic_conn},
    msg::{kind_from_c, kind_to_c, request},
    time::{instant, timeout},
    versioned::Versioned,
    view::{room, write},
};

/// What is to be known of a message whose body was copied. Set `struct_size` to sizeof(ic_info).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ic_info {
    /// The size of this structure as the caller knows it.
    pub struct_size: u32,
    /// One of IC_KIND_*.
    pub kind: i32,
    /// A response's status, or a close's code.
    pub status: i32,
    /// IC_FLAG_*.
    pub flags: u32,
    /// The index of the network interface by which a datagram came; 0 where it is not known.
    pub interface_index: u32,
    /// Room for later fields.
    pub reserved: u32,
    /// When it was complete, in ns on the clock of ic_now_ns.
    pub received_ns: i64,
}

// SAFETY: it is `repr(C)`, begins with its size, and has numbers only.
unsafe impl Versioned for ic_info {
    const FIRST_SIZE: usize = size_of::<Self>();
}

impl ic_info {
    fn of(message: &Message) -> Self {
        Self {
            struct_size: 0,
            kind: kind_to_c(message.kind) as i32,
            status: i32::from(message.status),
            flags: message.flags.bits(),
            interface_index: message.interface.map_or(0, NonZeroU32::get),
            reserved: 0,
            received_ns: message.received.map_or(-1, instant),
        }
    }
}

/// Sends a WebSocket message or datagram: `kind` is IC_KIND_TEXT, IC_KIND_BINARY, IC_KIND_PING or IC_KIND_DATAGRAM. The
/// bytes are copied.
///
/// Returns as ic_send does.
///
/// # Safety
/// `conn` is a handle; `body` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_send_bytes(conn: *mut ic_conn, kind: i32, body: *const u8, len: usize) -> i32 {
    // SAFETY: the caller vouches for the handle and the bytes.
    unsafe {
        entered(conn, |inner| {
            let kind = kind_from_c(kind)?;
            let body = pooled(inner, body, len)?;
            inner.connection.send(Message { kind, body, ..Message::default() }).map(|_| ())
        })
    }
}

/// Receives the next message and copies its body to `buf`, which has `cap` bytes. `len` is told how long the body is;
/// `info`, unless it is null, what else is known.
///
/// Returns as ic_recv does, and IC_E_TOO_SMALL: the message is kept, `len` says how much it needs.
///
/// # Safety
/// `conn` is a handle; `buf` points to `cap` bytes, `len` to a number; `info` is null or points to an ic_info with its
/// size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_recv_into(
    conn: *mut ic_conn,
    buf: *mut u8,
    cap: usize,
    len: *mut usize,
    info: *mut ic_info,
    timeout_ns: i64,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointers.
    unsafe {
        entered(conn, |inner| {
            let place = Place::new(buf, cap, len, info)?;
            let message = inner.receive(timeout_ns)?;
            place.put(inner, message)
        })
    }
}

/// Sends an HTTP request and copies the body of its response to `buf`, as ic_recv_into does. A null `method` is GET, and
/// a null `target` the URL's. The request is withdrawn at the deadline.
///
/// Returns as ic_request does, and IC_E_TOO_SMALL: the response is kept for ic_recv or ic_recv_into, `len` says how much
/// it needs.
///
/// # Safety
/// `conn` is a handle; `method` and `target` are null or end with a zero byte; `body` points to `body_len` bytes; the
/// rest is as for ic_recv_into.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_request_into(
    conn: *mut ic_conn,
    method: *const c_char,
    target: *const c_char,
    body: *const u8,
    body_len: usize,
    buf: *mut u8,
    cap: usize,
    len: *mut usize,
    info: *mut ic_info,
    timeout_ns: i64,
) -> i32 {
    // SAFETY: the caller vouches for the handle and the pointers.
    unsafe {
        entered(conn, |inner| {
            let place = Place::new(buf, cap, len, info)?;
            let mut message = request(method, target)?;
            message.body = pooled(inner, body, body_len)?;
            let answer = inner.connection.request(message, timeout(timeout_ns))?;
            place.put(inner, answer)
        })
    }
}

/// Where a message's body goes.
struct Place<'a> {
    room: &'a mut [u8],
    len: *mut usize,
    info: *mut ic_info,
}

impl Place<'_> {
    /// # Safety
    /// As for [`ic_recv_into`].
    unsafe fn new(buf: *mut u8, cap: usize, len: *mut usize, info: *mut ic_info) -> Result<Self, Error> {
        // SAFETY: passed on.
        unsafe {
            write(len, 0)?;
            Ok(Self { room: room(buf, cap)?, len, info })
        }
    }

    /// Copies the body, or keeps the message.
    ///
    /// # Safety
    /// As for [`ic_recv_into`].
    unsafe fn put(self, inner: &mut Inner, message: Message) -> Result<(), Error> {
        let size = message.body.len();
        // SAFETY: passed on.
        unsafe { write(self.len, size) }?;
        let Some(room) = self.room.get_mut(..size) else {
            inner.kept = Some(message);
            let detail = format!("the message has {size} bytes");
            return Err(Error::new(Code::TooSmall, Phase::Receive).with_detail(detail));
        };
        if !self.info.is_null() {
            // SAFETY: passed on.
            if let Err(error) = unsafe { ic_info::of(&message).fill(self.info) } {
                inner.kept = Some(message);
                return Err(error);
            }
        }
        room.copy_from_slice(&message.body);
        inner.connection.recycle(message);
        Ok(())
    }
}
