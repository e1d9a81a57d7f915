//! SHA-256 four rounds at a time (FIPS 180-4 §6.2), as Intel's SHA extensions lay it out.

use super::aes::{load, store};
use crate::HashState;
use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_blend_epi16, _mm_set_epi32, _mm_set_epi64x,
    _mm_setzero_si128, _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32, _mm_shuffle_epi8,
    _mm_shuffle_epi32,
};

/// A hash state in the order that the instructions want: words A, B, E, F and C, D, G, H, highest first.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    abef: __m128i,
    cdgh: __m128i,
}

impl Lane {
    #[target_feature(enable = "sse2,ssse3,sse4.1")]
    pub(super) fn new(state: &HashState) -> Self {
        let [a, b, c, d, e, f, g, h] = state.map(u32::cast_signed);
        Self { abef: _mm_set_epi32(a, b, e, f), cdgh: _mm_set_epi32(c, d, g, h) }
    }

    #[target_feature(enable = "sse2,ssse3,sse4.1")]
    pub(super) fn state(&self) -> HashState {
        let feba = _mm_shuffle_epi32::<0x1b>(self.abef);
        let dchg = _mm_shuffle_epi32::<0xb1>(self.cdgh);
        let dcba = _mm_blend_epi16::<0xf0>(feba, dchg);
        let hgfe = _mm_alignr_epi8::<8>(dchg, feba);
        let mut state = [0; 8];
        let words = [store(dcba), store(hgfe)];
        let words = words.iter().flat_map(|half| half.as_chunks::<4>().0);
        state.iter_mut().zip(words).for_each(|(to, from)| *to = u32::from_le_bytes(*from));
        state
    }

    pub(super) const fn registers(&mut self) -> [&mut __m128i; 2] {
        [&mut self.abef, &mut self.cdgh]
    }

    /// Adds the words after a block's rounds to those before it.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn add(&mut self, after: Self) {
        self.abef = _mm_add_epi32(self.abef, after.abef);
        self.cdgh = _mm_add_epi32(self.cdgh, after.cdgh);
    }
}

/// Sixteen words of the message schedule, of which the oldest four are next.
pub(super) type Words = [__m128i; 4];

/// Returns the words of a block.
#[inline]
#[target_feature(enable = "sse2,ssse3")]
pub(super) fn words(block: &[u8; 64]) -> Words {
    let big_endian = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    let mut words = [_mm_setzero_si128(); 4];
    for (words, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *words = _mm_shuffle_epi8(load(bytes), big_endian);
    }
    words
}

/// Does rounds 4 `G` to 4 `G` + 3 and replaces the words they used by those due sixteen rounds later.
#[inline]
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
#[allow(clippy::indexing_slicing, reason = "all places are constants below the arrays' lengths")]
pub(super) fn rounds4<const G: usize>(lane: &mut Lane, words: &mut Words) {
    let [k0, k1, k2, k3] =
        const { [K[4 * G], K[4 * G + 1], K[4 * G + 2], K[4 * G + 3]] }.map(u32::cast_signed);
    let oldest = words[G % 4];
    let sum = _mm_add_epi32(oldest, _mm_set_epi32(k3, k2, k1, k0));
    lane.cdgh = _mm_sha256rnds2_epu32(lane.cdgh, lane.abef, sum);
    lane.abef = _mm_sha256rnds2_epu32(lane.abef, lane.cdgh, _mm_shuffle_epi32::<0x0e>(sum));
    if G < 12 {
        let (next, newest) = (words[(G + 1) % 4], words[(G + 3) % 4]);
        let seven_ago = _mm_alignr_epi8::<4>(newest, words[(G + 2) % 4]);
        let partial = _mm_add_epi32(_mm_sha256msg1_epu32(oldest, next), seven_ago);
        words[G % 4] = _mm_sha256msg2_epu32(partial, newest);
    }
}

/// The constants of FIPS 180-4 §4.2.2.
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The state before the first block (FIPS 180-4 §5.3.3).
pub(super) const INITIAL: HashState =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
