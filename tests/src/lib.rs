//! What the cross-crate tests share.

#![deny(missing_docs)]

pub mod blocking;
pub mod conn;
pub mod mesh;
pub mod peers;
pub mod raknet;
pub mod reticulum;

/// The examples in the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
