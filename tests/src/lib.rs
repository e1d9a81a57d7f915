//! What the cross-crate tests share.

#![deny(missing_docs)]

pub mod blocking;
pub mod peers;
pub mod raknet;

/// The examples in the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
