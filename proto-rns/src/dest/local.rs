//! Destinations of this node.

use super::{DestinationName, Ratchets, trials::TrialBudget};
use crate::{
    DestinationHash, Env, RatchetId,
    crypto::{TokenKey, draw},
    identity::{DecryptError, Identity},
    link::{LinkConfig, ProofStrategy},
    wire::DestinationType,
};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use zeroize::Zeroizing;

/// A destination that this node receives for.
#[derive(Debug)]
pub struct LocalDestination {
    name: DestinationName,
    hash: DestinationHash,
    keys: DestinationKeys,
    /// Which packets are answered with a proof.
    pub proofs: ProofStrategy,
    /// Whether links are accepted; only destinations of a single identity can.
    pub accepts_links: bool,
    /// How accepted links behave, where that differs from the node's settings.
    pub links: Option<LinkConfig>,
    /// What announces carry unless told otherwise.
    pub app_data: Vec<u8>,
    /// Its own ratchets, where it uses any.
    pub ratchets: Option<Ratchets>,
    /// Whether packets that were encrypted without a ratchet are refused.
    pub enforce_ratchets: bool,
    budget: TrialBudget,
}

/// Who can read what is sent to a destination.
pub enum DestinationKeys {
    /// The holder of one identity.
    Single(Identity),
    /// Everybody who has the key.
    Group(Box<GroupKey>),
    /// Everybody.
    Plain,
}

/// The key that the members of a group share.
pub struct GroupKey {
    bytes: Zeroizing<[u8; 64]>,
    token: TokenKey,
}

impl LocalDestination {
    /// Creates a destination of one identity. It proves nothing and accepts links until told otherwise.
    pub fn single(name: DestinationName, identity: Identity) -> Self {
        let hash = name.of(identity.hash());
        Self { accepts_links: true, ..Self::new(name, hash, DestinationKeys::Single(identity)) }
    }

    /// Creates a group's destination. The identity, where given, is only part of the address.
    pub fn group(name: DestinationName, identity: Option<&Identity>, key: GroupKey) -> Self {
        let hash = identity.map_or_else(|| name.of_nobody(), |identity| name.of(identity.hash()));
        Self::new(name, hash, DestinationKeys::Group(Box::new(key)))
    }

    /// Creates a destination that everybody can read.
    pub fn plain(name: DestinationName) -> Self {
        let hash = name.of_nobody();
        Self::new(name, hash, DestinationKeys::Plain)
    }

    /// Returns the name.
    pub const fn name(&self) -> &DestinationName {
        &self.name
    }

    /// Returns the address.
    pub const fn hash(&self) -> DestinationHash {
        self.hash
    }

    /// Returns what packets to it say that it is.
    pub const fn kind(&self) -> DestinationType {
        match &self.keys {
            DestinationKeys::Single(_) => DestinationType::Single,
            DestinationKeys::Group(_) => DestinationType::Group,
            DestinationKeys::Plain => DestinationType::Plain,
        }
    }

    /// Returns who can read.
    pub const fn keys(&self) -> &DestinationKeys {
        &self.keys
    }

    /// Returns the identity of a single destination.
    pub const fn identity(&self) -> Option<&Identity> {
        match &self.keys {
            DestinationKeys::Single(identity) => Some(identity),
            DestinationKeys::Group(_) | DestinationKeys::Plain => None,
        }
    }

    /// Decrypts what was sent to the destination, in place. Returns the ratchet that it was encrypted for, if it was
    /// one.
    ///
    /// # Errors
    /// No key fits, or too many messages that fit none came before it.
    pub fn decrypt<'a>(
        &mut self,
        env: &mut Env<'_>,
        message: &'a mut [u8],
    ) -> Result<(&'a mut [u8], Option<RatchetId>), DecryptError> {
        match &self.keys {
            DestinationKeys::Plain => Ok((message, None)),
            DestinationKeys::Group(key) => {
                key.token.open(message).map(|plaintext| (plaintext, None)).map_err(|_| DecryptError::WrongKey)
            }
            DestinationKeys::Single(identity) => {
                let budget = &mut self.budget;
                let ratchets = self.ratchets.iter().flat_map(Ratchets::keys).enumerate();
                let affordable = ratchets.map_while(|(age, key)| budget.allows(env.now, age).then_some(key));
                identity
                    .decrypt(env.crypto, affordable, self.enforce_ratchets, message)
                    .map(|decrypted| (decrypted.plaintext, decrypted.ratchet))
            }
        }
    }

    fn new(name: DestinationName, hash: DestinationHash, keys: DestinationKeys) -> Self {
        Self {
            name,
            hash,
            keys,
            proofs: ProofStrategy::None,
            accepts_links: false,
            links: None,
            app_data: Vec::new(),
            ratchets: None,
            enforce_ratchets: false,
            budget: TrialBudget::default(),
        }
    }
}

impl GroupKey {
    /// Creates a key. Draws 64 bytes.
    pub fn generate(env: &mut Env<'_>) -> Self {
        Self::from_bytes(&draw(env.entropy))
    }

    /// Takes a key.
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Self { bytes: Zeroizing::new(*bytes), token: TokenKey::new(bytes) }
    }

    /// Returns the bytes that all members need.
    pub fn bytes(&self) -> &[u8; 64] {
        &self.bytes
    }

    /// Encrypts for the group. Draws 16 bytes.
    pub fn encrypt(&self, env: &mut Env<'_>, plaintext: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        env.crypto.seal(&self.token, draw(env.entropy), &[plaintext], &mut out);
        out
    }
}

impl fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for DestinationKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(identity) => f.debug_tuple("Single").field(identity).finish(),
            Self::Group(_) => f.write_str("Group"),
            Self::Plain => f.write_str("Plain"),
        }
    }
}
