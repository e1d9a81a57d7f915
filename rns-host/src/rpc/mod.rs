//! The remote procedure calls of a shared instance (spec 1.16), as machines without sockets.
//!
//! A connection carries one call. Its two ends prove to each other that they know the key, each by an HMAC over the
//! other's challenge, then one MessagePack request goes one way and one reply the other:
//!
//! ```text
//! server  challenge ->                                   <- answer  client
//!         welcome   ->                                   <- challenge
//!         answer    ->                                   <- welcome
//!                                                        <- request
//!         reply     ->
//! ```
//!
//! Python's `multiprocessing.connection` is what the reference uses on both ends. Before Python 3.12 it answers with
//! HMAC-MD5, since then with HMAC-SHA256; both kinds are understood here.

mod client;
mod error;
mod frame;
mod handshake;
mod key;
mod request;
mod server;

pub use client::{RpcClient, RpcClientEvent};
pub use error::RpcError;
pub use frame::{MAX_REPLY, MAX_REQUEST};
pub use key::{ParseRpcKeyError, RpcKey};
pub use request::{RequestError, RpcRequest};
pub use server::{RpcServer, RpcServerEvent};
