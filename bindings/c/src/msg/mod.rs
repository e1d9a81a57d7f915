//! Messages, for C.

mod address;
mod build;
mod read;

pub use address::*;
pub use build::*;
pub use read::*;

use proto_conn::{Code, Error, Flags, Kind, Message, Phase};
use std::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{guard::guarded_or, handle::Graves};

/// A message: a request or response, a WebSocket message, a datagram. It may have several holders, in several threads;
/// only somebody who is alone with it may change it.
#[derive(Debug)]
pub struct ic_msg {
    tag: AtomicU32,
    holders: AtomicU32,
    message: UnsafeCell<Message>,
}

// SAFETY: a message is only changed while it has a single holder; otherwise it is only read.
unsafe impl Send for ic_msg {}
// SAFETY: as above.
unsafe impl Sync for ic_msg {}

/// The kinds of message. Numbers from 10 on are free for later ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_kind {
    /// Not a message.
    IC_KIND_NONE = 0,
    /// An HTTP request.
    IC_KIND_REQUEST = 1,
    /// A final HTTP response.
    IC_KIND_RESPONSE = 2,
    /// An interim HTTP response (1xx).
    IC_KIND_INFORMATIONAL = 3,
    /// A WebSocket text message: UTF-8.
    IC_KIND_TEXT = 4,
    /// A WebSocket binary message.
    IC_KIND_BINARY = 5,
    /// A WebSocket ping.
    IC_KIND_PING = 6,
    /// A WebSocket pong.
    IC_KIND_PONG = 7,
    /// The end of a WebSocket connection.
    IC_KIND_CLOSE = 8,
    /// A UDP datagram.
    IC_KIND_DATAGRAM = 9,
}

/// Flag: the datagram was longer than the buffer; its end is missing.
pub const IC_FLAG_TRUNCATED: u32 = 1;
/// Flag: the last part of a message that was handed out in parts.
pub const IC_FLAG_FIN: u32 = 2;
/// Flag: the payload travelled compressed.
pub const IC_FLAG_COMPRESSED: u32 = 4;
/// Flag: the answer to a request that was sent a second time.
pub const IC_FLAG_FROM_RETRY: u32 = 8;
/// Flag: the body ended with the connection, for want of another mark.
pub const IC_FLAG_BODY_BY_CLOSE: u32 = 16;
/// Flag: the answer came from another place than the one asked, after at least one redirect.
pub const IC_FLAG_REDIRECTED: u32 = 32;
/// Flag: the body follows in parts. Set it on a request whose body is sent by ic_send_part.
pub const IC_FLAG_STREAMED: u32 = 64;
/// Flag: the body of the answer to this request is to come in parts, as events.
pub const IC_FLAG_ANSWER_IN_PARTS: u32 = 128;

const _: () = assert!(
    IC_FLAG_TRUNCATED == Flags::TRUNCATED.bits()
        && IC_FLAG_FIN == Flags::FIN.bits()
        && IC_FLAG_COMPRESSED == Flags::COMPRESSED.bits()
        && IC_FLAG_FROM_RETRY == Flags::FROM_RETRY.bits()
        && IC_FLAG_BODY_BY_CLOSE == Flags::BODY_BY_CLOSE.bits()
        && IC_FLAG_REDIRECTED == Flags::REDIRECTED.bits()
        && IC_FLAG_STREAMED == Flags::STREAMED.bits()
        && IC_FLAG_ANSWER_IN_PARTS == Flags::ANSWER_IN_PARTS.bits()
);

const ALIVE: u32 = 0x4943_4d53;
const FREED: u32 = 0x6963_6d73;

/// Takes part in holding a message: it lives until each holder has freed it.
///
/// Returns the message, or a null pointer where `msg` is not one.
///
/// # Safety
/// `msg` is null or a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_retain(msg: *mut ic_msg) -> *mut ic_msg {
    guarded_or(core::ptr::null_mut(), || {
        // SAFETY: passed on.
        let held = unsafe { held(msg) }?;
        held.holders.fetch_add(1, Ordering::Relaxed);
        Ok(msg)
    })
}

/// Ends holding a message. What its accessors returned is gone with the last holder. Null is fine.
///
/// # Safety
/// `msg` is null or a message, and its caller does not use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_free(msg: *mut ic_msg) {
    guarded_or((), || {
        if msg.is_null() {
            return Ok(());
        }
        // SAFETY: passed on.
        if let Some(shell) = unsafe { released(msg) }? {
            shell.bury();
        }
        Ok(())
    });
}

impl ic_msg {
    /// Hands a message to C, in a shell that was given back if there is one.
    pub(crate) fn hand_out(message: Message, spare: &mut Option<Box<Self>>) -> *mut Self {
        let shell = match spare.take() {
            Some(mut shell) => {
                *shell.tag.get_mut() = ALIVE;
                *shell.holders.get_mut() = 1;
                *shell.message.get_mut() = message;
                shell
            }
            None => Box::new(Self {
                tag: AtomicU32::new(ALIVE),
                holders: AtomicU32::new(1),
                message: UnsafeCell::new(message),
            }),
        };
        Box::into_raw(shell)
    }

    /// Takes the message out of a shell that nobody holds.
    pub(crate) fn take(&mut self) -> Message {
        core::mem::take(self.message.get_mut())
    }

