//! Interfaces: what a node speaks over, and the rules that come with each (spec 1.8, 1.15, 1.17, 1.18).

mod config;
mod framing;
mod hdlc;
mod ifac;
mod interface;
mod kiss;
mod mtu;
mod outgoing;
mod properties;
mod reconnect;
mod table;
mod unescape;

pub use config::{
    AccessConfig, InterfaceConfig, InterfaceConfigError, LocalAddress, MAX_MTU, Medium, Target,
};
pub use framing::{Deframer, Framing};
pub use ifac::{Ifac, IfacError};
pub use interface::{Interface, InterfaceCounters};
pub use mtu::mtu_for_bitrate;
pub use properties::{
    AnnounceRate, BurstControl, InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode,
};
pub(crate) use reconnect::Reconnect;
pub(crate) use table::InterfaceTable;
