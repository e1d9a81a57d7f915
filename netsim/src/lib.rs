//! A virtual network under a virtual clock for Iolite's machines, and the law suite that each of them must pass.
//!
//! ```
//! # mod toy {
//! #     use proto_core::*;
//! #     #[derive(Debug, Default)]
//! #     pub struct Echo { out: Vec<(std::net::SocketAddr, Vec<u8>)>, got: Vec<Vec<u8>>, echoes: bool }
//! #     impl Echo {
//! #         pub fn server() -> Self { Self { echoes: true, ..Self::default() } }
//! #         pub fn send(&mut self, to: std::net::SocketAddr, data: &[u8]) { self.out.push((to, data.to_vec())); }
//! #     }
//! #     impl Machine for Echo {
//! #         type Event = Vec<u8>;
//! #         fn handle_datagram(&mut self, _: Instant, d: Datagram<'_>) {
//! #             if self.echoes { self.out.push((d.from, d.data.to_vec())); } else { self.got.push(d.data.to_vec()); }
//! #         }
//! #         fn handle_link(&mut self, _: Instant, _: LinkId, _: LinkEvent) {}
//! #         fn handle_timeout(&mut self, _: Instant) {}
//! #         fn poll_transmit(&mut self, _: Instant, _: std::num::NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
//! #             let (to, data) = self.out.pop()?;
//! #             buf.extend(&data);
//! #             Some(Transmit::datagram(LinkId(0), to, data.len()))
//! #         }
//! #         fn poll_event(&mut self) -> Option<Vec<u8>> { self.got.pop() }
//! #         fn poll_timeout(&self) -> Option<Instant> { None }
//! #     }
//! # }
//! # use toy::Echo;
//! use netsim::{Conditions, scenario};
//! use std::time::Duration;
//!
//! scenario("an_echo_comes_back", 0..4, |net| {
//!     let (client, server) = (net.add_node(Echo::default()), net.add_node(Echo::server()));
//!     net.set_paths(&Conditions::delayed(Duration::from_millis(20)));
//!     let to = net.address(server);
//!     net.command(client, |echo, _now| echo.send(to, b"hello"));
//!     net.run_for(Duration::from_millis(40));
//!     assert_eq!(net.take_events(client), [b"hello"]);
//!     assert_eq!(net.stats(client, server).delivered.datagrams, 1);
//! });
//! ```
//!
//! Nothing here opens a socket or reads a clock, and with the same seed everything happens again in the same way.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a simulator for tests: a violated law or a wrong call must fail the test that it happens in"
)]

pub mod capture;
mod driver;
mod entropy;
pub mod laws;
mod nat;
mod network;
mod node;
mod op;
mod path;
mod scenario;
mod stats;
mod stream;
mod trace;
mod wire;

pub use entropy::{ByteEntropy, Entropy};
pub use nat::Filtering;
pub use network::Network;
pub use node::{Application, ClockJump, Node, NodeId};
pub use op::Op;
#[cfg(feature = "proptest")]
pub use op::strategy;
pub use path::{Bottleneck, Burst, Conditions};
pub use scenario::{SEED_VARIABLE, scenario};
pub use stats::{Loss, PathStats, Traffic};
pub use stream::StreamConditions;
pub use trace::{Fate, Recorded, Trace};
pub use wire::Hiccups;
