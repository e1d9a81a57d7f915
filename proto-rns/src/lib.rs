//! The Reticulum Network Stack as pure state machines.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(feature = "std")]
pub mod bz2;
pub mod compression;
pub mod crypto;
pub mod dest;
mod env;
mod hash;
pub mod identity;
pub mod iface;
pub mod link;
pub mod node;
pub mod resource;
pub mod storage;
pub mod transport;
pub mod wire;

pub use env::Env;
pub use hash::{
    DestinationHash, IdentityHash, InterfaceHash, LinkHash, NameHash, PacketHash, ParseHashError, PathHash,
    RatchetId, RequestId, ResourceHash, truncated_hash,
};
