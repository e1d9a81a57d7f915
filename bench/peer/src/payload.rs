//! The messages of a run and the check of an echo against them.

use std::fmt;

/// The shortest message: marker, connection and message number.
pub const MIN_SIZE: usize = 8;
/// The longest message.
pub const MAX_SIZE: usize = 1 << 16;

/// The messages of a run: each is determined by its connection and number, and no two neighbours are equal.
///
/// Byte 0 is `0xfe` (one of the peers drops other messages), bytes 1 to 3 carry the connection, bytes 4 to 7
/// the message number, the rest is a window into fixed noise that starts elsewhere for each message.
#[derive(Debug)]
pub struct Payload {
    size: usize,
    noise: Vec<u8>,
}

impl Payload {
    /// Prepares messages of `size` bytes, from [`MIN_SIZE`] to [`MAX_SIZE`].
    pub fn new(size: usize) -> Self {
        let mut state = 0x9e37_79b9_u32;
        let noise = (0..size + PHASES).map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[0]
        });
        Self { size, noise: noise.collect() }
    }

    /// The length of every message in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Appends one message.
    pub fn append(&self, connection: u32, id: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&header(connection, id));
        out.extend_from_slice(self.body(connection, id));
    }

    /// Checks that `echo` is exactly the given message.
    ///
    /// # Errors
    ///
    /// Says whether length, identity or content differ.
    pub fn check(&self, connection: u32, id: u32, echo: &[u8]) -> Result<(), Mismatch> {
        let Some((head, body)) = echo.split_first_chunk::<MIN_SIZE>().filter(|_| echo.len() == self.size)
        else {
            return Err(Mismatch::Length { expected: self.size, received: echo.len() });
        };
        if *head != header(connection, id) {
            return Err(Mismatch::Identity { expected: (connection, id), received: identity(head) });
        }
        if body != self.body(connection, id) {
            return Err(Mismatch::Content { connection, id });
        }
        Ok(())
    }

    fn body(&self, connection: u32, id: u32) -> &[u8] {
        let phase = id.wrapping_mul(7).wrapping_add(connection.wrapping_mul(13)) as usize % PHASES;
        self.noise.get(phase..phase + self.size - MIN_SIZE).unwrap_or_default()
    }
}

/// How an echo differs from the message that had to come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The echo has another length.
    Length {
        /// The length sent.
        expected: usize,
        /// The length that came back.
        received: usize,
    },
    /// The echo is another message, given as connection and number.
    Identity {
        /// The message that had to come next.
        expected: (u32, u32),
        /// The message that came.
        received: (u32, u32),
    },
    /// The echo carries the right identity and other content.
    Content {
        /// The connection of the message.
        connection: u32,
        /// The number of the message.
        id: u32,
    },
    /// An echo came although none was awaited.
    Unasked {
        /// The connection it came on.
        connection: u32,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, received } => {
                write!(f, "an echo of {received} bytes came back for a message of {expected}")
            }
            Self::Identity { expected, received } => {
                write!(f, "echo out of order: (connection, id) {received:?} instead of {expected:?}")
            }
            Self::Content { connection, id } => {
                write!(f, "the echo of message {id} on connection {connection} has other content")
            }
            Self::Unasked { connection } => write!(f, "an unasked echo came on connection {connection}"),
        }
    }
}

impl std::error::Error for Mismatch {}

fn header(connection: u32, id: u32) -> [u8; MIN_SIZE] {
    let [c0, c1, c2, _] = connection.to_le_bytes();
    let [i0, i1, i2, i3] = id.to_le_bytes();
    [MARKER, c0, c1, c2, i0, i1, i2, i3]
}

fn identity(&[_, c0, c1, c2, i0, i1, i2, i3]: &[u8; MIN_SIZE]) -> (u32, u32) {
    (u32::from_le_bytes([c0, c1, c2, 0]), u32::from_le_bytes([i0, i1, i2, i3]))
}

const MARKER: u8 = 0xfe;
/// How many different bodies there are.
const PHASES: usize = 251;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(payload: &Payload, connection: u32, id: u32) -> Vec<u8> {
        let mut out = Vec::new();
        payload.append(connection, id, &mut out);
        out
    }

    #[test]
    fn a_message_matches_only_its_own_connection_and_number() {
        let payload = Payload::new(800);
        let echo = message(&payload, 3, 70_000);
        assert_eq!(echo.len(), 800);
        assert_eq!(payload.check(3, 70_000, &echo), Ok(()));
        assert_eq!(
            payload.check(3, 70_001, &echo),
            Err(Mismatch::Identity { expected: (3, 70_001), received: (3, 70_000) })
        );
    }

    #[test]
    fn one_flipped_bit_anywhere_is_noticed() {
        let payload = Payload::new(64);
        for at in 1..64 {
            let mut echo = message(&payload, 1, 2);
            echo[at] ^= 0x10;
            assert!(payload.check(1, 2, &echo).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_truncated_echo_is_a_length_mismatch() {
        let payload = Payload::new(64);
        let echo = message(&payload, 0, 0);
        assert_eq!(payload.check(0, 0, &echo[..5]), Err(Mismatch::Length { expected: 64, received: 5 }));
    }

    #[test]
    fn neighbouring_messages_have_different_bodies() {
        let payload = Payload::new(64);
        assert_ne!(message(&payload, 0, 1)[8..], message(&payload, 0, 2)[8..]);
        assert_ne!(message(&payload, 1, 1)[8..], message(&payload, 2, 1)[8..]);
    }
}
