//! Interfaces: what a node speaks over, and the rules that come with each (spec 1.8, 1.15, 1.17, 1.18).

mod announce_queue;
mod config;
mod egress;
mod escapes;
mod forwarding;
mod framing;
mod frequency;
mod hdlc;
mod ifac;
mod ingress;
mod interface;
mod kiss;
mod mtu;
mod outgoing;
mod properties;
mod reconnect;
mod table;

pub(crate) use announce_queue::{Admission, AnnounceQueue, Pace};
pub use announce_queue::{MAX_QUEUED_ANNOUNCES, MINIMUM_BITRATE, QUEUED_ANNOUNCE_LIFE};
pub use config::{
    AccessConfig, InterfaceConfig, InterfaceConfigError, LocalAddress, MAX_MTU, Medium, Target,
};
pub(crate) use egress::EgressGauge;
pub(crate) use forwarding::{AnnounceSource, may_pass_announce, may_search};
pub use framing::{Deframer, Framing};
pub use ifac::{Ifac, IfacError};
pub(crate) use ingress::{BurstGauge, HeldAnnounces};
pub use interface::{Interface, InterfaceCounters};
pub use mtu::mtu_for_bitrate;
pub use properties::{
    AnnounceRate, BurstControl, InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode,
};
pub(crate) use reconnect::Reconnect;
pub(crate) use table::InterfaceTable;
