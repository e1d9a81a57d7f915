//! What the tests of the C interface share.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what fails here fails its test")]

pub(crate) mod build;
pub(crate) mod echo;
pub(crate) mod header;
pub(crate) mod wishes;
