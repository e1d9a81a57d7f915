//! What ends a connection before its time.

use crate::{Code, Error, Phase};

/// A fault of the peer: what the application hears, and what the peer is told (RFC 6455 §7.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: Code,
    /// The code of the close frame that is sent (RFC 6455 §7.4.1).
    close_code: u16,
    detail: &'static str,
}

impl Failure {
    /// A frame where or as it may not be.
    pub(super) const fn protocol(detail: &'static str) -> Self {
        Self { code: Code::WsProtocol, close_code: 1002, detail }
    }

    /// Text or a reason that is not UTF-8 (RFC 6455 §8.1).
    pub(super) const fn utf8() -> Self {
        Self { code: Code::WsUtf8, close_code: 1007, detail: "" }
    }

    /// More than is taken.
    pub(super) const fn too_big(detail: &'static str) -> Self {
        Self { code: Code::WsTooBig, close_code: 1009, detail }
    }

    /// Compressed data that cannot be unpacked.
    #[cfg(feature = "deflate")]
    pub(super) const fn deflate() -> Self {
        Self { code: Code::WsDeflate, close_code: 1007, detail: "" }
    }

    /// Returns the code of the close frame that is sent.
    pub(super) const fn close_code(self) -> u16 {
        self.close_code
    }

    /// Returns what the application hears.
    pub(super) fn error(self) -> Error {
        Error::new(self.code, Phase::Receive).with_detail(self.detail)
    }
}
