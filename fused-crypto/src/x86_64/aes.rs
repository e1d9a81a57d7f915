//! AES-256 block by block, and its key schedule (FIPS 197).

use core::arch::x86_64::{
    __m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aeskeygenassist_si128, _mm_loadu_si128,
    _mm_shuffle_epi32, _mm_slli_si128, _mm_storeu_si128, _mm_xor_si128,
};

/// The round keys, wiped when dropped.
pub(super) struct RoundKeys([__m128i; ROUND_KEYS]);

/// How many round keys AES-256 has.
pub(super) const ROUND_KEYS: usize = 15;

/// Computes a round key from the two before it.
macro_rules! round_key {
    ($two_before:expr, $assist:expr, $lane:literal) => {{
        let mut key = $two_before;
        key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        _mm_xor_si128(key, _mm_shuffle_epi32::<$lane>($assist))
    }};
}

impl RoundKeys {
    #[target_feature(enable = "aes,sse2")]
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let (halves, _) = key.as_chunks::<16>();
        let [first, second] = [halves.first(), halves.last()].map(|half| half.unwrap_or(&[0; 16]));
        let (k0, k1) = (load(first), load(second));
        macro_rules! pair {
            ($constant:literal: $even:ident, $odd:ident => $next_even:ident, $next_odd:ident) => {
                let $next_even = round_key!($even, _mm_aeskeygenassist_si128::<$constant>($odd), 0xff);
                let $next_odd = round_key!($odd, _mm_aeskeygenassist_si128::<0>($next_even), 0xaa);
            };
        }
        pair!(0x01: k0, k1 => k2, k3);
        pair!(0x02: k2, k3 => k4, k5);
        pair!(0x04: k4, k5 => k6, k7);
        pair!(0x08: k6, k7 => k8, k9);
        pair!(0x10: k8, k9 => k10, k11);
        pair!(0x20: k10, k11 => k12, k13);
        let k14 = round_key!(k12, _mm_aeskeygenassist_si128::<0x40>(k13), 0xff);
        Self([k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14])
    }

    pub(super) const fn all(&self) -> &[__m128i; ROUND_KEYS] {
        &self.0
    }

    /// Encrypts a block chained to the one before.
    #[target_feature(enable = "aes,sse2")]
    pub(super) fn encrypt(&self, chain: __m128i, block: &[u8; 16]) -> __m128i {
        let [first, middle @ .., last] = &self.0;
        let mut block = _mm_xor_si128(_mm_xor_si128(load(block), *first), chain);
        for key in middle {
            block = _mm_aesenc_si128(block, *key);
        }
        _mm_aesenclast_si128(block, *last)
    }
}

impl Drop for RoundKeys {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is good for 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn store(value: __m128i) -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: the array has 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), value) };
    bytes
}
