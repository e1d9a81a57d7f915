//! Rules that the peer broke.

use crate::{Code, Error, Phase};

/// What the peer did wrong, and what a server answers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: Code,
    /// The status that a server answers with.
    pub(super) status: u16,
    detail: &'static str,
}

impl Fault {
    pub(super) const fn new(code: Code, status: u16, detail: &'static str) -> Self {
        Self { code, status, detail }
    }

    /// The message is malformed (RFC 9112 §2.2, §3).
    pub(super) const fn syntax(detail: &'static str) -> Self {
        Self::new(Code::HttpSyntax, 400, detail)
    }

    /// Where the message ends is not certain (RFC 9112 §6.3).
    pub(super) const fn framing(detail: &'static str) -> Self {
        Self::new(Code::HttpFraming, 400, detail)
    }

    /// The fields are too many or too long (RFC 6585 §5).
    pub(super) const fn fields(detail: &'static str) -> Self {
        Self::new(Code::HeadersTooLong, 431, detail)
    }

    /// The body is too long (RFC 9110 §15.5.14).
    pub(super) const fn body() -> Self {
        Self::new(Code::BodyTooLong, 413, "")
    }

    pub(super) fn error(self, phase: Phase) -> Error {
        Error::new(self.code, phase).with_detail(self.detail)
    }
}
