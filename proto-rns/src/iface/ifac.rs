//! Interface access codes: a network that only those who know its name and passphrase can speak on (spec 1.15).
//!
//! ```text
//! flags with bit 7 | hops | code 1..64 | rest        all masked but the code
//! ```

use crate::{
    crypto::{CryptoProvider, hkdf, hkdf_array, sha256},
    identity::Identity,
};
use alloc::vec::Vec;
use core::fmt;
use subtle::ConstantTimeEq;

/// The access code of one interface.
pub struct Ifac {
    key: [u8; 64],
    identity: Identity,
    size: usize,
}

impl Ifac {
    /// The salt under which keys are derived.
    const SALT: [u8; 32] = [
        0xad, 0xf5, 0x4d, 0x88, 0x2c, 0x9a, 0x9b, 0x80, 0x77, 0x1e, 0xb4, 0x99, 0x5d, 0x70, 0x2d, 0x4a, 0x3e,
        0x73, 0x33, 0x91, 0xb2, 0xa0, 0xf5, 0x3f, 0x41, 0x6d, 0x9f, 0x90, 0x7e, 0x55, 0xcf, 0xf8,
    ];
    /// The flag on frames that have a code.
    const FLAG: u8 = 0x80;

    /// Derives the key from the network's name and passphrase. `size` is clamped to 1..=64 bytes. `None` without
    /// either.
    pub fn new(
        crypto: &dyn CryptoProvider,
        network_name: Option<&str>,
        passphrase: Option<&str>,
        size: usize,
    ) -> Option<Self> {
        let mut origin = Vec::new();
        for part in [network_name, passphrase].into_iter().flatten().filter(|part| !part.is_empty()) {
            origin.extend_from_slice(&sha256(&[part.as_bytes()]));
        }
        if origin.is_empty() {
            return None;
        }
        let key = hkdf_array(&sha256(&[&origin]), &Self::SALT);
        Some(Self { identity: Identity::from_bytes(crypto, &key), key, size: size.clamp(1, 64) })
    }

    /// Returns the length of the code.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns the key.
    pub const fn key(&self) -> &[u8; 64] {
        &self.key
    }

    /// Signs something with the access identity, as the reference shows it in its status.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.identity.sign(message)
    }

    /// Appends the frame of the packet made of `parts`, with its code and masked.
    pub fn seal(&self, parts: &[&[u8]], out: &mut Vec<u8>) {
        let start = out.len();
        parts.iter().for_each(|part| out.extend_from_slice(part));
        let signature = self.identity.sign(out.get(start..).unwrap_or_default());
        let code = signature.get(64 - self.size..).unwrap_or(&signature);
        out.splice(start + 2..start + 2, code.iter().copied());
        let Some(frame) = out.get_mut(start..) else { return };
        self.mask(code, frame);
        if let Some(flags) = frame.first_mut() {
            *flags |= Self::FLAG;
        }
    }

    /// Unmasks a frame in place, checks its code and takes it out; the result is the packet.
    ///
    /// # Errors
    /// The frame has no code, is too short for one, or has another network's.
    pub fn open<'a>(&self, frame: &'a mut [u8]) -> Result<&'a mut [u8], IfacError> {
        if !Self::is_flagged(frame) {
            return Err(IfacError::Missing);
        }
        let mut code = [0; 64];
        let code = code.get_mut(..self.size).ok_or(IfacError::Wrong)?;
        code.copy_from_slice(frame.get(2..2 + self.size).ok_or(IfacError::Wrong)?);
        if frame.len() <= 2 + self.size {
            return Err(IfacError::Wrong);
        }
        self.mask(code, frame);
        // The first two bytes move over the code, so that the packet is in one piece.
        frame.copy_within(0..2, self.size);
        let packet = frame.get_mut(self.size..).ok_or(IfacError::Wrong)?;
        if let Some(flags) = packet.first_mut() {
            *flags &= !Self::FLAG;
        }
        let signature = self.identity.sign(packet);
        let expected = signature.get(64 - self.size..).unwrap_or(&signature);
        if bool::from(expected.ct_eq(code)) { Ok(packet) } else { Err(IfacError::Wrong) }
    }

    /// Says whether a frame claims to have a code.
    pub fn is_flagged(frame: &[u8]) -> bool {
        frame.first().is_some_and(|flags| flags & Self::FLAG != 0)
    }

    /// Masks or unmasks everything but the code.
    fn mask(&self, code: &[u8], frame: &mut [u8]) {
        let mut mask = alloc::vec![0; frame.len()];
        hkdf(code, &self.key, &mut mask);
        let masked = frame.iter_mut().zip(mask).enumerate();
        for (place, (byte, mask)) in masked {
            if !(2..2 + self.size).contains(&place) {
                *byte ^= mask;
            }
        }
    }
}

impl fmt::Debug for Ifac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ifac").field("size", &self.size).finish_non_exhaustive()
    }
}

/// A frame that does not belong to the interface's network.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IfacError {
    /// It has no access code.
    #[error("the frame has no interface access code")]
    Missing,
    /// It is too short for one, or has another network's.
    #[error("the frame has the access code of another network")]
    Wrong,
}
