//! Reading messages.

use core::num::NonZeroU32;
use proto_conn::{Headers, Message};
use std::ffi::c_char;

use super::{ic_kind, ic_msg, kind_to_c, message};
use crate::{
    guard::{guarded, guarded_or},
    view::{ic_slice, text, write},
};

/// Returns a message's kind: one of IC_KIND_*; IC_KIND_NONE for what is not a message.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_kind(msg: *const ic_msg) -> i32 {
    let none = ic_kind::IC_KIND_NONE as i32;
    // SAFETY: passed on.
    unsafe { ask(msg, none, |message| kind_to_c(message.kind) as i32) }
}

/// Returns a response's status code, or a close's code; 0 for others.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_status(msg: *const ic_msg) -> i32 {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| i32::from(message.status)) }
}

/// Returns a message's flags: IC_FLAG_*.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_flags(msg: *const ic_msg) -> u32 {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| message.flags.bits()) }
}

/// Returns the number of the exchange that a response answers; 0 for others.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_exchange(msg: *const ic_msg) -> u64 {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| message.exchange.map_or(0, |exchange| exchange.0.get())) }
}

/// Returns the index of the network interface by which a datagram came; 0 where it is not known.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_interface(msg: *const ic_msg) -> u32 {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| message.interface.map_or(0, NonZeroU32::get)) }
}

/// Returns when a message was complete, in ns on the clock of ic_now_ns; -1 for a message of one's own.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_received_ns(msg: *const ic_msg) -> i64 {
    // SAFETY: passed on.
    unsafe { ask(msg, -1, |message| message.received.map_or(-1, crate::time::instant)) }
}

/// Returns a request's method, such as GET. It lives until the message is changed or freed.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_method(msg: *const ic_msg) -> ic_slice {
    // SAFETY: passed on.
    unsafe { ask(msg, ic_slice::NONE, |message| ic_slice::of(message.method.name().as_bytes())) }
}

/// Returns a request's target. It lives until the message is changed or freed.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_target(msg: *const ic_msg) -> ic_slice {
    // SAFETY: passed on.
    unsafe { ask(msg, ic_slice::NONE, |message| ic_slice::of(message.target.as_bytes())) }
}

/// Returns the body. It lives until the message is changed or freed; retain the message to keep it longer.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_body(msg: *const ic_msg) -> ic_slice {
    // SAFETY: passed on.
    unsafe { ask(msg, ic_slice::NONE, |message| ic_slice::of(&message.body)) }
}

/// Returns the value of the first header field of a name, in any case of letters. Its pointer is null where there is
/// none. It lives until the message is changed or freed.
///
/// # Safety
/// `msg` is null or a message; `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_header(msg: *const ic_msg, name: *const c_char) -> ic_slice {
    // SAFETY: the caller vouches for the message and the text.
    guarded_or(ic_slice::NONE, || unsafe { Ok(first(&message(msg)?.headers, text(name)?)) })
}

/// Returns how many header fields there are.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_header_count(msg: *const ic_msg) -> usize {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| message.headers.len()) }
}

/// Tells a header field's name and value by its place, from 0. They live until the message is changed or freed.
///
/// Returns 1, or 0 where there are not so many.
///
/// # Safety
/// `msg` is null or a message; `name` and `value` point to slices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_header_at(
    msg: *const ic_msg,
    place: usize,
    name: *mut ic_slice,
    value: *mut ic_slice,
) -> i32 {
    // SAFETY: the caller vouches for the message and the slices.
    guarded_or(0, || unsafe { nth(&message(msg)?.headers, place, name, value) })
}

/// Returns the value of the first trailer field of a name, as ic_msg_header does.
///
/// # Safety
/// `msg` is null or a message; `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_trailer(msg: *const ic_msg, name: *const c_char) -> ic_slice {
    // SAFETY: the caller vouches for the message and the text.
    guarded_or(ic_slice::NONE, || unsafe { Ok(first(&message(msg)?.trailers, text(name)?)) })
}

/// Returns how many trailer fields there are.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_trailer_count(msg: *const ic_msg) -> usize {
    // SAFETY: passed on.
    unsafe { ask(msg, 0, |message| message.trailers.len()) }
}

/// Tells a trailer field's name and value, as ic_msg_header_at does.
///
/// # Safety
/// `msg` is null or a message; `name` and `value` point to slices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_trailer_at(
    msg: *const ic_msg,
    place: usize,
    name: *mut ic_slice,
    value: *mut ic_slice,
) -> i32 {
    // SAFETY: the caller vouches for the message and the slices.
    guarded_or(0, || unsafe { nth(&message(msg)?.trailers, place, name, value) })
}

/// Makes another message with the same content, which can be changed. Its body is shared.
///
/// Returns 0 and the message in `out`.
///
/// # Safety
/// `msg` is a message; `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_copy(msg: *const ic_msg, out: *mut *mut ic_msg) -> i32 {
    // SAFETY: the caller vouches for the message and the pointer.
    guarded(|| unsafe {
        let copy = message(msg)?.clone();
        write(out, core::ptr::null_mut())?;
        write(out, ic_msg::hand_out(copy, &mut None))
    })
}

/// Answers a question about a message, or says `otherwise` where it is none.
///
/// # Safety
/// `msg` is null or a message.
unsafe fn ask<T>(msg: *const ic_msg, otherwise: T, question: impl FnOnce(&Message) -> T) -> T {
    // SAFETY: passed on.
    guarded_or(otherwise, || unsafe { message(msg) }.map(question))
}

fn first(fields: &Headers, name: &str) -> ic_slice {
    fields.get(name).map_or(ic_slice::NONE, ic_slice::of)
}

/// # Safety
/// `name` and `value` point to slices.
unsafe fn nth(
    fields: &Headers,
    place: usize,
    name: *mut ic_slice,
    value: *mut ic_slice,
) -> Result<i32, proto_conn::Error> {
    let Some((found, content)) = fields.iter().nth(place) else { return Ok(0) };
    // SAFETY: passed on.
    unsafe {
        write(name, ic_slice::of(found.as_bytes()))?;
        write(value, ic_slice::of(content))?;
    }
    Ok(1)
}
