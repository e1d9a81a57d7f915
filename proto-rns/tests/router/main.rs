//! What a router does with packets, by the rules of the protocol and by what users complained about.

mod announces;
mod forwarding;
mod persistence;
mod reports;
mod searching;
mod speed;
mod tunnels;
#[path = "../vectors/mod.rs"]
mod vectors;
mod wire;
mod world;
