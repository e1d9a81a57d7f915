//! UTF-8 that arrives in pieces (RFC 6455 §8.1, RFC 3629).

/// Checks text piece by piece, and finds the first byte that cannot be part of it as soon as that arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct Utf8 {
    /// The start of a character that goes on in the next piece.
    carry: [u8; 4],
    carried: usize,
}

/// The text is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotUtf8;

impl Utf8 {
    /// Checks the next piece.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), NotUtf8> {
        while self.carried > 0 {
            let [byte, rest @ ..] = bytes else { return Ok(()) };
            bytes = rest;
            if let Some(place) = self.carry.get_mut(self.carried) {
                *place = *byte;
            }
            self.carried += 1;
            match check(self.carry.get(..self.carried).unwrap_or_default())? {
                0 => self.carried = 0,
                _ => continue,
            }
        }
        let unfinished = check(bytes)?;
        let start = bytes.get(bytes.len().saturating_sub(unfinished)..).unwrap_or_default();
        self.carry.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        self.carried = unfinished;
        Ok(())
    }

    /// Says whether the text may end here.
    pub(super) const fn may_end(&self) -> bool {
        self.carried == 0
    }
}

/// Returns the length of the unfinished character at the end.
fn check(bytes: &[u8]) -> Result<usize, NotUtf8> {
    let Err((valid, broken)) = validate(bytes) else { return Ok(0) };
    if broken { Err(NotUtf8) } else { Ok(bytes.len().saturating_sub(valid)) }
}

/// Says, for what is not UTF-8, how much of it is, and whether the rest is more than unfinished.
fn validate(bytes: &[u8]) -> Result<(), (usize, bool)> {
    #[cfg(feature = "std")]
    if bytes.len() >= LONG {
        return simdutf8::compat::from_utf8(bytes)
            .map(|_| ())
            .map_err(|error| (error.valid_up_to(), error.error_len().is_some()));
    }
    core::str::from_utf8(bytes)
        .map(|_| ())
        .map_err(|error| (error.valid_up_to(), error.error_len().is_some()))
}

/// Says whether `bytes` are UTF-8.
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    validate(bytes).is_ok()
}

/// From this length on, the vectorised check is worth its start.
#[cfg(feature = "std")]
const LONG: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};
    use proptest::prelude::*;

    /// Where the first byte is that makes `bytes` something else than the start of a text.
    fn first_fault(bytes: &[u8]) -> Option<usize> {
        (1..=bytes.len()).find(|&end| check(&bytes[..end]).is_err()).map(|end| end - 1)
    }

    fn faults_at(bytes: &[u8]) -> Option<usize> {
        let mut utf8 = Utf8::default();
        (0..bytes.len()).find(|&at| utf8.push(&bytes[at..=at]).is_err())
    }

    proptest! {
        #[test]
        fn text_passes_in_any_pieces(text: String, cuts in prop::collection::vec(0..10_usize, 0..20)) {
            let (mut utf8, mut rest) = (Utf8::default(), text.as_bytes());
            for cut in cuts {
                let (piece, later) = rest.split_at(cut.min(rest.len()));
                utf8.push(piece).unwrap();
                rest = later;
            }
            utf8.push(rest).unwrap();
            prop_assert!(utf8.may_end());
        }

        #[test]
        fn other_bytes_fail_at_the_first_bad_one(
            text in "[a-z\u{e9}\u{20ac}\u{1f600}]{0,30}",
            noise in prop::collection::vec(prop_oneof![0x7f..=0xff_u8, Just(0xed), Just(0xf4)], 0..6),
        ) {
            let bytes: Vec<u8> = [text.as_bytes(), &noise].concat();
            prop_assert_eq!(faults_at(&bytes), first_fault(&bytes));
        }
    }

    #[test]
    fn surrogates_overlong_forms_and_what_is_beyond_unicode_fail_at_their_second_byte() {
        for bytes in [[0xed, 0xa0], [0xf4, 0x90], [0xe0, 0x80], [0xf0, 0x80]] {
            assert_eq!(faults_at(&bytes), Some(1), "{bytes:?}");
        }
        for byte in [0x80, 0xc0, 0xc1, 0xf5, 0xff] {
            assert_eq!(faults_at(&[byte]), Some(0), "{byte}");
        }
    }

    #[test]
    fn a_text_may_not_end_within_a_character() {
        let mut utf8 = Utf8::default();
        utf8.push(&[b'a', 0xe2, 0x82]).unwrap();
        assert!(!utf8.may_end());
        utf8.push(&[0xac]).unwrap();
        assert!(utf8.may_end());
    }
}
