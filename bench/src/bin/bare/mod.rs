//! A blocking driver: sockets, one wait for all of them, the machines' deadlines.

pub(crate) mod client;
mod node;
pub(crate) mod server;
mod socket;
mod waiter;
