//! What the cross-crate tests share.

#![deny(missing_docs)]

pub mod blocking;
pub mod peers;
pub mod raknet;
