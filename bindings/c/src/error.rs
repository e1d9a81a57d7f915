//! What went wrong, for C.

use proto_conn::{Code, Error};
use std::{
    collections::BTreeMap,
    ffi::{CString, c_char},
    sync::LazyLock,
};

use crate::{
    guard::{guarded, remembered},
    handle::{ic_conn, peeked},
    versioned::Versioned,
};

/// The phase in which something went wrong. Numbers from 12 on are free for later ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_phase {
    /// There is no error.
    IC_PHASE_NONE = 0,
    /// Reading the URL, option or message that the application gave.
    IC_PHASE_ARGUMENTS = 1,
    /// Finding the addresses of a name.
    IC_PHASE_RESOLVE = 2,
    /// Connecting.
    IC_PHASE_CONNECT = 3,
    /// Opening a tunnel through a proxy.
    IC_PHASE_PROXY = 4,
    /// The TLS handshake.
    IC_PHASE_TLS = 5,
    /// The WebSocket handshake.
    IC_PHASE_UPGRADE = 6,
    /// Sending a message.
    IC_PHASE_SEND = 7,
    /// Waiting for the first byte of an answer.
    IC_PHASE_FIRST_BYTE = 8,
    /// Receiving a message.
    IC_PHASE_RECEIVE = 9,
    /// Between messages.
    IC_PHASE_IDLE = 10,
    /// Closing.
    IC_PHASE_CLOSE = 11,
}

/// What went wrong. Set `struct_size` to sizeof(ic_error) before it is given to a function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ic_error {
    /// The size of this structure as the caller knows it.
    pub struct_size: u32,
    /// What happened: 0 for nothing, or one of IC_E_*.
    pub code: i32,
    /// While doing what: one of IC_PHASE_*.
    pub phase: i32,
    /// The operating system's error number; 0 where there was none.
    pub os_errno: i32,
    /// The TLS alert that the peer sent (RFC 8446, section 6); -1 where there was none.
    pub tls_alert: i32,
    /// The HTTP status that said no; 0 where there was none.
    pub http_status: i32,
    /// A sentence for a person, which ends with a zero byte; cut off where it is too long.
    pub msg: [c_char; IC_ERROR_TEXT],
}

/// Bytes of the sentence in an ic_error, with the zero byte at its end.
pub const IC_ERROR_TEXT: usize = 256;

// SAFETY: it is `repr(C)`, begins with its size, and has numbers only.
unsafe impl Versioned for ic_error {
    const FIRST_SIZE: usize = 24 + IC_ERROR_TEXT;
}

impl ic_error {
    pub(crate) fn of(error: Option<&Error>) -> Self {
        let Some(error) = error else {
            return Self {
                struct_size: 0,
                code: 0,
                phase: ic_phase::IC_PHASE_NONE as i32,
                os_errno: 0,
                tls_alert: -1,
                http_status: 0,
                msg: [0; IC_ERROR_TEXT],
            };
        };
        Self {
            code: error.code as i32,
            phase: error.phase as i32,
            os_errno: error.os.unwrap_or(0),
            tls_alert: error.alert.map_or(-1, i32::from),
            http_status: error.status.map_or(0, i32::from),
            msg: sentence(&error.to_string()),
            ..Self::of(None)
        }
    }
}

/// Tells the last error of a handle; with a null pointer, the last error of a call in this thread that had no handle,
/// such as those on options and messages. What succeeds leaves the last error as it is.
///
/// Returns 0, also where there was no error: its code is 0 then.
///
/// # Safety
/// `conn` is null, or a handle that is not used by another thread meanwhile; `out` points to an ic_error with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_last_error(conn: *const ic_conn, out: *mut ic_error) -> i32 {
    if conn.is_null() {
        return guarded(|| {
            let error = ic_error::of(remembered().as_ref());
            // SAFETY: the caller vouches for the structure.
            unsafe { error.fill(out) }
        });
    }
    // SAFETY: the caller vouches for the handle and the structure.
    guarded(|| unsafe { peeked(conn, |inner| ic_error::of(inner.last.as_ref()))?.fill(out) })
}

/// Returns a code in words, as text that lives as long as the program. 0 is "no error".
#[unsafe(no_mangle)]
pub extern "C" fn ic_strerror(code: i32) -> *const c_char {
    let unknown = || c"an unknown error".as_ptr();
    match code {
        0 => c"no error".as_ptr(),
        _ => TEXTS.get(&code).map_or_else(unknown, |text| text.as_ptr()),
    }
}

