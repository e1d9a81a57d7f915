//! Tokens: the one form of symmetric encryption (spec 1.5).
//!
//! ```text
//! vector 16 | AES-CBC(PKCS#7(plaintext)) | HMAC-SHA256(vector | ciphertext) 32
//! ```

use super::{CryptoProvider, Entropy, HmacKey, draw};
use aes::{
    Aes128Dec, Aes128Enc, Aes256Dec, Aes256Enc,
    cipher::{
        BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit,
    },
};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// How much longer than its padded plaintext a token is: the vector and the tag.
pub const TOKEN_OVERHEAD: usize = 48;

/// Returns the length of a token for `plaintext` bytes; the padding is 1 to 16 bytes.
pub const fn token_len(plaintext: usize) -> usize {
    TOKEN_OVERHEAD + (plaintext / 16 + 1) * 16
}

/// A token key with its schedules computed.
pub struct TokenKey {
    tag: HmacKey,
    cipher: Cipher,
}

/// The reference's two kinds of AES; only AES-256 is used on links and towards identities.
enum Cipher {
    Aes128(Box<(Aes128Enc, Aes128Dec)>),
    Aes256(Box<Aes256>),
}

/// A key of AES-256, as it is and with its schedules computed.
struct Aes256 {
    key: Zeroizing<[u8; 32]>,
    encrypt: Aes256Enc,
    decrypt: Aes256Dec,
}

impl TokenKey {
    /// Prepares a key of the kind that links, identities and groups have: 32 bytes for the tag, then 32 for AES-256.
    pub fn new(key: &[u8; 64]) -> Self {
        let (tag, cipher) = key.split_at(32);
        let cipher: &[u8; 32] = cipher.first_chunk().unwrap_or(&[0; 32]);
        Self {
            tag: HmacKey::new(tag),
            cipher: Cipher::Aes256(Box::new(Aes256 {
                key: Zeroizing::new(*cipher),
                encrypt: Aes256Enc::new(cipher.into()),
                decrypt: Aes256Dec::new(cipher.into()),
            })),
        }
    }

    /// Prepares a key of the old kind: 16 bytes for the tag, then 16 for AES-128.
    pub fn new_legacy(key: &[u8; 32]) -> Self {
        let (tag, cipher) = key.split_at(16);
        let cipher: &[u8; 16] = cipher.first_chunk().unwrap_or(&[0; 16]);
        Self {
            tag: HmacKey::new(tag),
            cipher: Cipher::Aes128(Box::new((Aes128Enc::new(cipher.into()), Aes128Dec::new(cipher.into())))),
        }
    }

    /// Returns the key of the tags, already hashed into its pads.
    pub const fn tag_key(&self) -> &HmacKey {
        &self.tag
    }

    /// Returns the secret key of AES-256; `None` for the old kind.
    pub fn aes256_key(&self) -> Option<&[u8; 32]> {
        match &self.cipher {
            Cipher::Aes128(_) => None,
            Cipher::Aes256(cipher) => Some(&cipher.key),
        }
    }

    /// Encrypts whole blocks in place and returns the vector for the blocks that follow.
    pub fn encrypt_blocks(&self, vector: [u8; 16], blocks: &mut [u8]) -> [u8; 16] {
        match &self.cipher {
            Cipher::Aes128(ciphers) => encrypt_with(&ciphers.0, vector, blocks),
            Cipher::Aes256(cipher) => encrypt_with(&cipher.encrypt, vector, blocks),
        }
    }

    /// Decrypts whole blocks in place and returns the vector for the blocks that follow.
    pub fn decrypt_blocks(&self, vector: [u8; 16], blocks: &mut [u8]) -> [u8; 16] {
        let next = blocks.last_chunk().copied().unwrap_or(vector);
        match &self.cipher {
            Cipher::Aes128(ciphers) => decrypt_with(&ciphers.1, vector, blocks),
            Cipher::Aes256(cipher) => decrypt_with(&cipher.decrypt, vector, blocks),
        }
        next
    }

    /// Says whether `token` was made with this key.
    pub fn made(&self, token: &[u8]) -> bool {
        token.split_last_chunk::<32>().is_some_and(|(body, tag)| bool::from(self.tag.tag(&[body]).ct_eq(tag)))
    }

    /// Verifies `token` and decrypts it in place; the result is the plaintext's place in it.
    ///
    /// # Errors
    /// The token is too short, was not made with this key, or its padding is impossible. It is unchanged but in the
    /// last case.
    pub fn open<'a>(&self, token: &'a mut [u8]) -> Result<&'a mut [u8], TokenError> {
        if token.len() < TOKEN_OVERHEAD + 16 || !token.len().is_multiple_of(16) {
            return Err(TokenError::TooShort);
        }
        if !self.made(token) {
            return Err(TokenError::WrongKey);
        }
        let (body, _) = token.split_last_chunk_mut::<32>().ok_or(TokenError::TooShort)?;
        let (vector, blocks) = body.split_first_chunk_mut::<16>().ok_or(TokenError::TooShort)?;
        self.decrypt_blocks(*vector, blocks);
        let len = unpadded_len(blocks).ok_or(TokenError::Padding)?;
        blocks.get_mut(..len).ok_or(TokenError::Padding)
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKey").finish_non_exhaustive()
    }
}

