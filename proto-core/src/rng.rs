//! The machines' own source of randomness, grown from the seed they are given.

/// A small deterministic generator (xoshiro256++, Blackman and Vigna) for jitter, identifiers and tests.
///
/// It is not meant for secrets: derive those from the seed with a keyed hash.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Creates a generator. Any seed will do, zeros included.
    pub fn new(seed: [u8; 32]) -> Self {
        let mut state = [0_u64; 4];
        let mut mixed = 0x9e37_79b9_7f4a_7c15_u64;
        for (word, chunk) in state.iter_mut().zip(seed.chunks_exact(8)) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(chunk);
            mixed = splitmix(mixed ^ u64::from_le_bytes(bytes));
            *word = mixed;
        }
        Self { state }
    }

    /// Creates a generator from a short seed, as tests print it.
    pub fn from_u64(seed: u64) -> Self {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().zip(seed.to_le_bytes()) {
            *place = byte;
        }
        Self::new(bytes)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Returns the next 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "the upper half is what is wanted")]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Returns a number below `bound`, or 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        #[allow(clippy::cast_possible_truncation, reason = "the product's upper half is below the bound")]
        let result = (wide >> 64) as u64;
        result
    }

    /// Returns true once in `1 / probability` calls on average.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns a number in `0.0..1.0`.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            for (place, byte) in chunk.iter_mut().zip(self.next_u64().to_le_bytes()) {
                *place = byte;
            }
        }
    }
}

fn splitmix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut a, mut b) = (Rng::from_u64(7), Rng::from_u64(7));
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
        assert_ne!(Rng::from_u64(1).next_u64(), Rng::from_u64(2).next_u64());
        assert_ne!(Rng::new([0; 32]).next_u64(), 0);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_spread() {
        let mut rng = Rng::from_u64(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(rng.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }
}
