//! What a router does with packets, by the rules of the protocol and by what users complained about.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may stop at what it does not expect"
)]

mod announces;
mod forwarding;
mod persistence;
mod reports;
mod searching;
mod speed;
mod tunnels;
#[path = "../vectors/mod.rs"]
#[allow(unreachable_pub, reason = "other test files share it")]
mod vectors;
mod wire;
mod world;
