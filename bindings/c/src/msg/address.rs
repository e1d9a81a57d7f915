//! Addresses, as text and as C's own structures.

use proto_conn::{Code, Error, Message, Phase};
use socket2::SockAddr;
use std::{
    ffi::{c_char, c_void},
    net::SocketAddr,
};

use super::{ic_msg, message};
use crate::{
    guard::guarded,
    view::{room, write},
};

/// Writes the other side's address as text, such as 192.0.2.7:80 or [fe80::1%2]:80, with a zero byte behind it. `len`
/// is told how long the text is, without that byte.
///
/// Returns 0; 1 where no address is known; or IC_E_TOO_SMALL, and `len` says how much it would have been.
///
/// # Safety
/// `msg` is a message; `buf` points to `cap` bytes, `len` to a number or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_peer_text(
    msg: *const ic_msg,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on.
    unsafe { tell_text(msg, |message| message.peer_addr, buf, cap, len) }
}

/// Writes our address as text: for a datagram the one that it was sent to, such as a group's. See ic_msg_peer_text.
///
/// # Safety
/// As for ic_msg_peer_text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_local_text(
    msg: *const ic_msg,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on.
    unsafe { tell_text(msg, |message| message.local_addr, buf, cap, len) }
}

/// Writes the other side's address as a sockaddr_in or sockaddr_in6; a sockaddr_storage has room for both. `len` is
/// told how long it is.
///
/// Returns 0; 1 where no address is known; or IC_E_TOO_SMALL, and `len` says how much it would have been.
///
/// # Safety
/// `msg` is a message; `buf` points to `cap` bytes, `len` to a number or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_peer_sockaddr(
    msg: *const ic_msg,
    buf: *mut c_void,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on.
    unsafe { tell_sockaddr(msg, |message| message.peer_addr, buf, cap, len) }
}

/// Writes our address as a sockaddr_in or sockaddr_in6. See ic_msg_peer_sockaddr.
///
/// # Safety
/// As for ic_msg_peer_sockaddr.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_msg_local_sockaddr(
    msg: *const ic_msg,
    buf: *mut c_void,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on.
    unsafe { tell_sockaddr(msg, |message| message.local_addr, buf, cap, len) }
}

/// # Safety
/// As for [`ic_msg_peer_text`].
unsafe fn tell_text(
    msg: *const ic_msg,
    which: fn(&Message) -> Option<SocketAddr>,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on.
    unsafe {
        tell(msg, which, |address| {
            let text = format!("{address}\0");
            copy_out(text.as_bytes(), text.len() - 1, buf.cast(), cap, len)
        })
    }
}

/// # Safety
/// As for [`ic_msg_peer_sockaddr`].
unsafe fn tell_sockaddr(
    msg: *const ic_msg,
    which: fn(&Message) -> Option<SocketAddr>,
    buf: *mut c_void,
    cap: usize,
    len: *mut usize,
) -> i32 {
    // SAFETY: passed on; a `SockAddr` has as many bytes as it says.
    unsafe {
        tell(msg, which, |address| {
            let address = SockAddr::from(address);
            let size = usize::try_from(address.len()).unwrap_or_default();
            let bytes = core::slice::from_raw_parts(address.as_ptr().cast::<u8>(), size);
            copy_out(bytes, size, buf.cast(), cap, len)
        })
    }
}

/// # Safety
/// `msg` is null or a message.
unsafe fn tell(
    msg: *const ic_msg,
    which: fn(&Message) -> Option<SocketAddr>,
    write: impl FnOnce(SocketAddr) -> Result<(), Error>,
) -> i32 {
    let mut is_known = true;
    let code = guarded(|| {
        // SAFETY: passed on.
        match which(unsafe { message(msg) }?) {
            Some(address) => write(address),
            None => {
                is_known = false;
                Ok(())
            }
        }
    });
    if is_known { code } else { 1 }
}

/// # Safety
/// `buf` points to `cap` bytes, `len` to a number or is null.
unsafe fn copy_out(
    bytes: &[u8],
    size: usize,
    buf: *mut u8,
    cap: usize,
    len: *mut usize,
) -> Result<(), Error> {
    // SAFETY: passed on.
    unsafe {
        if !len.is_null() {
            write(len, size)?;
        }
        let room = room(buf, cap)?.get_mut(..bytes.len());
        room.ok_or_else(|| Error::new(Code::TooSmall, Phase::Arguments))?.copy_from_slice(bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::ic_msg_free;
    use super::*;

    fn from(address: &str) -> *mut ic_msg {
        let message = Message { peer_addr: Some(address.parse().unwrap()), ..Message::datagram("x") };
        ic_msg::hand_out(message, &mut None)
    }

    #[test]
    fn an_address_is_told_as_text_and_as_bytes() {
        let msg = from("[2001:db8::7]:80");
        let (mut text, mut len) = ([0_u8; 32], 0);
        let mut raw = [0_u8; 28];
        // SAFETY: the buffers are as long as the calls say.
        unsafe {
            assert_eq!(ic_msg_peer_text(msg, text.as_mut_ptr().cast(), 32, &mut len), 0);
            assert_eq!(&text[..=len], b"[2001:db8::7]:80\0");
            assert_eq!(ic_msg_peer_text(msg, text.as_mut_ptr().cast(), 16, &mut len), Code::TooSmall as i32);
            assert_eq!(len, 16);
            assert_eq!(ic_msg_peer_sockaddr(msg, raw.as_mut_ptr().cast(), 28, &mut len), 0);
            assert_eq!((len, &raw[2..4], &raw[8..12]), (28, &[0, 80][..], &[0x20, 1, 0xd, 0xb8][..]));
            assert_eq!(ic_msg_local_text(msg, text.as_mut_ptr().cast(), 32, &mut len), 1);
            ic_msg_free(msg);
        }
    }
}
