//! A cursor over received bytes that cannot read past their end.

use thiserror::Error;

/// The bytes ended before the value did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the data ends before the value does")]
pub struct Truncated;

/// Reads values off the front of a byte slice.
///
/// Every method either takes the whole value or fails and takes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `data`.
    pub const fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// Takes the next `len` bytes.
    ///
    /// # Errors
    /// [`Truncated`] when fewer are left.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Truncated> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or(Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    /// Takes the next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Truncated`] when fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    /// Takes one byte.
    ///
    /// # Errors
    /// [`Truncated`] at the end.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Truncated> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes a big-endian 16-bit number.
    ///
    /// # Errors
    /// [`Truncated`] when fewer than 2 bytes are left.
    #[inline]
    pub fn u16_be(&mut self) -> Result<u16, Truncated> {
        self.array().map(u16::from_be_bytes)
    }

    /// Takes a big-endian 32-bit number.
    ///
    /// # Errors
    /// [`Truncated`] when fewer than 4 bytes are left.
    #[inline]
    pub fn u32_be(&mut self) -> Result<u32, Truncated> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes a big-endian 64-bit number.
    ///
    /// # Errors
    /// [`Truncated`] when fewer than 8 bytes are left.
    #[inline]
    pub fn u64_be(&mut self) -> Result<u64, Truncated> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes a little-endian 24-bit number.
    ///
    /// # Errors
    /// [`Truncated`] when fewer than 3 bytes are left.
    #[inline]
    pub fn u24_le(&mut self) -> Result<crate::U24, Truncated> {
        self.array::<3>().map(crate::U24::from_le_bytes)
    }

    /// Takes all that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.rest)
    }

    /// Returns what is left without taking it.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns how many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Says whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::U24;

    #[test]
    fn values_come_in_their_byte_order() {
        let mut r = Reader::new(&[1, 0, 2, 0, 0, 0, 3, 4, 0, 0, 9, 8]);
        assert_eq!(r.u8(), Ok(1));
        assert_eq!(r.u16_be(), Ok(2));
        assert_eq!(r.u32_be(), Ok(3));
        assert_eq!(r.u24_le(), Ok(U24::new(4)));
        assert_eq!(r.rest(), [9, 8]);
    }

    #[test]
    fn a_failed_read_takes_nothing() {
        let mut r = Reader::new(&[1, 2]);
        assert_eq!(r.u32_be(), Err(Truncated));
        assert_eq!(r.take(3), Err(Truncated));
        assert_eq!(r.take_rest(), [1, 2]);
        assert_eq!(r.u8(), Err(Truncated));
    }
}
