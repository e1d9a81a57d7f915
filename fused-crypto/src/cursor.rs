//! Bytes in several slices, read as if they lay in a row.

/// What is still to be read of slices and of a few bytes behind them.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    current: &'a [u8],
    rest: core::slice::Iter<'a, &'a [u8]>,
    last: &'a [u8],
    remaining: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(slices: &'a [&'a [u8]], last: &'a [u8]) -> Self {
        let remaining = slices.iter().map(|slice| slice.len()).sum::<usize>() + last.len();
        let mut rest = slices.iter();
        let current = rest.next().copied().unwrap_or_default();
        Self { current, rest, last, remaining }
    }

    /// Returns how many bytes are left.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn remaining(&self) -> usize {
        self.remaining
    }

    /// Reads `N` bytes; `None`, and nothing is read, when fewer are left.
    #[inline]
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        if let Some((bytes, current)) = self.current.split_first_chunk() {
            self.current = current;
            self.remaining -= N;
            return Some(*bytes);
        }
        (self.remaining >= N).then(|| self.gather())
    }

    /// Reads bytes that do not lie in one slice.
    #[cold]
    fn gather<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let mut room = bytes.as_mut_slice();
        while !room.is_empty() {
            if self.current.is_empty() {
                self.current = self.rest.next().copied().unwrap_or_else(|| core::mem::take(&mut self.last));
            }
            let (now, later) = self.current.split_at(self.current.len().min(room.len()));
            let (filled, left) = room.split_at_mut(now.len());
            filled.copy_from_slice(now);
            (self.current, room) = (later, left);
        }
        self.remaining -= N;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_read_as_one(slices in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let (last, slices) = slices.split_last().map_or((&[][..], &[][..]), |(last, rest)| (last, rest));
            let views: Vec<&[u8]> = slices.iter().map(|slice| &slice[..]).collect();
            let mut cursor = Cursor::new(&views, last);
            let mut read = Vec::new();
            while let Some(bytes) = cursor.take::<7>() {
                read.extend_from_slice(&bytes);
            }
            let mut whole = slices.concat();
            whole.extend_from_slice(last);
            prop_assert_eq!(&read[..], &whole[..whole.len() / 7 * 7]);
        }
    }
}
