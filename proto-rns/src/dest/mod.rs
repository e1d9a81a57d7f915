//! Destinations: named addresses of identities, groups and everybody (spec 1.3).

mod name;

pub use name::{DestinationName, NameError};
