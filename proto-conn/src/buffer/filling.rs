//! A payload that is still arriving.

use alloc::{sync::Arc, vec::Vec};

use super::{Payload, Pool};

/// Memory into which a payload is read.
#[derive(Debug)]
pub struct Filling {
    /// Nobody else has it until [`finish`](Self::finish).
    memory: Arc<Vec<u8>>,
    filled: usize,
    expected: usize,
}

impl Filling {
    pub(super) const fn new(memory: Arc<Vec<u8>>, expected: usize) -> Self {
        Self { memory, filled: 0, expected }
    }

    /// Returns how many bytes have arrived.
    pub const fn len(&self) -> usize {
        self.filled
    }

    /// Says whether nothing has arrived.
    pub const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Returns what has arrived.
    pub fn filled(&self) -> &[u8] {
        self.memory.get(..self.filled).unwrap_or_default()
    }

    /// Returns what has arrived, to be changed in place.
    pub fn filled_mut(&mut self) -> &mut [u8] {
        let filled = self.filled;
        Arc::get_mut(&mut self.memory).and_then(|memory| memory.get_mut(..filled)).unwrap_or_default()
    }

    /// Returns where the next bytes go, at most `limit` of them. There is room for at least one while `limit` is not
    /// zero; what lies there now has no meaning. Report with [`advance`](Self::advance) how many were put there.
    pub fn spare(&mut self, limit: usize) -> &mut [u8] {
        let Self { memory, filled, expected } = self;
        let Some(memory) = Arc::get_mut(memory) else { return &mut [] };
        if *filled >= memory.len() && limit > 0 {
            // Doubling, but not beyond what is expected: memory follows what has arrived.
            // Once that is exceeded, nothing is known of the rest.
            let remaining = expected.checked_sub(*filled).filter(|left| *left > 0).unwrap_or(usize::MAX);
            let grown = memory.len() + remaining.clamp(MIN_GROWTH, memory.len().max(MIN_GROWTH));
            memory.resize(grown, 0);
        }
        let end = filled.saturating_add(limit).min(memory.len());
        memory.get_mut(*filled..end).unwrap_or_default()
    }

    /// Takes note that `len` bytes were put where [`spare`](Self::spare) said.
    pub fn advance(&mut self, len: usize) {
        self.filled = (self.filled + len).min(self.memory.len());
    }

    /// Appends a copy of `bytes`.
    pub fn extend(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.spare(bytes.len());
            let len = room.len().min(bytes.len());
            let (now, later) = bytes.split_at(len);
            room.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
            self.advance(len);
            bytes = later;
        }
    }

    /// Hands the payload out; the memory goes back to `pool` when its last owner drops it.
    pub fn finish(self, pool: &mut Pool) -> Payload {
        pool.remember(&self.memory);
        Payload::pooled(self.memory, 0..self.filled)
    }
}

const MIN_GROWTH: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_doubles_with_what_arrives_and_stops_at_what_is_expected() {
        let expected = 5 << 20;
        let mut filling = Pool::new(0).fill(expected);
        while filling.len() < expected {
            let room = filling.spare(expected - filling.len()).len();
            filling.advance(room);
            assert!(filling.memory.len() <= (2 * filling.len()).max(1 << 20));
        }
        assert_eq!(filling.memory.len(), expected);
    }

    #[test]
    fn bytes_arrive_by_copy_or_in_place() {
        let mut pool = Pool::new(1 << 20);
        let mut filling = pool.fill(0);
        assert!(filling.is_empty());
        filling.extend(&[7; 5_000]);
        let room = filling.spare(2);
        room.copy_from_slice(&[8, 9]);
        filling.advance(2);
        filling.filled_mut()[0] = 6;
        let payload = filling.finish(&mut pool);
        assert_eq!((payload.len(), payload[0], payload[4_999], payload[5_001]), (5_002, 6, 7, 9));
    }
}
