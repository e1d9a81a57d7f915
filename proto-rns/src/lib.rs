//! The Reticulum Network Stack as pure state machines.
//!
//! Reticulum is an encrypted mesh: destinations announce themselves, nodes pass announces on and so find paths, and
//! packets, links, requests and resources go along them. A [`Node`](node::Node) has all of it. It opens no socket and
//! reads no clock: a driver opens the links that its interfaces ask for, feeds it bytes and time through
//! [`Machine`](proto_core::Machine), and sends what it emits. Its parts can be used alone: the router in [`transport`],
//! a [`Link`](link::Link), the [resources](resource) of a link, the messages in [`wire`].
//!
//! # Two nodes in one loop
//!
//! ```
//! use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
//! use proto_core::{Datagram, Instant, LinkEvent, LinkRequest, Machine, UnixTime};
//! use proto_rns::{
//!     crypto::Dalek,
//!     dest::{DestinationName, LocalDestination},
//!     identity::Identity,
//!     iface::{InterfaceConfig, Medium},
//!     link::ProofStrategy,
//!     node::{Event, Node, NodeConfig, Tools},
//! };
//!
//! let addresses: [SocketAddr; 2] = ["10.0.0.1:4242".parse()?, "10.0.0.2:4242".parse()?];
//! let (mut now, wall) = (Instant::ZERO, UnixTime::new(Duration::from_secs(1_700_000_000)));
//! let node = |here: usize| -> Result<Node, Box<dyn std::error::Error>> {
//!     // The seed should come from the operating system.
//!     let seed = [here as u8; 32];
//!     let mut node = Node::new(NodeConfig::default(), Tools::default(), None, seed, now, wall)?;
//!     let medium = Medium::Udp { bind: addresses[here], forward: Some(addresses[1 - here]) };
//!     node.add_interface(now, InterfaceConfig::new("udp", medium))?;
//!     Ok(node)
//! };
//! let mut nodes = [node(0)?, node(1)?];
//!
//! let identity = Identity::from_bytes(&Dalek, &[7; 64]); // from a file, in earnest
//! let mut destination = LocalDestination::single(DestinationName::parse("example.inbox")?, identity);
//! destination.proofs = ProofStrategy::All;
//! let destination = nodes[1].register(now, destination)?;
//!
//! let mut delivered = false;
//! while !delivered {
//!     for (here, there) in [(0, 1), (1, 0)] {
//!         // What a driver does with sockets and timers: open links, report time, carry datagrams.
//!         while let Some(request) = nodes[here].poll_link() {
//!             if let LinkRequest::Open { link, .. } = request {
//!                 nodes[here].handle_link(now, link, LinkEvent::Up { local: None, peer: None });
//!                 if here == 1 {
//!                     nodes[here].announce(now, destination, None)?;
//!                 }
//!             }
//!         }
//!         if nodes[here].poll_timeout().is_some_and(|due| due <= now) {
//!             nodes[here].handle_timeout(now);
//!         }
//!         let mut datagram = Vec::new();
//!         while let Some(sent) = nodes[here].poll_transmit(now, NonZeroUsize::MIN, &mut datagram) {
//!             // Either node has one link only, and so both call it the same.
//!             let arrived = Datagram::new(sent.link, addresses[here], &mut datagram);
//!             nodes[there].handle_datagram(now, arrived);
//!             datagram.clear();
//!         }
//!         // What an application does with events.
//!         while let Some(event) = nodes[here].poll_event() {
//!             match event {
//!                 Event::Announce(announced) => {
//!                     nodes[here].send(now, announced.destination, b"hello")?;
//!                 }
//!                 Event::Packet { data, .. } => assert_eq!(data, "hello"),
//!                 Event::Delivered { .. } => delivered = true,
//!                 _ => {}
//!             }
//!         }
//!     }
//!     now += Duration::from_millis(10);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(feature = "std")]
pub mod bz2;
pub mod compression;
pub mod crypto;
pub mod dest;
mod env;
mod hash;
pub mod identity;
pub mod iface;
pub mod link;
pub mod node;
pub mod resource;
pub mod storage;
pub mod transport;
pub mod wire;

pub use env::Env;
pub use hash::{
    DestinationHash, IdentityHash, InterfaceHash, LinkHash, NameHash, PacketHash, ParseHashError, PathHash,
    RatchetId, RequestId, ResourceHash, truncated_hash,
};
