//! The contents of messages, responses and resources.

use std::ops::{Deref, Range};

use crate::{Fault, rns::Work};

/// The contents of a trial: each is determined by its number, and none can be compressed.
///
/// The first eight bytes are the number in little-endian order, the rest is noise, repeated where it does not
/// suffice. Sizes differ from number to number and visit the whole range.
#[derive(Debug)]
pub struct Content {
    least: usize,
    most: usize,
    noise: Vec<u8>,
}

impl Content {
    /// Prepares the contents of `work`.
    pub fn new(work: &Work) -> Self {
        let (least, most) = (*work.sizes.start(), *work.sizes.end());
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let words = (0..most.min(NOISE).div_ceil(NUMBER)).flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        });
        Self { least, most, noise: words.collect() }
    }

    /// The size of the contents with this number.
    pub fn size(&self, number: u64) -> usize {
        let spread = (self.most - self.least + 1) as u64;
        // 37 is no divisor of any spread in use, so that all sizes come.
        self.least + usize::try_from(number.wrapping_mul(37) % spread).unwrap_or(0)
    }

    /// The contents with this number.
    pub fn of(&self, number: u64) -> Vec<u8> {
        let mut contents = Vec::new();
        self.write(number, &mut contents);
        contents
    }

    /// Replaces what is in `contents` by those with this number.
    pub fn write(&self, number: u64, contents: &mut Vec<u8>) {
        contents.clear();
        contents.reserve_exact(self.size(number));
        while contents.len() < self.size(number) {
            let piece = self.piece(number, contents.len(), usize::MAX);
            contents.extend_from_slice(&piece);
        }
    }

    /// A piece of the contents with this number, from `position` on: at most `most` bytes, and none at the end.
    pub fn piece(&self, number: u64, position: usize, most: usize) -> Piece<'_> {
        let most = most.min(self.size(number).saturating_sub(position));
        if position < NUMBER {
            let number = number.to_le_bytes();
            Piece::Number { number, range: position..NUMBER.min(position + most) }
        } else {
            Piece::Noise(noise(&self.noise, position, most))
        }
    }

    /// Checks whole contents; returns their number.
    ///
    /// # Errors
    ///
    /// The size or a byte is not that of any contents.
    pub fn check(&self, contents: &[u8]) -> Result<u64, Fault> {
        let mut reading = Reading::default();
        reading.read(self, contents)?;
        reading.end(self)
    }
}

/// A piece of some contents.
#[derive(Debug)]
pub enum Piece<'a> {
    /// Of the number that they begin with.
    Number {
        /// The number's bytes.
        number: [u8; NUMBER],
        /// Which of them.
        range: Range<usize>,
    },
    /// Of the noise.
    Noise(&'a [u8]),
}

impl Deref for Piece<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Number { number, range } => number.get(range.clone()).unwrap_or_default(),
            Self::Noise(noise) => noise,
        }
    }
}

/// Contents that arrive in pieces.
#[derive(Debug, Default)]
pub struct Reading {
    number: [u8; NUMBER],
    position: usize,
}

impl Reading {
    /// Checks the next piece.
    ///
    /// # Errors
    ///
    /// A byte is not that of these contents.
    pub fn read(&mut self, content: &Content, mut data: &[u8]) -> Result<(), Fault> {
        while let Some((first, rest)) = data.split_first().filter(|_| self.position < NUMBER) {
            if let Some(byte) = self.number.get_mut(self.position) {
                *byte = *first;
            }
            self.position += 1;
            data = rest;
        }
        while !data.is_empty() {
            let expected = noise(&content.noise, self.position, data.len());
            let (read, rest) = data.split_at_checked(expected.len()).unwrap_or((data, &[]));
            if read != expected {
                let number = u64::from_le_bytes(self.number);
                return Err(format!("wrong byte in contents {number} after byte {}", self.position).into());
            }
            self.position += read.len();
            data = rest;
        }
        Ok(())
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Ends the contents and returns their number.
    ///
    /// # Errors
    ///
    /// They have another size.
    pub fn end(self, content: &Content) -> Result<u64, Fault> {
        let number = u64::from_le_bytes(self.number);
        let size = content.size(number);
        if self.position < NUMBER || self.position != size {
            return Err(
                format!("contents {number} came with {} bytes instead of {size}", self.position).into()
            );
        }
        Ok(number)
    }
}

/// The noise at `position`, which repeats: at most `most` bytes of it.
fn noise(noise: &[u8], position: usize, most: usize) -> &[u8] {
    let rest = noise.get((position - NUMBER) % noise.len()..).unwrap_or_default();
    rest.get(..most).unwrap_or(rest)
}

/// The bytes of a number.
const NUMBER: usize = size_of::<u64>();
/// The most noise, after which it repeats.
const NOISE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::{Kind, Mtu};

    fn content(least: usize, most: usize) -> Content {
        Content::new(&Work {
            kind: Kind::Packet,
            window: 1,
            links: 1,
            sizes: least..=most,
            mtu: Mtu::Default,
        })
    }

    #[test]
    fn contents_are_recognised_whole_and_in_pieces() {
        let content = content(NOISE + 9, 3 * NOISE);
        let contents = content.of(5);
        assert_eq!(contents.len(), content.size(5));
        assert_eq!(content.check(&contents).unwrap(), 5);
        let mut reading = Reading::default();
        for piece in contents.chunks(70_001) {
            reading.read(&content, piece).unwrap();
        }
        assert_eq!(reading.end(&content).unwrap(), 5);
        let mut piecewise = Vec::new();
        while piecewise.len() < contents.len() {
            piecewise.extend_from_slice(&content.piece(5, piecewise.len(), 123_457));
        }
        assert_eq!(piecewise, contents);
    }

    #[test]
    fn one_flipped_bit_anywhere_is_noticed() {
        let content = content(60, 380);
        for number in [0, 9] {
            let contents = content.of(number);
            for at in 0..contents.len() {
                let mut broken = contents.clone();
                broken[at] ^= 1;
                assert!(content.check(&broken).is_err(), "byte {at}");
            }
        }
    }

    #[test]
    fn every_size_of_the_range_comes() {
        let content = content(60, 380);
        let sizes: std::collections::BTreeSet<_> = (0..321).map(|number| content.size(number)).collect();
        assert_eq!((sizes.len(), sizes.first(), sizes.last()), (321, Some(&60), Some(&380)));
    }
}
