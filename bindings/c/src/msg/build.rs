//! Making messages to send.

use bytes::Bytes;
use core::num::NonZeroU32;
use proto_conn::{Code, Error, HeaderError, Message, Method, Payload, Phase};
use std::ffi::{c_char, c_void};

use super::{IC_FLAG_ANSWER_IN_PARTS, IC_FLAG_STREAMED, ic_msg, kind_from_c, message_mut};
use crate::{
    guard::guarded,
    view::{bytes, optional_text, text, write},
};

/// Makes an HTTP request. A null `method` is GET, and a null or empty `target` is the URL's path and query.
///
/// Returns 0 and the message in `out`, which ic_msg_free ends.
///
/// # Safety
/// The texts end with a zero byte or are null; `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_new_request(
    method: *const c_char,
    target: *const c_char,
    out: *mut *mut ic_msg,
) -> i32 {
    // SAFETY: the caller vouches for the texts and the pointer.
    guarded(|| unsafe {
        let message = request(method, target)?;
        write(out, core::ptr::null_mut())?;
        write(out, ic_msg::hand_out(message, &mut None))
    })
}

/// Makes a message of another kind: IC_KIND_TEXT, IC_KIND_BINARY, IC_KIND_PING, IC_KIND_DATAGRAM.
///
/// Returns 0 and the message in `out`, which ic_msg_free ends; or IC_E_BAD_MESSAGE.
///
/// # Safety
/// `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_new(kind: i32, out: *mut *mut ic_msg) -> i32 {
    guarded(|| {
        let message = Message { kind: kind_from_c(kind)?, ..Message::default() };
        // SAFETY: the caller vouches for the pointer.
        unsafe {
            write(out, core::ptr::null_mut())?;
            write(out, ic_msg::hand_out(message, &mut None))
        }
    })
}

/// Adds a header field.
///
/// Returns 0, or IC_E_BAD_HEADER where its name or value would change the message's meaning.
///
/// # Safety
/// `msg` is a message; `name` ends with a zero byte; `value` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_add_header(
    msg: *mut ic_msg,
    name: *const c_char,
    value: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: the caller vouches for the message, the text and the bytes.
    guarded(|| unsafe {
        let (name, value) = (text(name)?, bytes(value, len)?);
        message_mut(msg)?.headers.append(name, value).map_err(|error| bad_header(name, &error))
    })
}

/// Sets the body to a copy of `len` bytes.
///
/// Returns 0, or IC_E_NO_MEMORY.
///
/// # Safety
/// `msg` is a message; `body` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_set_body(msg: *mut ic_msg, body: *const u8, len: usize) -> i32 {
    // SAFETY: the caller vouches for the message and the bytes.
    guarded(|| unsafe {
        let copy = copied(bytes(body, len)?)?;
        message_mut(msg)?.body = copy;
        Ok(())
    })
}

/// A function that is told that nobody uses memory any more.
pub type ic_release = Option<unsafe extern "C" fn(user: *mut c_void, body: *const u8, len: usize)>;

/// Sets the body to `len` bytes of the caller's, which are not copied. They must not change before `release` is called
/// with `user`; that happens once, in whatever thread lets go of them last, also where this call fails. A null
/// `release` is for bytes that live as long as the program.
///
/// `release` must not call functions of this library.
///
/// # Safety
/// `msg` is a message; `body` points to `len` bytes; `release` may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_set_body_borrowed(
    msg: *mut ic_msg,
    body: *const u8,
    len: usize,
    release: ic_release,
    user: *mut c_void,
) -> i32 {
    let borrowed = Borrowed { body, len, release, user };
    // SAFETY: the caller vouches for the message and the bytes.
    guarded(|| unsafe {
        bytes(borrowed.body, borrowed.len)?;
        let message = message_mut(msg)?;
        message.body = Bytes::from_owner(borrowed).into();
        Ok(())
    })
}

/// Sets flags: IC_FLAG_STREAMED and IC_FLAG_ANSWER_IN_PARTS can be.
///
/// Returns 0, or IC_E_BAD_MESSAGE for others.
///
/// # Safety
/// `msg` is a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_set_flags(msg: *mut ic_msg, flags: u32) -> i32 {
    use proto_conn::Flags;
    guarded(|| {
        if flags & !(IC_FLAG_STREAMED | IC_FLAG_ANSWER_IN_PARTS) != 0 {
            let detail = format!("flags {flags:#x} cannot be set");
            return Err(Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail));
        }
        let known = [Flags::STREAMED, Flags::ANSWER_IN_PARTS];
        let set = known.into_iter().filter(|flag| flags & flag.bits() != 0);
        // SAFETY: the caller vouches for the message.
        unsafe { message_mut(msg) }?.flags = set.fold(Flags::default(), Flags::with);
        Ok(())
    })
}

