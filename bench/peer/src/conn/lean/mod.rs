//! The lean peer and its counterpart, the lean client: framing and nothing else, on blocking sockets.
//!
//! Every client can be measured against the same peer, so that peers do not distort the comparison; and the client shows
//! what is left when a client does only what it must. Both are strict about what they get, but know only what this
//! benchmark sends: POST with a length, binary messages, datagrams.
//!
//! - `stream`: a TCP connection, with or without TLS: whole messages out, in pieces that suit the kernel.
//! - `input`: bytes of a stream, read straight into the place where they belong.
//! - `http`, `web_socket`, `datagram`: a message each way, from either side.

mod client;
mod datagram;
mod http;
mod input;
mod mask;
mod peer;
mod stream;
mod tls;
mod web_socket;

pub use client::Client;
pub use peer::{serve, spawn};
