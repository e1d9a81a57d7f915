//! A destination's own ratchets: keys that are announced in place of the identity's and thrown away later (spec 1.6).

use crate::{
    Env,
    crypto::{CryptoProvider, draw},
    identity::Identity,
    wire::{
        Malformed,
        msgpack::{Reader, Writer},
    },
};
use alloc::{collections::VecDeque, vec::Vec};
use core::{fmt, time::Duration};
use proto_core::Instant;
use zeroize::Zeroizing;

/// The private keys, the newest first.
#[derive(Clone)]
pub struct Ratchets {
    keys: VecDeque<Zeroizing<[u8; 32]>>,
    rotated: Option<Instant>,
    interval: Duration,
    retained: usize,
}

impl Ratchets {
    /// How many old keys are kept unless set otherwise; what is encrypted for an older one is lost.
    pub const DEFAULT_RETAINED: usize = 512;
    /// The shortest time between rotations unless set otherwise.
    pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(30 * 60);

    /// Creates an empty set; the first announce creates the first key.
    pub const fn new() -> Self {
        Self {
            keys: VecDeque::new(),
            rotated: None,
            interval: Self::DEFAULT_INTERVAL,
            retained: Self::DEFAULT_RETAINED,
        }
    }

    /// Creates a new key if the last one is old enough, and says whether it did. Draws 32 bytes for it.
    pub fn rotate_if_due(&mut self, env: &mut Env<'_>) -> bool {
        let due = self.keys.is_empty()
            || self.rotated.is_none_or(|rotated| env.now.saturating_since(rotated) > self.interval);
        if due {
            self.rotate(env);
        }
        due
    }

    /// Creates a new key. Draws 32 bytes.
    pub fn rotate(&mut self, env: &mut Env<'_>) {
        self.keys.push_front(Zeroizing::new(draw(env.entropy)));
        self.keys.truncate(self.retained);
        self.rotated = Some(env.now);
    }

    /// Sets how many keys are kept, at least one.
    pub fn set_retained(&mut self, retained: usize) {
        self.retained = retained.max(1);
        self.keys.truncate(self.retained);
    }

    /// Sets the shortest time between rotations.
    pub const fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// Returns the public key of the newest ratchet.
    pub fn public(&self, crypto: &dyn CryptoProvider) -> Option<[u8; 32]> {
        self.keys.front().map(|key| crypto.agreement_key(key))
    }

    /// Returns the private keys, the newest first.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &[u8; 32]> {
        self.keys.iter().map(|key| &**key)
    }

    /// Returns the contents of the reference's ratchet file, signed by the destination's identity.
    pub fn to_file(&self, identity: &Identity) -> Zeroizing<Vec<u8>> {
        let mut list = Zeroizing::new(Vec::with_capacity(self.keys.len() * 34 + 3));
        let mut writer = Writer::new(&mut list);
        writer.array(self.keys.len());
        self.keys.iter().for_each(|key| _ = writer.bytes(&**key));
        let signature = identity.sign(&list);
        let mut file = Zeroizing::new(Vec::with_capacity(list.len() + 100));
        Writer::new(&mut file).map(2).str("signature").bytes(&signature).str("ratchets").bytes(&list);
        file
    }

    /// Takes the keys of a ratchet file, keeping the settings.
    ///
    /// # Errors
    /// The file is damaged, or not signed by the identity.
    pub fn load(
        &mut self,
        crypto: &dyn CryptoProvider,
        identity: &Identity,
        file: &[u8],
    ) -> Result<(), RatchetFileError> {
        let (signature, list) = parse_file(file)?;
        if !identity.public().verify(crypto, list, &signature) {
            return Err(RatchetFileError::Signature);
        }
        let mut reader = Reader::new(list);
        let count = reader.array_len().map_err(Malformed::from)?;
        let mut keys = VecDeque::new();
        for _ in 0..count.min(self.retained) {
            let key = reader.bytes().map_err(Malformed::from)?;
            keys.push_back(Zeroizing::new(key.try_into().map_err(|_| Malformed::Value)?));
        }
        self.keys = keys;
        Ok(())
    }
}

impl Default for Ratchets {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Ratchets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ratchets").field("count", &self.keys.len()).finish_non_exhaustive()
    }
}

/// A ratchet file that is not this destination's.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatchetFileError {
    /// It is no ratchet file.
    #[error("the ratchet file is damaged: {0}")]
    Malformed(#[from] Malformed),
    /// Another identity signed it.
    #[error("the ratchet file is not signed by the destination's identity")]
    Signature,
}

fn parse_file(file: &[u8]) -> Result<([u8; 64], &[u8]), Malformed> {
    let mut reader = Reader::new(file);
    let (mut signature, mut list) = (None, None);
    for _ in 0..reader.map_len()? {
        match reader.str()? {
            "signature" => signature = reader.bytes()?.try_into().ok(),
            "ratchets" => list = Some(reader.bytes()?),
            _ => _ = reader.value()?,
        }
    }
    signature.zip(list).ok_or(Malformed::Value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compression::NoCompression,
        crypto::{Dalek, SecureEntropy},
    };
    use proto_core::UnixTime;

    fn at(now: Instant, entropy: &mut SecureEntropy) -> Env<'_> {
        Env { now, wall: UnixTime::default(), crypto: &Dalek, compression: &NoCompression, entropy }
    }

    #[test]
    fn a_ratchet_is_replaced_when_it_is_old_and_old_ones_are_kept_up_to_the_limit() {
        let mut entropy = SecureEntropy::new([1; 32]);
        let mut ratchets = Ratchets::new();
        ratchets.set_retained(3);
        let mut publics = Vec::new();
        for minute in 0..125 {
            let now = Instant::ZERO + Duration::from_secs(60 * minute + minute);
            if ratchets.rotate_if_due(&mut at(now, &mut entropy)) {
                publics.push(ratchets.public(&Dalek).unwrap());
            }
        }
        assert_eq!((publics.len(), ratchets.keys().len()), (5, 3));
        publics.dedup();
        assert_eq!(publics.len(), 5);
    }

    #[test]
    fn a_ratchet_file_is_read_by_its_identity_only() {
        let mut entropy = SecureEntropy::new([1; 32]);
        let identity = Identity::from_bytes(&Dalek, &[3; 64]);
        let mut ratchets = Ratchets::new();
        ratchets.rotate(&mut at(Instant::ZERO, &mut entropy));
        ratchets.rotate(&mut at(Instant::ZERO, &mut entropy));
        let file = ratchets.to_file(&identity);

        let mut read = Ratchets::new();
        read.load(&Dalek, &identity, &file).unwrap();
        assert!(read.keys().eq(ratchets.keys()));
        let other = Identity::from_bytes(&Dalek, &[4; 64]);
        assert_eq!(read.load(&Dalek, &other, &file), Err(RatchetFileError::Signature));
        for len in 0..file.len() {
            assert!(read.load(&Dalek, &identity, &file[..len]).is_err());
        }
    }
}
