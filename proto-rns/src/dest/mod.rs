//! Destinations: named addresses of identities, groups and everybody (spec 1.3).

mod local;
mod name;
mod ratchets;
mod trials;

pub use local::{DestinationKeys, GroupKey, LocalDestination};
pub use name::{DestinationName, NameError};
pub use ratchets::{RatchetFileError, Ratchets};
