//! SHA-256, HMAC and HKDF as the protocol uses them.

use super::{HashState, RunningHash};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Returns the SHA-256 of `parts` in a row.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = RunningHash::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finish()
}

/// Returns the HMAC-SHA256 of `parts` in a row under a key that is used once.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    HmacKey::new(key).tag(parts)
}

/// A key of HMAC-SHA256 (RFC 2104) with both its pads already hashed.
#[derive(Clone, ZeroizeOnDrop)]
pub struct HmacKey {
    inner: HashState,
    outer: HashState,
}

impl HmacKey {
    /// Prepares a key of any length.
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; 64];
        if key.len() <= block.len() {
            block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        } else {
            block.iter_mut().zip(sha256(&[key])).for_each(|(to, from)| *to = from);
        }
        let [inner, outer] = [0x36, 0x5c].map(|pad| {
            let mut padded = block.map(|byte| byte ^ pad);
            let state = RunningHash::state_after(&padded);
            padded.zeroize();
            state
        });
        block.zeroize();
        Self { inner, outer }
    }

    /// Returns the tag of `parts` in a row.
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut tag = self.start();
        parts.iter().for_each(|part| tag.update(part));
        tag.finish()
    }

    /// Starts a tag over parts that come one after the other.
    pub const fn start(&self) -> RunningTag {
        RunningTag { hash: RunningHash::resume(self.inner, 1), outer: self.outer }
    }

    /// Returns the states after the inner and the outer pad. They are as secret as the key.
    pub const fn states(&self) -> [&HashState; 2] {
        [&self.inner, &self.outer]
    }
}

impl core::fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HmacKey").finish_non_exhaustive()
    }
}

/// A tag over bytes that are still coming.
#[derive(Clone)]
pub struct RunningTag {
    hash: RunningHash,
    outer: HashState,
}

impl RunningTag {
    /// Takes in more bytes.
    pub fn update(&mut self, part: &[u8]) {
        self.hash.update(part);
    }

    /// Returns the tag over all of them.
    pub fn finish(self) -> [u8; 32] {
        let mut outer = RunningHash::resume(self.outer, 1);
        outer.update(&self.hash.finish());
        outer.finish()
    }

    /// Returns the hash that the bytes go into.
    pub(crate) const fn hash_mut(&mut self) -> &mut RunningHash {
        &mut self.hash
    }
}

impl core::fmt::Debug for RunningTag {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RunningTag").finish_non_exhaustive()
    }
}

/// Derives `out` from `secret` by HKDF-SHA256 with an empty `info` (RFC 5869; spec 1.5).
///
/// An empty salt counts as 32 zero bytes. The block counter wraps modulo 256, which the masks of long IFAC packets
/// need: RFC 5869 itself ends at 255 blocks.
pub fn hkdf(secret: &[u8], salt: &[u8], out: &mut [u8]) {
    let pseudorandom = hmac_sha256(if salt.is_empty() { &[0; 32] } else { salt }, &[secret]);
    let key = HmacKey::new(&pseudorandom);
    let mut previous = None;
    let mut counter = 0_u8;
    for block in out.chunks_mut(32) {
        counter = counter.wrapping_add(1);
        let tag = key.tag(&[previous.as_ref().map_or(&[], <[u8; 32]>::as_slice), &[counter]]);
        block.iter_mut().zip(tag).for_each(|(to, from)| *to = from);
        previous = Some(tag);
    }
}

/// Derives an array as [`hkdf`] does.
pub fn hkdf_array<const N: usize>(secret: &[u8], salt: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    hkdf(secret, salt, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_5869_case_3_has_neither_salt_nor_info() {
        let out = hkdf_array::<42>(&[0x0b; 22], &[]);
        let expected = [
            0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c, 0x5a, 0x31,
            0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d,
            0x9d, 0x20, 0x13, 0x95, 0xfa, 0xa4, 0xb6, 0x1a, 0x96, 0xc8,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn rfc_4231_case_2_is_reproduced_in_pieces() {
        let key = HmacKey::new(b"Jefe");
        let whole = key.tag(&[b"what do ya want for nothing?"]);
        assert_eq!(whole.get(..4), Some(&[0x5b, 0xdc, 0xc1, 0x46][..]));
        let mut running = key.start();
        running.update(b"what do ya want ");
        running.update(b"for nothing?");
        assert_eq!(running.finish(), whole);
    }

    #[test]
    fn rfc_4231_case_6_has_a_key_longer_than_a_block() {
        let tag = hmac_sha256(&[0xaa; 131], &[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(tag.first_chunk(), Some(&[0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f]));
    }

    #[test]
    fn the_block_counter_wraps_after_255_blocks() {
        let mut long = [0; 300 * 32];
        hkdf(b"secret", b"salt", &mut long);
        assert_ne!(long.chunks(32).nth(255), long.chunks(32).next_back());
    }
}
