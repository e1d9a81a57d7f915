//! The typed faces: what applications hold, one module a protocol.

pub mod raknet;
mod waiters;
