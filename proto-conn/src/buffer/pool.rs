//! Memory that is used again and again.

use alloc::{sync::Arc, vec, vec::Vec};

use super::Filling;

/// Memory for what arrives. In a steady state no message costs an allocation, and no fresh page is touched: the memory
/// of a payload that was dropped takes in a later one.
///
/// It remembers at most [`MAX_PIECES`](Self::MAX_PIECES) pieces of at most `max_piece` bytes each, and grows by what
/// arrives, not by what a peer announces.
#[derive(Debug)]
pub struct Pool {
    pieces: Vec<Arc<Vec<u8>>>,
    max_piece: usize,
}

impl Pool {
    /// Pieces that are remembered.
    pub const MAX_PIECES: usize = 8;

    /// Creates one that remembers pieces of at most `max_piece` bytes; longer ones are given back to the allocator.
    pub const fn new(max_piece: usize) -> Self {
        Self { pieces: Vec::new(), max_piece }
    }

    /// Returns memory to fill, for something that will probably be `expected` bytes long.
    pub fn fill(&mut self, expected: usize) -> Filling {
        let fits = |piece: &Arc<Vec<u8>>| piece.len() >= expected.min(self.max_piece);
        let free = |piece: &Arc<Vec<u8>>| Arc::strong_count(piece) == 1;
        let found = self.pieces.iter().position(|piece| free(piece) && fits(piece));
        let memory = match found.or_else(|| self.pieces.iter().position(free)) {
            Some(index) => self.pieces.swap_remove(index),
            None => Arc::new(vec![0; size_class(expected)]),
        };
        Filling::new(memory, expected)
    }

    pub(super) fn remember(&mut self, memory: &Arc<Vec<u8>>) {
        if memory.len() > self.max_piece {
            return;
        }
        if self.pieces.len() >= Self::MAX_PIECES {
            // One that the application still holds is forgotten first: it may hold it for ever.
            let held = self.pieces.iter().position(|piece| Arc::strong_count(piece) > 1);
            self.pieces.swap_remove(held.unwrap_or(0));
        }
        self.pieces.push(Arc::clone(memory));
    }
}

/// The first piece for something of an announced length is at most this long, however long the announcement.
const MAX_FIRST: usize = 1 << 20;
const MIN_FIRST: usize = 4 << 10;

fn size_class(expected: usize) -> usize {
    expected.clamp(MIN_FIRST, MAX_FIRST).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_dropped_payload_is_used_again() {
        let mut pool = Pool::new(1 << 20);
        let mut filling = pool.fill(10);
        filling.extend(b"0123456789");
        let first = filling.finish(&mut pool);
        let place = first.as_ptr();
        let held = pool.fill(10);
        assert_ne!(held.filled().as_ptr(), place);
        drop(first);
        let mut again = pool.fill(3);
        again.extend(b"abc");
        assert_eq!(again.filled().as_ptr(), place);
        assert_eq!(again.filled(), b"abc");
    }

    #[test]
    fn an_announced_length_costs_no_memory() {
        let mut filling = Pool::new(1 << 30).fill(1 << 40);
        assert!(filling.spare(usize::MAX).len() <= MAX_FIRST);
    }

    #[test]
    fn pieces_beyond_the_largest_are_not_remembered() {
        let mut pool = Pool::new(8 << 10);
        let mut filling = pool.fill(0);
        filling.extend(&[1; 9 << 10]);
        drop(filling.finish(&mut pool));
        assert!(pool.pieces.is_empty());
    }

    #[test]
    fn the_number_of_pieces_is_bounded() {
        let mut pool = Pool::new(1 << 20);
        let held: Vec<_> = (0..20)
            .map(|_| {
                let filling = pool.fill(1);
                filling.finish(&mut pool)
            })
            .collect();
        assert_eq!(pool.pieces.len(), Pool::MAX_PIECES);
        drop(held);
    }
}
