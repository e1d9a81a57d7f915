//! Interfaces: what a node speaks over, and the rules that come with each (spec 1.8, 1.15, 1.17, 1.18).

mod properties;

pub use properties::{
    AnnounceRate, BurstControl, InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode,
};