    fn bury(mut self: Box<Self>) {
        drop(self.take());
        if cfg!(debug_assertions) {
            GRAVES.bury(self);
        }
    }
}

/// Reads a message that C holds.
///
/// # Safety
/// `msg` is null or a message that is not changed or freed while the result is used.
pub(crate) unsafe fn message<'a>(msg: *const ic_msg) -> Result<&'a Message, Error> {
    // SAFETY: passed on; while it is read, nobody changes it.
    unsafe { Ok(&*held(msg)?.message.get()) }
}

/// Changes a message that has one holder.
///
/// # Safety
/// `msg` is null or a message that nobody else uses while the result is used.
unsafe fn message_mut<'a>(msg: *mut ic_msg) -> Result<&'a mut Message, Error> {
    // SAFETY: passed on.
    let held = unsafe { held(msg) }?;
    if held.holders.load(Ordering::Acquire) != 1 {
        let detail = "a message with several holders cannot be changed";
        return Err(Error::new(Code::BadState, Phase::Arguments).with_detail(detail));
    }
    // SAFETY: the caller is its only holder.
    unsafe { Ok(&mut *held.message.get()) }
}

/// Ends one holder's part, and returns the shell if that was the last.
///
/// # Safety
/// `msg` is a message, and its caller does not use it again.
pub(crate) unsafe fn released(msg: *mut ic_msg) -> Result<Option<Box<ic_msg>>, Error> {
    // SAFETY: passed on.
    let shell = unsafe { held(msg) }?;
    if shell.holders.fetch_sub(1, Ordering::AcqRel) != 1 {
        return Ok(None);
    }
    shell.tag.store(FREED, Ordering::Release);
    // SAFETY: `hand_out` made it, and that was the last holder.
    Ok(Some(unsafe { Box::from_raw(msg) }))
}

/// # Safety
/// `msg` is null or a message, or was one and is among the last that were freed in a debug build.
unsafe fn held<'a>(msg: *const ic_msg) -> Result<&'a ic_msg, Error> {
    let bad = |detail: &str| Error::new(Code::BadHandle, Phase::Arguments).with_detail(detail);
    if msg.is_null() || !msg.is_aligned() {
        return Err(bad("not a message"));
    }
    // SAFETY: the caller vouches for the memory.
    let msg = unsafe { &*msg };
    match msg.tag.load(Ordering::Acquire) {
        ALIVE => Ok(msg),
        FREED => Err(bad("the message was freed")),
        _ => Err(bad("not a message")),
    }
}

/// Turns a kind into C's.
pub(crate) const fn kind_to_c(kind: Kind) -> ic_kind {
    match kind {
        Kind::Request => ic_kind::IC_KIND_REQUEST,
        Kind::Response => ic_kind::IC_KIND_RESPONSE,
        Kind::Informational => ic_kind::IC_KIND_INFORMATIONAL,
        Kind::Text => ic_kind::IC_KIND_TEXT,
        Kind::Binary => ic_kind::IC_KIND_BINARY,
        Kind::Ping => ic_kind::IC_KIND_PING,
        Kind::Pong => ic_kind::IC_KIND_PONG,
        Kind::Close => ic_kind::IC_KIND_CLOSE,
        Kind::Datagram => ic_kind::IC_KIND_DATAGRAM,
    }
}

/// Reads a kind that C gave.
pub(crate) fn kind_from_c(number: i32) -> Result<Kind, Error> {
    const KINDS: [Kind; 9] = [
        Kind::Request,
        Kind::Response,
        Kind::Informational,
        Kind::Text,
        Kind::Binary,
        Kind::Ping,
        Kind::Pong,
        Kind::Close,
        Kind::Datagram,
    ];
    let kind = KINDS.into_iter().find(|kind| kind_to_c(*kind) as i32 == number);
    kind.ok_or_else(|| {
        let detail = format!("{number} is not a kind of message");
        Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail)
    })
}

static GRAVES: Graves<ic_msg> = Graves::new();

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> *mut ic_msg {
        ic_msg::hand_out(Message::text("hello"), &mut None)
    }

    #[test]
    fn a_message_lives_until_its_last_holder_frees_it() {
        let msg = new();
        // SAFETY: it is held as often as it is freed.
        unsafe {
            assert_eq!(ic_msg_retain(msg), msg);
            assert_eq!(message_mut(msg).unwrap_err().code, Code::BadState);
            ic_msg_free(msg);
            assert_eq!(&*message(msg).unwrap().body, b"hello");
            assert!(message_mut(msg).is_ok());
            ic_msg_free(msg);
        }
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_debug_build_finds_a_message_that_was_freed() {
        let msg = new();
        // SAFETY: a debug build keeps the shells of what was freed last.
        unsafe {
            ic_msg_free(msg);
            assert_eq!(message(msg).unwrap_err().detail, "the message was freed");
            assert!(ic_msg_retain(msg).is_null());
            ic_msg_free(msg);
        }
    }

    #[test]
    fn kinds_have_numbers() {
        for number in 1..=9 {
            assert_eq!(kind_to_c(kind_from_c(number).unwrap()) as i32, number);
        }
        assert!(kind_from_c(0).is_err() && kind_from_c(10).is_err());
    }
}
