//! The contract between Iolite's protocol machines and whatever drives them.
//!
//! A protocol is a pure state machine. It is fed datagrams, stream bytes and timestamps through the
//! `handle_*` methods of [`Machine`]; it answers with transmits, events, link requests and one deadline
//! through the `poll_*` methods. It never opens a socket, reads a clock, asks the operating system for
//! randomness, spawns or sleeps.
//!
//! Everything that does such things is a driver. A driver implements [`Sink`] and calls [`pump`] after each
//! batch of input; `pump` is the only drain loop in the workspace, so no driver can forget a step.
//!
//! # A run loop
//!
//! ```
//! use core::num::NonZeroUsize;
//! use proto_core::{Datagram, Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Sink, Transmit, pump};
//!
//! /// Sends every datagram back to where it came from.
//! #[derive(Default)]
//! struct Echo(Vec<(std::net::SocketAddr, Vec<u8>)>);
//!
//! impl Machine for Echo {
//!     type Event = usize;
//!     fn handle_datagram(&mut self, _now: Instant, datagram: Datagram<'_>) {
//!         self.0.push((datagram.from, datagram.data.to_vec()));
//!     }
//!     fn handle_link(&mut self, _now: Instant, _link: LinkId, _event: LinkEvent) {}
//!     fn handle_timeout(&mut self, _now: Instant) {}
//!     fn poll_transmit(&mut self, _now: Instant, _max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
//!         let (to, data) = self.0.pop()?;
//!         buf.extend_from_slice(&data);
//!         Some(Transmit::datagram(LinkId(0), to, data.len()))
//!     }
//!     fn poll_event(&mut self) -> Option<usize> { None }
//!     fn poll_timeout(&self) -> Option<Instant> { None }
//! }
//!
//! /// A real driver hands the bytes to a socket here.
//! struct Socket { sent: Vec<Vec<u8>> }
//!
//! impl Sink<usize> for Socket {
//!     fn link(&mut self, _request: LinkRequest) {}
//!     fn transmit(&mut self, _transmit: &Transmit, bytes: &[u8]) -> Flow {
//!         self.sent.push(bytes.to_vec());
//!         Flow::Sent
//!     }
//!     fn event(&mut self, _event: usize) {}
//! }
//!
//! let (mut machine, mut socket, mut scratch) = (Echo::default(), Socket { sent: vec![] }, Vec::new());
//! let now = Instant::from_nanos(0);
//! let from = "127.0.0.1:9".parse().unwrap();
//! machine.handle_datagram(now, Datagram::new(LinkId(0), from, &mut [1, 2, 3]));
//! let pumped = pump(&mut machine, now, usize::MAX, &mut scratch, &mut socket);
//! assert_eq!(socket.sent, [[1, 2, 3]]);
//! assert_eq!(pumped.next, None); // nothing to wait for but the next datagram
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod cursor;
mod link;
mod machine;
mod pump;
mod rng;
mod seq;
mod time;
mod timer;

pub use cursor::{Reader, Truncated};
pub use link::{
    Datagram, DatagramOptions, DownReason, Ecn, Interface, LinkEvent, LinkId, LinkRequest, LinkSpec, Transmit,
};
pub use machine::Machine;
pub use pump::{Flow, Pumped, Sink, deliver, pump};
pub use rng::Rng;
pub use seq::U24;
#[cfg(feature = "std")]
pub use time::StdClock;
pub use time::{Instant, UnixTime};
pub use timer::Deadlines;
