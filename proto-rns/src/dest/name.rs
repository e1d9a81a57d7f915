//! Names of destinations.

use crate::{DestinationHash, IdentityHash, NameHash, crypto::sha256, truncated_hash};
use alloc::string::String;
use core::fmt;

/// An application's name and its aspects, joined by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationName {
    full: String,
    hash: NameHash,
}

impl DestinationName {
    /// Joins an application's name and aspects.
    ///
    /// # Errors
    /// The application's name is empty, or a part contains a dot.
    pub fn new(application: &str, aspects: &[&str]) -> Result<Self, NameError> {
        if application.is_empty() {
            return Err(NameError::Empty);
        }
        let mut full = String::from(application);
        for aspect in aspects {
            full.push('.');
            full.push_str(aspect);
        }
        if core::iter::once(&application).chain(aspects).any(|part| part.contains('.')) {
            return Err(NameError::Dot);
        }
        Ok(Self::hashed(full))
    }

    /// Takes a name that is joined already, such as `lxmf.delivery`.
    ///
    /// # Errors
    /// The application's name is empty.
    pub fn parse(full: &str) -> Result<Self, NameError> {
        if full.is_empty() || full.starts_with('.') {
            return Err(NameError::Empty);
        }
        Ok(Self::hashed(full.into()))
    }

    /// Returns the hash of the name alone, as announces carry it.
    pub const fn hash(&self) -> NameHash {
        self.hash
    }

    /// Returns the whole name.
    pub fn as_str(&self) -> &str {
        &self.full
    }

    /// Returns the hash of the destination that an identity has under this name.
    pub fn of(&self, identity: IdentityHash) -> DestinationHash {
        self.hash.of(identity)
    }

    /// Returns the hash of the destination that has no identity: a plain one, or a group.
    pub fn of_nobody(&self) -> DestinationHash {
        DestinationHash::new(truncated_hash(&[self.hash.as_bytes()]))
    }

    fn hashed(full: String) -> Self {
        let hash = NameHash::from_prefix(&sha256(&[full.as_bytes()])).unwrap_or(NameHash::new([0; 10]));
        Self { full, hash }
    }
}

impl NameHash {
    /// Returns the hash of the destination that an identity has under the name with this hash.
    pub fn of(self, identity: IdentityHash) -> DestinationHash {
        DestinationHash::new(truncated_hash(&[self.as_bytes(), identity.as_bytes()]))
    }
}

impl fmt::Display for DestinationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full)
    }
}

/// A name that destinations cannot have.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is no application's name.
    #[error("the name of a destination must begin with the application's name")]
    Empty,
    /// A part contains a dot.
    #[error("the application's name and the aspects must not contain dots")]
    Dot,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_name_is_hashed_with_and_without_identity() {
        let name = DestinationName::new("proto", &["rns", "test"]).unwrap();
        assert_eq!(name.hash().to_string(), "3376c83703591e63d71c");
        let identity = "0b586e4a729968b321ffc949fc7088b8".parse().unwrap();
        assert_eq!(name.of(identity).to_string(), "e1887775ced5edaf8858bdd9da2d5b64");
        let control = DestinationName::parse("rnstransport.path.request").unwrap();
        assert_eq!(control.of_nobody().to_string(), "6b9f66014d9853faab220fba47d02761");
    }

    #[test]
    fn dots_within_a_part_and_empty_names_are_refused() {
        assert_eq!(DestinationName::new("a", &["b.c"]), Err(NameError::Dot));
        assert_eq!(DestinationName::new("a.b", &[]), Err(NameError::Dot));
        assert_eq!(DestinationName::new("", &["b"]), Err(NameError::Empty));
        assert_eq!(DestinationName::parse(""), Err(NameError::Empty));
    }
}