/// Sets the network interface by which a multicast datagram leaves, by index; 0 is all that the group was joined on.
///
/// # Safety
/// `msg` is a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_set_interface(msg: *mut ic_msg, index: u32) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the message.
        unsafe { message_mut(msg) }?.interface = NonZeroU32::new(index);
        Ok(())
    })
}

/// Makes a request of C's texts.
///
/// # Safety
/// The texts end with a zero byte or are null.
pub(crate) unsafe fn request(method: *const c_char, target: *const c_char) -> Result<Message, Error> {
    // SAFETY: passed on.
    let (method, target) = unsafe { (optional_text(method)?, optional_text(target)?) };
    let method = method.map(Method::from_name).unwrap_or_default();
    Ok(Message::request(method, target.unwrap_or_default(), Payload::new()))
}

/// Copies bytes, unless there is no memory for them.
pub(crate) fn copied(bytes: &[u8]) -> Result<Payload, Error> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Error::new(Code::NoMemory, Phase::Arguments))?;
    copy.extend_from_slice(bytes);
    Ok(copy.into())
}

pub(crate) fn bad_header(name: &str, error: &HeaderError) -> Error {
    Error::new(Code::BadHeader, Phase::Arguments).with_detail(format!("{name:?}: {error}"))
}

/// Memory of the application's.
struct Borrowed {
    body: *const u8,
    len: usize,
    release: ic_release,
    user: *mut c_void,
}

// SAFETY: the memory does not change, and the application was told that any thread may call `release`.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the application vouched for it, until `release` is called.
        unsafe { bytes(self.body, self.len) }.unwrap_or_default()
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is the application's, with what it gave for it.
            unsafe { release(self.user, self.body, self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ic_msg_free, ic_msg_retain, message};
    use super::*;

    fn new(kind: i32) -> *mut ic_msg {
        let mut msg = core::ptr::null_mut();
        // SAFETY: `msg` is a pointer to write to.
        assert_eq!(unsafe { ic_msg_new(kind, &mut msg) }, 0);
        msg
    }

    #[test]
    fn a_borrowed_body_is_released_once_however_it_ends() {
        unsafe extern "C" fn count(user: *mut c_void, _: *const u8, _: usize) {
            // SAFETY: the test gave a pointer to its counter.
            unsafe { *user.cast::<u32>() += 1 };
        }
        let (mut released, body) = (0_u32, [7; 9]);
        let user = (&raw mut released).cast();
        let msg = new(5);
        // SAFETY: body and counter outlive the message.
        unsafe {
            assert_eq!(ic_msg_set_body_borrowed(msg, body.as_ptr(), 9, Some(count), user), 0);
            assert_eq!(message(msg).unwrap().body.as_ptr(), body.as_ptr());
            ic_msg_free(ic_msg_retain(msg));
            assert_eq!(released, 0);
            ic_msg_free(msg);
            assert_eq!(released, 1);
            let refused =
                ic_msg_set_body_borrowed(core::ptr::null_mut(), body.as_ptr(), 9, Some(count), user);
            assert_eq!((refused, released), (Code::BadHandle as i32, 2));
        }
    }

    #[test]
    fn what_would_change_the_meaning_is_refused_by_name() {
        let msg = new(1);
        // SAFETY: texts and bytes are as the functions want them.
        unsafe {
            assert_eq!(ic_msg_add_header(msg, c"X-A".as_ptr(), b"1".as_ptr(), 1), 0);
            let split = b"1\r\nX-B: 2";
            let refused = ic_msg_add_header(msg, c"X-A".as_ptr(), split.as_ptr(), split.len());
            assert_eq!(refused, Code::BadHeader as i32);
            assert!(crate::guard::remembered().unwrap().detail.starts_with("\"X-A\""));
            assert_eq!(message(msg).unwrap().headers.len(), 1);
            assert_eq!(ic_msg_set_flags(msg, 1), Code::BadMessage as i32);
            assert_eq!(ic_msg_set_flags(msg, IC_FLAG_STREAMED), 0);
            assert_eq!(message(msg).unwrap().flags.bits(), IC_FLAG_STREAMED);
            ic_msg_free(msg);
        }
    }

    #[test]
    fn null_pointers_are_told_and_not_followed() {
        let null: *mut u8 = core::ptr::null_mut();
        let msg = new(5);
        // SAFETY: null pointers are what is tested.
        unsafe {
            let bad = Code::BadHandle as i32;
            assert_eq!(ic_msg_new(5, null.cast()), bad);
            assert_eq!(ic_msg_new_request(core::ptr::null(), core::ptr::null(), null.cast()), bad);
            assert_eq!(ic_msg_add_header(msg, core::ptr::null(), core::ptr::null(), 0), bad);
            assert_eq!(ic_msg_set_body(msg, core::ptr::null(), 1), bad);
            assert_eq!(ic_msg_set_body(msg, core::ptr::null(), 0), 0);
            assert_eq!(ic_msg_set_body(msg, b"".as_ptr(), usize::MAX), bad);
            ic_msg_free(msg);
        }
    }
}
