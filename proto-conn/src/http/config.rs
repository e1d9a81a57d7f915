//! What can be tuned, with its defaults and its memory.

use core::time::Duration;

/// How a session behaves, in either role.
///
/// A session's memory is at most [`Limits::fields`] for a head, [`Limits::body`] for a buffered body,
/// [`Config::unread`] and one input for a streamed one, and what the application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How much of each part of a message is accepted.
    pub limits: Limits,
    /// How long is waited for the peer.
    pub timeouts: Timeouts,
    /// Deviations that are overlooked; none by default.
    pub leniency: Leniency,
    /// Requests that a client sends before the first is answered; 1, the default, is no pipelining. Only idempotent
    /// requests share the connection (RFC 9112 §9.3.2).
    pub pipelined: usize,
    /// Requests that a server takes in before the first is answered.
    pub queued: usize,
    /// Whether a server hands out request bodies in parts, as they arrive, instead of whole.
    pub stream_requests: bool,
    /// Bytes of a streamed body that wait for the application before no more input is wanted.
    pub unread: usize,
    /// Bytes of a streamed body that wait to be sent before no more are accepted.
    pub unsent: usize,
    /// Bytes of an unwanted body that are read and dropped to keep the connection.
    pub drained: u64,
    /// The longest memory that is kept for the next body, in bytes.
    pub pooled: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            leniency: Leniency::default(),
            pipelined: 1,
            queued: 16,
            stream_requests: false,
            unread: 256 << 10,
            unsent: 256 << 10,
            drained: 64 << 10,
            pooled: 4 << 20,
        }
    }
}

impl Config {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is out of its range, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let (limits, timeouts) = (&self.limits, &self.timeouts);
        let sizes = [
            ("limits.start_line", limits.start_line, 16, 1 << 20),
            ("limits.field", limits.field, 16, 1 << 20),
            ("limits.fields", limits.fields, 16, 16 << 20),
            ("limits.field_count", limits.field_count, 1, 10_000),
            ("limits.trailers", limits.trailers, 0, 16 << 20),
            ("limits.trailer_count", limits.trailer_count, 0, 10_000),
            ("limits.chunk_extension", limits.chunk_extension, 0, 64 << 10),
            ("limits.chunk_extensions", limits.chunk_extensions, 0, 16 << 20),
            ("limits.informational", limits.informational, 0, 10_000),
            ("pipelined", self.pipelined, 1, 1_000),
            ("queued", self.queued, 1, 10_000),
            ("unread", self.unread, 1, usize::MAX),
            ("unsent", self.unsent, 1, usize::MAX),
        ];
        for (field, value, low, high) in sizes {
            if !(low..=high).contains(&value) {
                return Err(ConfigError::OutOfRange { field, low: low as u64, high: high as u64 });
            }
        }
        let times = [
            ("timeouts.first_byte", timeouts.first_byte),
            ("timeouts.between_bytes", timeouts.between_bytes),
            ("timeouts.head", timeouts.head),
            ("timeouts.idle", timeouts.idle),
        ];
        match times.iter().find(|(_, time)| time.is_zero()) {
            Some((field, _)) => Err(ConfigError::Zero { field }),
            None => Ok(()),
        }
    }
}

/// How much of each part of a message is accepted. A server answers what goes beyond with 413, 414 or 431.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request line or status line.
    pub start_line: usize,
    /// Bytes of one field line.
    pub field: usize,
    /// Bytes of all field lines of a head.
    pub fields: usize,
    /// Field lines of a head.
    pub field_count: usize,
    /// Bytes of all trailer fields.
    pub trailers: usize,
    /// Trailer fields.
    pub trailer_count: usize,
    /// Bytes of the extensions of one chunk.
    pub chunk_extension: usize,
    /// Bytes of all chunk extensions of a body.
    pub chunk_extensions: usize,
    /// Bytes of a body that is handed out whole, decoded. Streamed bodies have no limit.
    pub body: u64,
    /// Interim responses before the final one.
    pub informational: usize,
    /// How many times longer a decoded body may be than the coded one, once it is longer than
    /// [`RATIO_FREE`](Self::RATIO_FREE).
    pub decoding_ratio: u64,
}

impl Limits {
    /// Decoded bytes to which the ratio does not apply.
    pub const RATIO_FREE: u64 = 1 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start_line: 8 << 10,
            field: 8 << 10,
            fields: 64 << 10,
            field_count: 100,
            trailers: 8 << 10,
            trailer_count: 32,
            chunk_extension: 256,
            chunk_extensions: 4 << 10,
            body: 16 << 20,
            informational: 16,
            decoding_ratio: 1_000,
        }
    }
}

/// How long is waited for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Client: from the end of the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Both: between bytes of a message.
    pub between_bytes: Duration,
    /// Client: for a `100 Continue` before the body is sent without it (RFC 9110 §10.1.1).
    pub expect_continue: Duration,
    /// Server: from the first byte of a head to its last; 408 beyond.
    pub head: Duration,
    /// Server: from the connection's begin or an answer's end to the first byte of a request.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(30),
            between_bytes: Duration::from_secs(30),
            expect_continue: Duration::from_secs(1),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(30),
        }
    }
}

/// Deviations that a client may overlook in responses. A server overlooks none: what one reader overlooks and the next
/// does not is how requests are smuggled (RFC 9112 §11.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// Transfer-Encoding wins over a Content-Length beside it; the connection is closed afterwards (RFC 9112 §6.3).
    pub length_beside_chunked: bool,
    /// Lines of a head may end with LF alone (RFC 9112 §2.2).
    pub bare_lf: bool,
    /// Several Content-Length values count as one if they are equal (RFC 9112 §6.3).
    pub equal_lengths: bool,
}

/// A value of a [`Config`] that cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A number is too small or too large.
    #[error("{field} is not within {low} and {high}")]
    OutOfRange {
        /// Its name.
        field: &'static str,
        /// The smallest value.
        low: u64,
        /// The largest value.
        high: u64,
    },
    /// A time is zero.
    #[error("{field} is zero")]
    Zero {
        /// Its name.
        field: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_a_bad_value_is_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let none = Config { queued: 0, ..Config::default() };
        let error = ConfigError::OutOfRange { field: "queued", low: 1, high: 10_000 };
        assert_eq!(none.validate(), Err(error));
        let timeouts = Timeouts { idle: Duration::ZERO, ..Timeouts::default() };
        let hasty = Config { timeouts, ..Config::default() };
        assert_eq!(hasty.validate(), Err(ConfigError::Zero { field: "timeouts.idle" }));
    }
}
