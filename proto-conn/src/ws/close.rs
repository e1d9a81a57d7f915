//! The payload of close frames (RFC 6455 §5.5.1, §7.4).

use alloc::{string::String, vec::Vec};

use super::{failure::Failure, frame::MAX_CONTROL};
use crate::{Code, Error, Phase};

/// What a close frame without a code counts as (RFC 6455 §7.1.5). It is never sent.
pub const NO_STATUS: u16 = 1005;

/// What a connection that ended without a close frame counts as (RFC 6455 §7.1.5). It is never sent.
pub const ABNORMAL: u16 = 1006;

/// Why a side closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reason {
    /// [`NO_STATUS`] if none was given.
    pub(super) code: u16,
    pub(super) text: String,
}

impl Reason {
    /// Reads the payload of a close frame.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, Failure> {
        let (code, text) = match payload {
            [] => return Ok(Self { code: NO_STATUS, text: String::new() }),
            [_] => return Err(Failure::protocol("a close frame of one byte (RFC 6455 §5.5.1)")),
            &[high, low, ref text @ ..] => (u16::from_be_bytes([high, low]), text),
        };
        if !may_be_sent(code) {
            return Err(Failure::protocol("a close code that may not be sent (RFC 6455 §7.4)"));
        }
        let text = core::str::from_utf8(text).map_err(|_| Failure::utf8())?;
        Ok(Self { code, text: text.into() })
    }

    /// Checks what the application gives.
    pub(super) fn check(code: u16, text: &str) -> Result<(), Error> {
        let error = |code, detail: &str| Error::new(code, Phase::Close).with_detail(detail);
        if code == NO_STATUS {
            let empty = text.is_empty();
            return if empty { Ok(()) } else { Err(error(Code::BadMessage, "a reason needs a close code")) };
        }
        if !may_be_sent(code) {
            return Err(error(Code::BadMessage, "close codes are 1000-1003, 1007-1014 and 3000-4999"));
        }
        if text.len() > MAX_TEXT {
            return Err(error(Code::TooLong, "a close reason has at most 123 bytes"));
        }
        Ok(())
    }
}

/// Appends the payload of a close frame to `buf`.
pub(super) fn emit(code: u16, text: &str, buf: &mut Vec<u8>) {
    if code != NO_STATUS {
        buf.extend_from_slice(&code.to_be_bytes());
        buf.extend_from_slice(text.as_bytes());
    }
}

/// Says whether a code may be in a close frame (RFC 6455 §7.4, and the registry of §11.7 for 1012 to 1014).
const fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// What a close frame's code leaves.
const MAX_TEXT: usize = MAX_CONTROL - 2;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn what_is_emitted_is_parsed() {
        for (code, text) in [(1000, ""), (4999, "done"), (NO_STATUS, "")] {
            let mut payload = vec![];
            emit(code, text, &mut payload);
            assert_eq!(Reason::parse(&payload), Ok(Reason { code, text: text.into() }));
        }
    }

    #[test]
    fn codes_that_may_not_be_on_the_wire_are_refused_both_ways() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535_u16] {
            assert!(Reason::parse(&code.to_be_bytes()).is_err(), "{code}");
            assert_eq!(Reason::check(code, "").is_ok(), code == NO_STATUS);
        }
        assert!(Reason::parse(&[3]).is_err());
    }

    #[test]
    fn a_reason_is_short_text() {
        assert_eq!(Reason::parse(&[3, 0xe8, 0xff]).map_err(Failure::close_code), Err(1007));
        assert!(Reason::check(1000, &"x".repeat(123)).is_ok());
        assert_eq!(Reason::check(1000, &"x".repeat(124)).map_err(|error| error.code), Err(Code::TooLong));
    }
}