/// Returns a phase in words, as text that lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn ic_phase_name(phase: i32) -> *const c_char {
    const NAMES: [&core::ffi::CStr; 12] = [
        c"none",
        c"arguments",
        c"resolve",
        c"connect",
        c"proxy",
        c"tls",
        c"upgrade",
        c"send",
        c"first byte",
        c"receive",
        c"idle",
        c"close",
    ];
    let name = usize::try_from(phase).ok().and_then(|phase| NAMES.get(phase));
    name.map_or(c"unknown".as_ptr(), |name| name.as_ptr())
}

/// Says whether trying again later may help: 1 or 0. What is wrong with a URL, a certificate or a message stays wrong.
#[unsafe(no_mangle)]
pub extern "C" fn ic_is_transient(code: i32) -> i32 {
    let is_transient = |known: &&Code| **known as i32 == code && known.is_transient();
    i32::from(Code::ALL.iter().any(|known| is_transient(&known)))
}

/// The codes' texts with zero bytes.
static TEXTS: LazyLock<BTreeMap<i32, CString>> = LazyLock::new(|| {
    let text = |code: &Code| Some((*code as i32, CString::new(code.text()).ok()?));
    Code::ALL.iter().filter_map(text).collect()
});

/// Cuts a text to its room, between characters, and ends it with a zero byte.
fn sentence(text: &str) -> [c_char; IC_ERROR_TEXT] {
    let ends = text.char_indices().map(|(start, character)| start + character.len_utf8());
    let end = ends.take_while(|end| *end < IC_ERROR_TEXT).last().unwrap_or(0);
    let mut sentence = [0; IC_ERROR_TEXT];
    for (to, from) in sentence.iter_mut().zip(text.bytes().take(end)) {
        // A zero byte in the text would end it early.
        *to = if from == 0 { b' ' } else { from }.cast_signed();
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_conn::Phase;
    use std::ffi::CStr;

    fn read(text: *const c_char) -> &'static str {
        // SAFETY: the functions return texts that end with a zero byte and live for ever.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap()
    }

    #[test]
    fn every_code_has_words() {
        assert_eq!(read(ic_strerror(0)), "no error");
        assert_eq!(read(ic_strerror(5)), "an unknown error");
        for code in Code::ALL {
            assert_eq!(read(ic_strerror(*code as i32)), code.text());
            assert_eq!(ic_is_transient(*code as i32) == 1, code.is_transient());
        }
    }

    #[test]
    fn phases_have_the_numbers_and_names_of_the_machine() {
        let phases = [
            (Phase::Arguments, ic_phase::IC_PHASE_ARGUMENTS),
            (Phase::Resolve, ic_phase::IC_PHASE_RESOLVE),
            (Phase::Connect, ic_phase::IC_PHASE_CONNECT),
            (Phase::Proxy, ic_phase::IC_PHASE_PROXY),
            (Phase::Tls, ic_phase::IC_PHASE_TLS),
            (Phase::Upgrade, ic_phase::IC_PHASE_UPGRADE),
            (Phase::Send, ic_phase::IC_PHASE_SEND),
            (Phase::FirstByte, ic_phase::IC_PHASE_FIRST_BYTE),
            (Phase::Receive, ic_phase::IC_PHASE_RECEIVE),
            (Phase::Idle, ic_phase::IC_PHASE_IDLE),
            (Phase::Close, ic_phase::IC_PHASE_CLOSE),
        ];
        for (phase, c) in phases {
            assert_eq!(phase as i32, c as i32);
            assert_eq!(read(ic_phase_name(c as i32)), phase.to_string());
        }
        assert_eq!((read(ic_phase_name(-1)), read(ic_phase_name(12))), ("unknown", "unknown"));
    }

    #[test]
    fn a_long_sentence_is_cut_between_characters() {
        let error = Error::new(Code::BadUrl, Phase::Arguments).with_detail("ä".repeat(300));
        let told = ic_error::of(Some(&error));
        let bytes: Vec<u8> = told.msg.iter().map(|c| c.cast_unsigned()).collect();
        let text = CStr::from_bytes_until_nul(&bytes).unwrap().to_str().unwrap();
        assert!(text.len() >= IC_ERROR_TEXT - 3 && error.to_string().starts_with(text));
    }
}
