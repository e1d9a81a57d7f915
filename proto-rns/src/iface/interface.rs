//! One interface as it runs: its link, its framing, its access code and what it counts.

use super::{
    Deframer, Ifac, IfacError, InterfaceConfig, InterfaceKind, InterfaceProperties, Medium, Reconnect,
    config::written, outgoing::Outgoing,
};
use crate::{crypto::CryptoProvider, wire::Packet};
use alloc::{sync::Arc, vec::Vec};
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Instant, LinkId, Transmit};

/// An interface of a running node.
#[derive(Debug)]
pub struct Interface {
    pub(crate) config: Arc<InterfaceConfig>,
    pub(crate) properties: InterfaceProperties,
    pub(crate) link: Option<LinkId>,
    /// The listener that accepted it.
    pub(crate) parent: Option<super::InterfaceId>,
    pub(crate) reconnect: Reconnect,
    pub(crate) deframer: Deframer,
    /// It stands in its table's queue of those that have something to send.
    pub(super) ready: bool,
    access: Option<Arc<Ifac>>,
    outgoing: Outgoing,
    blocked: bool,
    counters: InterfaceCounters,
}

/// What an interface counted; all numbers wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Bytes that arrived, framing included.
    pub received_bytes: u64,
    /// Frames that arrived.
    pub received_frames: u64,
    /// Bytes that were queued to leave, framing included.
    pub sent_bytes: u64,
    /// Packets that were queued to leave.
    pub sent_packets: u64,
    /// Frames that were not of the interface's network.
    pub access_violations: u64,
    /// Frames that were too long or no packets.
    pub malformed: u64,
    /// Packets that were not queued because the interface was down.
    pub dropped_down: u64,
    /// Packets that were not queued because too many waited already.
    pub dropped_full: u64,
    /// Packets that were not queued because they are longer than its frames.
    pub dropped_too_long: u64,
}

impl Interface {
    pub(crate) fn new(
        config: Arc<InterfaceConfig>,
        parent: Option<(super::InterfaceId, Option<SocketAddr>)>,
        crypto: &dyn CryptoProvider,
        now: Instant,
    ) -> Self {
        let (hardware_mtu, negotiates_mtu) = config.medium.hardware_mtu(config.bitrate, config.fixed_mtu);
        let access = config.access.as_ref().and_then(|access| {
            let size = access.size.unwrap_or_else(|| config.medium.default_access_size());
            Ifac::new(crypto, access.network_name.as_deref(), access.passphrase.as_deref(), size)
                .map(Arc::new)
        });
        let longest = hardware_mtu.unwrap_or(DEFAULT_MTU) + access.as_ref().map_or(0, |access| access.size());
        let name = match parent {
            Some((_, Some(peer))) => written(format_args!("TCPInterface[Client on {}/{peer}]", config.name)),
            Some((_, None)) => written(format_args!("LocalInterface[{}]", config.name)),
            None => config.full_name(),
        };
        let kind = match (&config.medium, parent) {
            (Medium::LocalServer { .. }, Some(_)) => InterfaceKind::LocalClient,
            (Medium::LocalClient { .. }, _) => InterfaceKind::SharedInstance,
            _ => InterfaceKind::Network,
        };
        Self {
            properties: InterfaceProperties {
                name,
                mode: config.mode,
                kind,
                bitrate: config.bitrate,
                hardware_mtu,
                negotiates_mtu,
                outgoing: config.outgoing && !(config.medium.is_listener() && parent.is_none()),
                online: false,
                created: now,
                gravity: config.gravity,
                announce_cap: config.announce_cap,
                announce_rate: config.announce_rate,
                announce_ingress: config.announce_ingress,
                path_request_ingress: config.path_request_ingress,
                path_request_egress: config.path_request_egress,
                recursive_path_requests: config.recursive_path_requests,
                announces_from_internal: config.announces_from_internal,
                announces_to_internal: config.announces_to_internal,
            },
            link: None,
            parent: parent.map(|(id, _)| id),
            reconnect: Reconnect::new(FIRST_RETRY, LONGEST_RETRY, config.max_reconnects),
            deframer: Deframer::new(config.medium.framing().unwrap_or_default(), longest),
            ready: false,
            access,
            outgoing: Outgoing::default(),
            blocked: false,
            counters: InterfaceCounters::default(),
            config,
        }
    }

    /// Returns what routing knows of it.
    pub const fn properties(&self) -> &InterfaceProperties {
        &self.properties
    }

    /// Returns its settings.
    pub fn config(&self) -> &InterfaceConfig {
        &self.config
    }

    /// Returns the listener that accepted it, if one did.
    pub const fn parent(&self) -> Option<super::InterfaceId> {
        self.parent
    }

    /// Returns its access code.
    pub fn access(&self) -> Option<&Ifac> {
        self.access.as_deref()
    }