/// Whole tokens, for callers that do not care where the buffers are.
#[derive(Debug)]
pub struct Token;

impl Token {
    /// Returns the token of `plaintext`. Draws the 16 bytes of the vector.
    pub fn seal(
        crypto: &dyn CryptoProvider,
        key: &TokenKey,
        entropy: &mut dyn Entropy,
        plaintext: &[u8],
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(token_len(plaintext.len()));
        crypto.seal(key, draw(entropy), &[plaintext], &mut out);
        out
    }
}

/// Bytes that are no token for a key.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Shorter than a vector, one block and a tag, or not made of blocks.
    #[error("too short for a token, or not whole blocks")]
    TooShort,
    /// The tag does not fit: another key, or changed on the way.
    #[error("the token was not made with this key")]
    WrongKey,
    /// The sender, who had the key, padded by more than a block.
    #[error("the token's padding is impossible")]
    Padding,
}

/// Returns the length without the padding (PKCS#7). As in the reference only the count is looked at: behind a valid
/// tag the padding tells nobody anything.
fn unpadded_len(blocks: &[u8]) -> Option<usize> {
    let padding = usize::from(*blocks.last()?);
    (1..=16).contains(&padding).then(|| blocks.len().checked_sub(padding)).flatten()
}

/// Seals by encrypting everything and then hashing everything.
pub(super) fn seal_in_two_passes(key: &TokenKey, vector: [u8; 16], parts: &[&[u8]], out: &mut Vec<u8>) {
    let start = out.len();
    let len: usize = parts.iter().map(|part| part.len()).sum();
    out.reserve(token_len(len));
    out.extend_from_slice(&vector);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    let padding = 16 - len % 16;
    out.extend((0..padding).map(|_| u8::try_from(padding).unwrap_or(16)));
    if let Some(blocks) = out.get_mut(start + 16..) {
        key.encrypt_blocks(vector, blocks);
    }
    let tag = key.tag.tag(&[out.get(start..).unwrap_or_default()]);
    out.extend_from_slice(&tag);
}

fn encrypt_with<C: BlockCipherEncrypt<BlockSize = aes::cipher::consts::U16>>(
    cipher: &C,
    vector: [u8; 16],
    blocks: &mut [u8],
) -> [u8; 16] {
    let (blocks, _) = aes::Block::slice_as_chunks_mut(blocks);
    cbc::Encryptor::inner_iv_init(cipher, &vector.into()).encrypt_blocks(blocks);
    blocks.last().map_or(vector, |last| (*last).into())
}

fn decrypt_with<C: BlockCipherDecrypt<BlockSize = aes::cipher::consts::U16>>(
    cipher: &C,
    vector: [u8; 16],
    blocks: &mut [u8],
) {
    let (blocks, _) = aes::Block::slice_as_chunks_mut(blocks);
    cbc::Decryptor::inner_iv_init(cipher, &vector.into()).decrypt_blocks(blocks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::Dalek;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_token_opens_to_what_was_sealed(key: [u8; 32], vector: [u8; 16], plaintext: Vec<u8>, cut: usize) {
            let mut whole = [0; 64];
            whole[..32].copy_from_slice(&key);
            for key in [TokenKey::new(&whole), TokenKey::new_legacy(&key)] {
                let mut token = Vec::new();
                let (head, tail) = plaintext.split_at(cut % (plaintext.len() + 1));
                Dalek.seal(&key, vector, &[head, tail], &mut token);
                prop_assert_eq!(token.len(), token_len(plaintext.len()));
                let sealed = token.clone();
                prop_assert_eq!(&*key.open(&mut token).unwrap(), &plaintext[..]);
                for len in 0..sealed.len() {
                    prop_assert!(key.open(&mut sealed[..len].to_vec()).is_err());
                }
            }
        }
    }

    #[test]
    fn a_token_that_was_changed_anywhere_does_not_open() {
        let key = TokenKey::new(&[7; 64]);
        let mut token = Vec::new();
        Dalek.seal(&key, [1; 16], &[b"hello"], &mut token);
        for place in 0..token.len() {
            let mut changed = token.clone();
            changed[place] ^= 0x10;
            assert_eq!(key.open(&mut changed), Err(TokenError::WrongKey));
        }
        assert_eq!(TokenKey::new(&[8; 64]).open(&mut token), Err(TokenError::WrongKey));
    }
}
