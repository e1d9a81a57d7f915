//! Real Reticulum nodes, and what tests need to put any two of them through the same scenarios.
//!
//! ```text
//! a test --> Stage (a network) --> Player (an implementation) --> ReticulumPeer (a running node)
//!       \--> scenarios::*  ------ play on any two of them -----------^
//! ```
//!
//! [`Iolite`] is ours. [`Reference`] is PyPI `rns`, run as it comes; its program is `tests/peers/python/rns_peer.py`. [`Utility`] runs the
//! command-line programs that come with it, and [`Lxmf`] is a node that speaks PyPI `lxmf`.
//!
//! This is a harness of tests: it panics where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a harness of tests fails as tests do"
)]

mod config;
mod content;
mod daemon;
mod destination;
mod event;
mod fields;
mod installed;
mod iolite;
mod lxmf;
mod peer;
mod program;
mod reference;
pub mod scenarios;
mod stage;
mod utility;
mod waiting;

pub use config::{AccessCode, Config, Interface, InterfaceKind, LocalSockets, SharedInstance};
pub use content::{Content, Fingerprint};
pub use daemon::Daemon;
pub use destination::{
    Allowance, Answer, DestinationKind, DestinationSpec, Direction, GroupKey, Proofs, Ratchets,
    RequestHandler, WISH,
};
pub use event::{
    Announce, BufferBytes, BufferEnded, ChannelMessage, Closure, Event, LinkClosed, LinkEstablished,
    LinkIdentified, LinkPacket, Outcome, PacketFate, PacketReceived, RequestFailed, RequestProgress,
    RequestReceived, ResourceOffered, ResourceProgress, ResourceReceived, ResourceSent, ResponseReceived,
};
pub use installed::is_skipped;
pub use iolite::Iolite;
pub use lxmf::{Lxmf, LxmfMessage, LxmfMethod};
pub use peer::{BufferStreams, InterfaceStatus, ReticulumPeer};
pub use reference::Reference;
pub use stage::{Cast, Medium, Player, Stage};
pub use utility::{Maker, RunningUtility, Utility};
pub use waiting::Waiting;

pub use crate::peers::{Output, Scratch};
