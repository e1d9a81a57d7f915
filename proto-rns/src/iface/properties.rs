//! What the rest of a node knows of an interface.

use crate::wire::Packet;
use alloc::{string::String, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// The number of an interface, given by the node and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u32);

/// The part an interface plays in the network (spec 1.18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Everything is announced and meshed.
    #[default]
    Full = 1,
    /// One peer at the other end.
    PointToPoint = 2,
    /// Serves visitors: announces are not forwarded to it, paths over it last a day.
    AccessPoint = 3,
    /// Moves about: paths over it last six hours.
    Roaming = 4,
    /// Connects to a network that differs a lot.
    Boundary = 5,
    /// Searches for unknown paths on behalf of those behind it.
    Gateway = 6,
    /// Inside one administration.
    Internal = 7,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InterfaceKind {
    /// Other nodes.
    #[default]
    Network,
    /// A program that uses this node as its shared instance.
    LocalClient,
    /// The shared instance that this node is a client of.
    SharedInstance,
}

/// How often a destination may announce over an interface before its announces are no longer passed on (spec 1.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnounceRate {
    /// The shortest interval that is no violation.
    pub target: Duration,
    /// Violations that go unpunished.
    pub grace: u32,
    /// How long a violator is blocked beyond the target.
    pub penalty: Duration,
}

/// When a burst of announces or path requests is held back (spec 1.8). Frequencies are in hertz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstControl {
    /// The frequency above which a new interface is limited.
    pub frequency_new: f64,
    /// The frequency above which an older interface is limited.
    pub frequency: f64,
    /// How long an interface counts as new.
    pub new_time: Duration,
    /// How long a burst lasts after the frequency was last too high.
    pub hold: Duration,
    /// How long after a burst held announces wait.
    pub penalty: Duration,
    /// The interval between two held announces.
    pub release_interval: Duration,
    /// How many announces are held.
    pub max_held: usize,
}

/// The settings and the state of an interface that routing depends on.
#[derive(Clone, Debug)]
pub struct InterfaceProperties {
    /// The full name, such as `TCPInterface[name/host:port]`; its hash identifies the interface in stored tables.
    pub name: String,
    /// The part it plays.
    pub mode: Mode,
    /// Who is at the other end.
    pub kind: InterfaceKind,
    /// Bits a second; 0 where unknown.
    pub bitrate: u64,
    /// The longest frame, in bytes, without an access code; `None` for the network's common 500.
    pub hardware_mtu: Option<usize>,
    /// Whether links over it may use more than 500 bytes: it adapts to its bitrate, or has a fixed size.
    pub negotiates_mtu: bool,
    /// Whether packets may leave by it.
    pub outgoing: bool,
    /// Whether it works at present.
    pub online: bool,
    /// When it was added.
    pub created: Instant,
    /// The preference among paths with equal announces.
    pub gravity: Option<i64>,
    /// The share of the bitrate for announces that are passed on, 0.0 to 1.0.
    pub announce_cap: f64,
    /// The limit on each destination's announces.
    pub announce_rate: Option<AnnounceRate>,
    /// The limit on announces for unknown destinations.
    pub announce_ingress: Option<BurstControl>,
    /// The limit on path requests.
    pub path_request_ingress: Option<BurstControl>,
    /// The limit, in hertz, on path requests that recursive searches send.
    pub path_request_egress: Option<f64>,
    /// Whether requests from it start recursive searches in every mode.
    pub recursive_path_requests: bool,
    /// Whether announces that came over an internal interface are passed on to it.
    pub announces_from_internal: bool,
    /// Whether announces that came over it are passed on to internal interfaces.
    pub announces_to_internal: bool,
}

/// All interfaces of a node, as routing sees them.
pub trait Interfaces {
    /// Returns the properties of an interface, `None` once it is gone.
    fn properties(&self, id: InterfaceId) -> Option<&InterfaceProperties>;

    /// Returns all interfaces in the order they were added.
    fn ids(&self) -> Vec<InterfaceId>;

    /// Queues a packet on an interface. One that is down or full drops it and counts that.
    fn send(&mut self, to: InterfaceId, packet: &Packet<'_>);
}
