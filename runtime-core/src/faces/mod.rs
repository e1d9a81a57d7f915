//! The typed faces: what applications hold, one module a protocol.

#[cfg(feature = "conn")]
pub mod conn;
#[cfg(any(feature = "conn", feature = "rns"))]
mod promise;
#[cfg(feature = "raknet")]
pub mod raknet;
#[cfg(feature = "rns")]
pub mod rns;
mod waiters;
