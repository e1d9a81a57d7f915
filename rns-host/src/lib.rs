//! What a Reticulum host has beside the machine.
//!
//! - [`config`] reads the reference's config file and reports every mistake in it.
//! - [`store`] keeps a node's things in the reference's files.
//! - [`rpc`] is how programs on one host ask the shared instance among them, without sockets.
//!
//! Everything here is compatible with the reference both ways: a user can switch a directory over and back.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod config;
pub mod rpc;
pub mod store;
#[cfg(test)]
mod test_dir;
