//! Masking (RFC 6455 §5.3).

use alloc::{boxed::Box, vec::Vec};
use chacha20::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use proto_core::Rng;

/// A frame's mask: its key, turned so that it begins with the byte for the next one of the payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask(u32);

impl Mask {
    /// Creates the mask for the start of a payload.
    pub(super) const fn new(key: [u8; 4]) -> Self {
        Self(u32::from_le_bytes(key))
    }

    /// Masks or unmasks the next bytes of the payload in place.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        let (word, len) = (self.word(), bytes.len());
        let mut words = bytes.chunks_exact_mut(WORD);
        for chunk in &mut words {
            // Written so that the compiler makes wide registers of it.
            if let Ok(chunk) = <&mut [u8; WORD]>::try_from(chunk) {
                *chunk = (u64::from_ne_bytes(*chunk) ^ word).to_ne_bytes();
            }
        }
        let rest = words.into_remainder();
        rest.iter_mut().zip(word.to_ne_bytes()).for_each(|(byte, key)| *byte ^= key);
        self.turn(len);
    }

    /// Copies the next bytes of the payload from `from` to the equally long `to`, and masks or unmasks them on the way.
    pub(super) fn copy(&mut self, from: &[u8], to: &mut [u8]) {
        let (word, len) = (self.word(), from.len());
        let (from_words, from_rest) = from.as_chunks::<WORD>();
        let (to_words, to_rest) = to.as_chunks_mut::<WORD>();
        for (from, to) in from_words.iter().zip(to_words) {
            *to = (u64::from_ne_bytes(*from) ^ word).to_ne_bytes();
        }
        let rest = from_rest.iter().zip(to_rest).zip(word.to_ne_bytes());
        rest.for_each(|((from, to), key)| *to = from ^ key);
        self.turn(len);
    }

    /// Appends a masked copy of the next bytes of the payload to `buf`.
    pub(super) fn append(&mut self, from: &[u8], buf: &mut Vec<u8>) {
        buf.reserve(from.len());
        // In blocks that stay in the first-level cache between the copy and the mask: no room is cleared first.
        for block in from.chunks(BLOCK) {
            let start = buf.len();
            buf.extend_from_slice(block);
            self.apply(buf.get_mut(start..).unwrap_or_default());
        }
    }

    const fn word(self) -> u64 {
        let key = self.0.to_le_bytes();
        u64::from_ne_bytes([key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3]])
    }

    #[allow(clippy::cast_possible_truncation, reason = "the remainder is below 4")]
    const fn turn(&mut self, by: usize) {
        self.0 = self.0.rotate_right(8 * (by % 4) as u32);
    }
}

/// Where keys come from: a stream that nobody can foretell from the keys before (RFC 6455 §10.3).
pub(super) enum Keys {
    /// ChaCha8, which the machine's own generator, no match for cryptanalysis, only seeds.
    Secret(Box<ChaCha8Rng>),
    /// Always zero, which leaves payloads as they are.
    Null,
}

impl Keys {
    /// Creates a stream with a seed drawn from `rng`.
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut seed = [0; 32];
        rng.fill(&mut seed);
        Self::Secret(Box::new(ChaCha8Rng::from_seed(seed)))
    }

    /// Returns the next frame's key.
    pub(super) fn next(&mut self) -> [u8; 4] {
        match self {
            Self::Secret(stream) => stream.next_u32().to_le_bytes(),
            Self::Null => [0; 4],
        }
    }
}

impl core::fmt::Debug for Keys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Secret(_) => "Secret",
            Self::Null => "Null",
        })
    }
}

const WORD: usize = 8;
const BLOCK: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use proto_core::Rng;

    proptest! {
        #[test]
        fn any_pieces_are_masked_as_the_whole_is(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            key: [u8; 4],
            cut in 0..200_usize,
        ) {
            let expected: Vec<u8> = bytes.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut mask = Mask::new(key);
            let mut appended = vec![9];
            mask.append(first, &mut appended);
            mask.append(second, &mut appended);
            prop_assert_eq!(&appended[1..], &expected);
            let mut mask = Mask::new(key);
            let mut copied = vec![0; bytes.len()];
            mask.copy(first, &mut copied[..first.len()]);
            mask.copy(second, &mut copied[first.len()..]);
            prop_assert_eq!(&copied, &expected);
            Mask::new(key).apply(&mut copied);
            prop_assert_eq!(&copied, &bytes);
        }
    }

    #[test]
    fn the_example_of_the_rfc_is_unmasked() {
        let mut bytes = [0x7f, 0x9f, 0x4d, 0x51, 0x58];
        Mask::new([0x37, 0xfa, 0x21, 0x3d]).apply(&mut bytes);
        assert_eq!(&bytes, b"Hello");
    }

    #[test]
    fn keys_differ_from_frame_to_frame_and_seed_to_seed() {
        let mut keys = Keys::new(&mut Rng::from_u64(1));
        let (first, second) = (keys.next(), keys.next());
        assert_ne!(first, second);
        assert_ne!(first, Keys::new(&mut Rng::from_u64(2)).next());
        assert_eq!(first, Keys::new(&mut Rng::from_u64(1)).next());
    }
}