    /// Returns what it counted.
    pub const fn counters(&self) -> InterfaceCounters {
        self.counters
    }

    /// Says whether it works and is a connection to the shared instance that this node uses.
    pub(crate) fn is_shared_instance(&self) -> bool {
        self.properties.online && self.properties.kind == InterfaceKind::SharedInstance
    }

    /// Takes a frame that arrived apart. `None` for one that is not a packet of the interface's network.
    pub(crate) fn open<'a>(&mut self, access: Option<&Ifac>, frame: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.counters.received_frames = self.counters.received_frames.wrapping_add(1);
        if frame.len() <= 2 {
            self.counters.malformed = self.counters.malformed.wrapping_add(1);
            return None;
        }
        let opened = match access {
            Some(access) => access.open(frame),
            None if Ifac::is_flagged(frame) => Err(IfacError::Wrong),
            None => Ok(frame),
        };
        if opened.is_err() {
            self.counters.access_violations = self.counters.access_violations.wrapping_add(1);
        }
        let packet = opened.ok()?;
        if packet.len() > self.properties.hardware_mtu.unwrap_or(DEFAULT_MTU) {
            self.counters.malformed = self.counters.malformed.wrapping_add(1);
            return None;
        }
        Some(packet)
    }

    pub(crate) fn shared_access(&self) -> Option<Arc<Ifac>> {
        self.access.clone()
    }

    pub(crate) const fn count_received(&mut self, bytes: usize) {
        self.counters.received_bytes = self.counters.received_bytes.wrapping_add(bytes as u64);
    }

    pub(crate) const fn count_malformed(&mut self) {
        self.counters.malformed = self.counters.malformed.wrapping_add(1);
    }

    /// Queues a packet.
    pub(crate) fn send(&mut self, packet: &Packet<'_>) {
        let counter = if !self.properties.online || !self.properties.outgoing {
            &mut self.counters.dropped_down
        } else if self.outgoing.len() >= MAX_OUTGOING {
            &mut self.counters.dropped_full
        } else if packet.encoded_len() > self.properties.hardware_mtu.unwrap_or(DEFAULT_MTU).max(DEFAULT_MTU)
        {
            &mut self.counters.dropped_too_long
        } else {
            let before = self.outgoing.len();
            self.frame(packet);
            self.counters.sent_bytes =
                self.counters.sent_bytes.wrapping_add(self.outgoing.len().saturating_sub(before) as u64);
            &mut self.counters.sent_packets
        };
        *counter = counter.wrapping_add(1);
    }

    fn frame(&mut self, packet: &Packet<'_>) {
        let header = packet.header();
        let plain = [&*header, packet.data];
        let mut sealed = Vec::new();
        let parts: &[&[u8]] = match &self.access {
            Some(access) => {
                access.seal(&plain, &mut sealed);
                &[&sealed]
            }
            None => &plain,
        };
        match self.config.medium.framing() {
            Some(framing) => self.outgoing.push_frame(|out| framing.frame(parts, out)),
            None => {
                self.outgoing.push_datagram(|out| parts.iter().for_each(|part| out.extend_from_slice(part)))
            }
        }
    }

    /// Returns how many bytes more may wait before bulk senders should pause.
    pub(crate) fn room(&self) -> usize {
        if self.properties.online { LOW_WATER.saturating_sub(self.outgoing.len()) } else { 0 }
    }

    /// Appends what leaves next to `out`.
    pub(crate) fn poll_transmit(&mut self, most: NonZeroUsize, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.blocked || self.outgoing.len() == 0 {
            return None;
        }
        let link = self.link?;
        let Medium::Udp { forward, .. } = &self.config.medium else {
            return Some(Transmit::stream(link, self.outgoing.take_stream(out)));
        };
        let Some(to) = *forward else {
            self.outgoing.clear();
            return None;
        };
        let (first, len) = self.outgoing.take_datagrams(most, out)?;
        let segment = NonZeroUsize::new(first).filter(|first| len > first.get());
        Some(Transmit { segment, ..Transmit::datagram(link, to, len) })
    }

    pub(crate) const fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    /// Takes note that the link works.
    pub(crate) fn up(&mut self, now: Instant) {
        self.properties.online = true;
        self.blocked = false;
        self.deframer.reset();
        self.reconnect.connected(now);
    }

    /// Takes note that the link is gone, with everything that waited for it.
    pub(crate) fn down(&mut self) {
        self.properties.online = false;
        self.link = None;
        self.blocked = false;
        self.outgoing.clear();
        self.deframer.reset();
    }
}

/// The network's common packet size.
const DEFAULT_MTU: usize = 500;
/// What may wait for an interface before packets are dropped.
const MAX_OUTGOING: usize = 4 * 1024 * 1024;
/// What may wait before bulk senders pause: a few of the longest writes.
const LOW_WATER: usize = 1024 * 1024;
const FIRST_RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
