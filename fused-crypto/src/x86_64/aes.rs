//! AES-256 block by block, and its key schedule (FIPS 197).

use core::arch::x86_64::{
    __m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aeskeygenassist_si128, _mm_loadu_si128,
    _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_si128, _mm_storeu_si128, _mm_xor_si128,
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
        let mut keys = [_mm_setzero_si128(); ROUND_KEYS];
        let [first, second] = [halves.first(), halves.get(1)].map(|half| half.map_or([0; 16], |half| *half));
        let (mut even, mut odd) = (load(&first), load(&second));
        let mut place = keys.iter_mut();
        let mut put = |key| {
            if let Some(place) = place.next() {
                *place = key;
            }
        };
        put(even);
        put(odd);
        macro_rules! pair {
            ($constant:literal) => {
                even = round_key!(even, _mm_aeskeygenassist_si128::<$constant>(odd), 0xff);
                put(even);
                odd = round_key!(odd, _mm_aeskeygenassist_si128::<0>(even), 0xaa);
                put(odd);
            };
        }
        pair!(0x01);
        pair!(0x02);
        pair!(0x04);
        pair!(0x08);
        pair!(0x10);
        pair!(0x20);
        pair!(0x40);
        Self(keys)
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
