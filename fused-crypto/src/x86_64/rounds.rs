//! The rounds of several computations, interleaved.

use super::{
    aes::{ROUND_KEYS, RoundKeys, load},
    sha::{Lane, Words, rounds4, words},
};
use crate::HashState;
use core::arch::{
    asm,
    x86_64::{__m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_setzero_si128, _mm_xor_si128},
};

/// Expands a macro with each number from 0 to 15, as a constant.
macro_rules! sixteen {
    ($($g:literal)*; $step:ident) => { $( $step!($g); )* };
    ($step:ident) => { sixteen!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; $step) };
}

/// Encrypts four blocks, chained to the one before, and meanwhile takes a block into the tag and into each lane.
#[inline]
#[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
pub(super) fn encrypt_and_hash<const LANES: usize>(
    mut cipher: CbcGroup,
    keys: &RoundKeys,
    tag: (&mut Lane, &[u8; 64]),
    lanes: [&mut Lane; LANES],
    blocks: [&[u8; 64]; LANES],
) -> [__m128i; 4] {
    let mut tag = Compression::new([tag.0], [tag.1]);
    let mut more = Compression::new(lanes, blocks);
    macro_rules! four_rounds {
        ($g:literal) => {
            cipher.positions4::<$g>(keys);
            tag.rounds4::<$g>();
            more.rounds4::<$g>();
            cipher.meet::<$g>(&mut tag.now);
            cipher.meet::<$g>(&mut more.now);
        };
    }
    sixteen!(four_rounds);
    tag.finish();
    more.finish();
    cipher.blocks
}

/// Takes a block into each lane.
#[inline]
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) fn hash<const LANES: usize>(lanes: [&mut Lane; LANES], blocks: [&[u8; 64]; LANES]) {
    let mut compression = Compression::new(lanes, blocks);
    macro_rules! four_rounds {
        ($g:literal) => {
            compression.rounds4::<$g>();
        };
    }
    sixteen!(four_rounds);
    compression.finish();
}

/// Takes blocks into two states, as many as both have.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) fn compress_two(states: [&mut HashState; 2], blocks: [&[[u8; 64]]; 2]) -> usize {
    let [first, second] = states;
    let mut lanes = (Lane::new(first), Lane::new(second));
    let [left, right] = blocks;
    for (left, right) in left.iter().zip(right) {
        hash([&mut lanes.0, &mut lanes.1], [left, right]);
    }
    (*first, *second) = (lanes.0.state(), lanes.1.state());
    left.len().min(right.len())
}

/// One block on its way into each of some lanes.
struct Compression<'a, const LANES: usize> {
    lanes: [&'a mut Lane; LANES],
    now: [Lane; LANES],
    schedules: [Words; LANES],
}

impl<'a, const LANES: usize> Compression<'a, LANES> {
    #[inline]
    #[target_feature(enable = "sse2,ssse3")]
    fn new(lanes: [&'a mut Lane; LANES], blocks: [&[u8; 64]; LANES]) -> Self {
        let now = lanes.each_ref().map(|lane| **lane);
        let mut schedules = [[_mm_setzero_si128(); 4]; LANES];
        for (schedule, block) in schedules.iter_mut().zip(blocks) {
            *schedule = words(block);
        }
        Self { lanes, now, schedules }
    }

    #[inline]
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    fn rounds4<const G: usize>(&mut self) {
        for (lane, schedule) in self.now.iter_mut().zip(&mut self.schedules) {
            rounds4::<G>(lane, schedule);
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn finish(self) {
        for (lane, after) in self.lanes.into_iter().zip(self.now) {
            lane.add(after);
        }
    }
}

/// Four blocks on their way through CBC, one position after the other: a position is one instruction that waits for
/// the one before.
pub(super) struct CbcGroup {
    chain: __m128i,
    blocks: [__m128i; 4],
}

impl CbcGroup {
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn new(chain: __m128i, plain: &[u8; 64]) -> Self {
        let mut blocks = [chain; 4];
        for (block, bytes) in blocks.iter_mut().zip(plain.as_chunks().0) {
            *block = load(bytes);
        }
        Self { chain, blocks }
    }

    /// Goes through positions 4 `G` to 4 `G` + 3. There are [`ROUND_KEYS`] positions a block, so the last of 16
    /// groups finds nothing left to do.
    #[inline]
    #[target_feature(enable = "aes,sse2")]
    #[allow(clippy::indexing_slicing, reason = "all places are constants below the arrays' lengths")]
    fn positions4<const G: usize>(&mut self, keys: &RoundKeys) {
        macro_rules! position {
            ($p:expr) => {
                if $p / ROUND_KEYS < 4 {
                    let block = &mut self.blocks[$p / ROUND_KEYS % 4];
                    let key = keys.all()[$p % ROUND_KEYS];
                    match $p % ROUND_KEYS {
                        0 => *block = _mm_xor_si128(_mm_xor_si128(*block, key), self.chain),
                        LAST_ROUND => {
                            *block = _mm_aesenclast_si128(*block, key);
                            self.chain = *block;
                        }
                        _ => *block = _mm_aesenc_si128(*block, key),
                    }
                }
            };
        }
        position!(4 * G);
        position!(4 * G + 1);
        position!(4 * G + 2);
        position!(4 * G + 3);
    }

    /// Makes what follows position 4 `G` + 3 wait for the lanes in the eyes of the compiler, and the lanes for that
    /// position. It would put the computations one behind the other otherwise, too far apart for the processor to
    /// look ahead.
    #[inline]
    #[target_feature(enable = "sse2")]
    #[allow(clippy::indexing_slicing, reason = "all places are constants below the arrays' lengths")]
    fn meet<const G: usize>(&mut self, lanes: &mut [Lane]) {
        let block = &mut self.blocks[(4 * G + 3) / ROUND_KEYS % 4];
        for lane in lanes {
            let [abef, cdgh] = lane.registers();
            // SAFETY: there are no instructions.
            unsafe {
                asm!(
                    "/* {} {} {} */",
                    inout(xmm_reg) * block,
                    inout(xmm_reg) * abef,
                    inout(xmm_reg) * cdgh,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
        }
    }
}

const LAST_ROUND: usize = ROUND_KEYS - 1;
