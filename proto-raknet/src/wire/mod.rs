//! The bytes of every message: pure parsing and emitting, without any state.
//!
//! Offline messages, connected messages and the datagrams of a session each live in a file by their family. A
//! message's `parse` reads what follows its id and its `emit` writes the id too, unless they say otherwise.
//! Numbers are big-endian except the 24-bit ones, which are little-endian; times are milliseconds of a clock
//! of the sender's own, and only ever echoed.

#![deny(clippy::arithmetic_side_effects)]

mod ack;
pub mod address;
mod connected;
mod datagram;
mod error;
mod frame;
mod handshake;
mod id;
mod internal_addresses;
pub mod magic;
mod offline;
mod open;
mod out_of_band;
mod ping;
mod refusal;
mod session;
#[cfg(test)]
mod testing;
mod timestamp;
mod version;

pub use ack::{AckKind, AckRecords, NumberRange, emit_records};
pub use address::UNASSIGNED;
pub use connected::Connected;
pub use datagram::{DataHeader, DatagramKind, DatagramNumber};
pub use error::ParseError;
pub use frame::{Frame, Order, OrderingIndex, ReliableIndex, SequencingIndex, SplitId, SplitPart};
pub use handshake::{ConnectionRequest, ConnectionRequestAccepted, NewIncomingConnection};
pub use id::{FIRST_USER_ID, MessageId};
pub use internal_addresses::InternalAddresses;
pub use magic::MAGIC;
pub use offline::Offline;
pub use open::{OpenConnectionReply1, OpenConnectionReply2, OpenConnectionRequest1, OpenConnectionRequest2};
pub use out_of_band::{AdvertiseSystem, OutOfBand};
pub use ping::{MAX_PONG_DATA, UnconnectedPing, UnconnectedPong};
pub use refusal::{IncompatibleProtocolVersion, Refusal, RefusalKind};
pub use session::{
    ConnectedPing, ConnectedPong, DetectLostConnections, DisconnectionNotification, InvalidPassword,
};
pub use timestamp::Timestamped;
pub use version::ProtocolVersion;
