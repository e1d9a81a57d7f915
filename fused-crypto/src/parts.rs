//! The hashes of the parts of a stream that is still being written.

/// Gives out the blocks of one part after the other, each part padded as a message of its own (FIPS 180-4 §5.1.1).
#[derive(Debug)]
pub(crate) struct PartBlocks {
    part_size: usize,
    suffix: [u8; 4],
    /// How long the stream will be.
    total: usize,
    /// Where the next whole block begins.
    at: usize,
    part_start: usize,
    tail: Tail,
}

/// The one or two blocks that end a part.
#[derive(Debug)]
enum Tail {
    /// Whole blocks come first.
    Ahead,
    /// One block is left after the one that was given out.
    Second([u8; 64]),
    /// The block that was given out is the last one.
    Last,
}

impl PartBlocks {
    pub(crate) fn new(part_size: usize, suffix: [u8; 4], total: usize) -> Self {
        Self { part_size: part_size.max(1), suffix, total, at: 0, part_start: 0, tail: Tail::Ahead }
    }

    /// Returns how many parts there are.
    pub(crate) const fn count(&self) -> usize {
        self.total.div_ceil(self.part_size)
    }

    /// Returns the next block, if `stream` is long enough and not all was given out.
    #[inline]
    pub(crate) fn next(&mut self, stream: &[u8]) -> Option<[u8; 64]> {
        let end = self.part_start.saturating_add(self.part_size).min(self.total);
        if end - self.at >= 64 {
            let block = stream.get(self.at..).and_then(<[u8]>::first_chunk)?;
            self.at += 64;
            return Some(*block);
        }
        self.next_of_tail(stream, end)
    }

    /// Says whether the block given out last was the last one of its part, and moves on to the next part if so.
    #[inline]
    pub(crate) fn ends_part(&mut self) -> bool {
        let ends = matches!(self.tail, Tail::Last);
        if ends {
            self.part_start = self.at;
            self.tail = Tail::Ahead;
        }
        ends
    }

    fn next_of_tail(&mut self, stream: &[u8], end: usize) -> Option<[u8; 64]> {
        if let Tail::Second(block) = self.tail {
            self.tail = Tail::Last;
            return Some(block);
        }
        if self.part_start == self.total {
            return None;
        }
        let rest = stream.get(self.at..end)?;
        let bits = 8 * (end - self.part_start + self.suffix.len()) as u64;
        let mut blocks = [0; 128];
        if let Some((begun, [s0, s1, s2, s3, mark, ..])) = blocks.split_at_mut_checked(rest.len()) {
            begun.copy_from_slice(rest);
            [*s0, *s1, *s2, *s3] = self.suffix;
            *mark = 0x80;
        }
        let (first, second) = blocks.split_at_mut(64);
        let is_one = rest.len() + self.suffix.len() < 64 - size_of::<u64>();
        let length = if is_one { &mut *first } else { &mut *second };
        if let Some(length) = length.last_chunk_mut() {
            *length = bits.to_be_bytes();
        }
        self.at = end;
        self.tail = match second.first_chunk() {
            Some(second) if !is_one => Tail::Second(*second),
            Some(_) | None => Tail::Last,
        };
        first.first_chunk().copied()
    }
}
