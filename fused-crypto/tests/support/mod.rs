//! The same results, one pass after the other, from other crates.

use aes::{
    Aes256Enc,
    cipher::{BlockModeEncrypt, InnerIvInit, KeyInit},
};
use fused_crypto::{HashState, SealKey};
use sha2::{Digest, Sha256, block_api::compress256};

/// Keys with their pads hashed.
pub(crate) struct Keys {
    cipher: [u8; 32],
    tag: [u8; 32],
    inner: HashState,
    outer: HashState,
}

impl Keys {
    pub(crate) fn new(tag: [u8; 32], cipher: [u8; 32]) -> Self {
        let padded = |pad: u8| {
            let mut block = [pad; 64];
            block.iter_mut().zip(tag).for_each(|(byte, key)| *byte ^= key);
            let mut state = INITIAL;
            compress256(&mut state, &[block]);
            state
        };
        Self { cipher, tag, inner: padded(0x36), outer: padded(0x5c) }
    }

    pub(crate) fn seal_key(&self) -> SealKey<'_> {
        SealKey { cipher: &self.cipher, inner: &self.inner, outer: &self.outer }
    }

    /// Returns vector, ciphertext and tag.
    pub(crate) fn seal(&self, vector: [u8; 16], plaintext: &[u8]) -> Vec<u8> {
        let padding = 16 - plaintext.len() % 16;
        let mut blocks = plaintext.to_vec();
        blocks.extend(std::iter::repeat_n(u8::try_from(padding).unwrap(), padding));
        let cipher = Aes256Enc::new(&self.cipher.into());
        let (whole, _) = aes::Block::slice_as_chunks_mut(&mut blocks);
        cbc::Encryptor::inner_iv_init(&cipher, &vector.into()).encrypt_blocks(whole);
        let mut stream = [&vector[..], &blocks].concat();
        let mac = |pad: u8| {
            let mut key = [pad; 64];
            key.iter_mut().zip(self.tag).for_each(|(byte, tag)| *byte ^= tag);
            key
        };
        let inner = Sha256::new_with_prefix(mac(0x36)).chain_update(&stream).finalize();
        stream.extend(Sha256::new_with_prefix(mac(0x5c)).chain_update(inner).finalize());
        stream
    }
}

/// The state after the whole blocks of `bytes`.
pub(crate) fn state_after(bytes: &[u8]) -> HashState {
    let mut state = INITIAL;
    compress256(&mut state, bytes.as_chunks().0);
    state
}

/// The first bytes of the hash of each part and the suffix.
pub(crate) fn part_hashes(stream: &[u8], part_size: usize, suffix: [u8; 4]) -> Vec<[u8; 4]> {
    let hash =
        |part: &[u8]| Sha256::new_with_prefix(part).chain_update(suffix).finalize()[..4].try_into().unwrap();
    stream.chunks(part_size).map(hash).collect()
}

const INITIAL: HashState =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
