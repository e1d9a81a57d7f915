//! A sender's time in front of an application's message.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{MessageId, ParseError};

/// A message of the application behind the message id 0x1b and a time.
///
/// The time is in the sender's milliseconds until the receiver, who estimates the difference of the clocks,
/// rewrites it into its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamped<'a> {
    /// When the message is from.
    pub time: u64,
    /// The message itself, with its own id.
    pub message: &'a [u8],
}

impl<'a> Timestamped<'a> {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// [`ParseError::Truncated`] when the time is not there.
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        Ok(Self { time: r.u64_be()?, message: r.take_rest() })
    }

    /// Splits the time off a whole payload, or returns `None` when none stands in front of it.
    pub fn split(payload: &'a [u8]) -> Option<Self> {
        let (&PREFIX, rest) = payload.split_first()? else { return None };
        Self::parse(&mut Reader::new(rest)).ok()
    }

    /// Replaces the time in front of a whole payload by what `into_local` makes of it.
    ///
    /// Returns whether there was one; without one the payload stays as it is.
    pub fn rewrite(payload: &mut [u8], into_local: impl FnOnce(u64) -> u64) -> bool {
        let Some((&mut PREFIX, rest)) = payload.split_first_mut() else { return false };
        let Some(time) = rest.first_chunk_mut::<8>() else { return false };
        *time = into_local(u64::from_be_bytes(*time)).to_be_bytes();
        true
    }

    /// Appends the prefix and the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(PREFIX);
        buf.extend(self.time.to_be_bytes());
        buf.extend(self.message);
    }

    /// Returns the length of prefix and message: 9 bytes and the message.
    pub const fn encoded_len(&self) -> usize {
        self.message.len().saturating_add(9)
    }
}

const PREFIX: u8 = MessageId::Timestamp.byte();

#[cfg(test)]
mod tests {
    use super::super::testing::{any_bytes, body, refuses_every_truncation};
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const STAMPED: [u8; 11] = [0x1b, 0, 0, 0, 0, 0, 0, 1, 0, 0xfe, 7];

    #[test]
    fn the_time_is_split_off_the_message() {
        let stamped = Timestamped { time: 256, message: &[0xfe, 7] };
        assert_eq!(Timestamped::split(&STAMPED), Some(stamped));
        let mut bytes = vec![];
        stamped.emit(&mut bytes);
        assert_eq!(bytes, STAMPED);
    }

    #[test]
    fn rewriting_changes_the_time_alone() {
        let mut payload = STAMPED;
        assert!(Timestamped::rewrite(&mut payload, |time| time.wrapping_sub(250)));
        assert_eq!(payload, [0x1b, 0, 0, 0, 0, 0, 0, 0, 6, 0xfe, 7]);
    }

    #[test]
    fn a_payload_without_a_whole_prefix_stays_as_it_is() {
        for without in [&[][..], &STAMPED[..8], &STAMPED[1..]] {
            let mut payload = without.to_vec();
            assert!(!Timestamped::rewrite(&mut payload, |_| 0));
            assert_eq!(payload, without);
            assert_eq!(Timestamped::split(without), None);
        }
    }

    proptest! {
        #[test]
        fn an_emitted_message_parses_back(time: u64, message in any_bytes()) {
            let stamped = Timestamped { time, message: &message };
            let mut bytes = vec![];
            stamped.emit(&mut bytes);
            let body = body(&bytes, MessageId::Timestamp, stamped.encoded_len());
            prop_assert_eq!(Timestamped::parse(&mut Reader::new(body)), Ok(stamped));
            refuses_every_truncation(&body[..8], Timestamped::parse);
        }
    }
}
