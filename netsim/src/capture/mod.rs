//! Capture files: pcap-ng and classic pcap in, pcap-ng out, and the UDP datagrams and TCP segments within.
//!
//! ```
//! use netsim::capture::{Capture, CaptureWriter, UdpPacket};
//! use std::time::Duration;
//!
//! let packet = UdpPacket {
//!     from: "10.0.0.1:4000".parse().unwrap(),
//!     to: "10.0.0.2:19132".parse().unwrap(),
//!     payload: &[1, 2, 3],
//!     is_truncated: false,
//! };
//! let mut writer = CaptureWriter::new();
//! writer.write_udp(Duration::from_secs(1), &packet, "");
//! let file = writer.into_bytes();
//! for frame in Capture::open(&file).unwrap() {
//!     assert_eq!(frame.unwrap().udp(), Some(packet));
//! }
//! ```

// Files come from strangers: unlike the simulator, which panics when a law is violated, this module never does.
#![deny(clippy::panic, clippy::expect_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

mod classic;
mod cursor;
mod frame;
mod ip;
mod next_generation;
mod packet;
mod reader;
mod tcp;
mod writer;

pub use frame::{Frame, LinkType};
pub use packet::UdpPacket;
pub use reader::{Capture, CaptureError};
pub use tcp::TcpSegment;
pub use writer::CaptureWriter;
