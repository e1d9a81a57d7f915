//! What can be tuned, with its defaults and its memory.

use alloc::{vec, vec::Vec};
use bytes::Bytes;
use core::time::Duration;
use thiserror::Error;

use crate::{Guid, limits, wire::ProtocolVersion};

/// How an [`Endpoint`](crate::Endpoint) behaves.
#[derive(Clone, Debug)]
pub struct Config {
    /// The identifier that peers see; drawn from the seed when `None`.
    pub guid: Option<Guid>,
    /// The largest MTU offered and accepted, 400 to 1,492 bytes of IP datagram.
    pub max_mtu: u16,
    /// How incoming connections are treated.
    pub incoming: IncomingConfig,
    /// How every session behaves, whichever side opened it.
    pub session: SessionConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            guid: None,
            max_mtu: limits::MAX_MTU,
            incoming: IncomingConfig::default(),
            session: SessionConfig::default(),
        }
    }
}

impl Config {
    /// Creates the configuration of an endpoint that only connects to others.
    pub fn client() -> Self {
        Self {
            incoming: IncomingConfig { max_connections: 0, ..IncomingConfig::default() },
            ..Self::default()
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is out of its range, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let out_of = |field, low, high| ConfigError::OutOfRange { field, low, high };
        if !(limits::MIN_MTU..=limits::MAX_MTU).contains(&self.max_mtu) {
            return Err(out_of("max_mtu", u64::from(limits::MIN_MTU), u64::from(limits::MAX_MTU)));
        }
        let incoming = &self.incoming;
        if incoming.max_connections > 0 && incoming.protocol_versions.is_empty() {
            return Err(ConfigError::NoProtocolVersion);
        }
        if incoming.max_connections > 1 << 20 {
            return Err(out_of("incoming.max_connections", 0, 1 << 20));
        }
        if incoming.pong_data.len() > crate::wire::MAX_PONG_DATA {
            return Err(out_of("incoming.pong_data (bytes)", 0, crate::wire::MAX_PONG_DATA as u64));
        }
        if incoming.handshake_timeout.is_zero() {
            return Err(out_of("incoming.handshake_timeout (ms)", 1, u64::MAX));
        }
        self.session.validate()
    }
}

/// How incoming connections are treated.
#[derive(Clone, Debug)]
pub struct IncomingConfig {
    /// Sessions opened by others at a time; 0 refuses them all. About 2 KiB each when idle.
    pub max_connections: usize,
    /// Of these, sessions whose handshake is not finished.
    pub max_handshakes: usize,
    /// How long a handshake may take from the OpenConnectionRequest2 to the NewIncomingConnection.
    pub handshake_timeout: Duration,
    /// The protocol versions let in (6 to 11 are in use); the first is the one announced to others.
    pub protocol_versions: Vec<ProtocolVersion>,
    /// Whether a connecting address has to prove that it receives our answers before any state is kept for it.
    ///
    /// Off only where a protection in front of the server breaks it (go-raknet#31), or for rust-raknet's client,
    /// which cannot do it. Without cookies a spoofed OpenConnectionRequest2 occupies one of `max_handshakes` until
    /// the handshake timeout.
    pub cookies: bool,
    /// What a ConnectionRequest must carry; empty for no password.
    pub password: Bytes,
    /// What the answer to an unconnected ping carries, at most 399 bytes; see [`Motd`](crate::Motd).
    pub pong_data: Bytes,
    /// Refuse an address with `IpRecentlyConnected` when it opened a session less than this ago
    /// (C++ `SetLimitIPConnectionFrequency`, 100 ms there). `None` by default: players behind one proxy share an
    /// address.
    pub min_interval_per_ip: Option<Duration>,
    /// Sessions of one IP address at a time; `None` by default, for the same reason.
    pub max_connections_per_ip: Option<usize>,
    /// Offline messages (pings, open-connection requests) answered per IP address and second; more are dropped
    /// and counted, never punished. `None` answers all.
    pub offline_messages_per_ip: Option<u32>,
    /// IP addresses that the ban list and the per-address limits remember; the oldest make room. 64 bytes each.
    pub max_tracked_ips: usize,
}

impl Default for IncomingConfig {
    fn default() -> Self {
        Self {
            max_connections: 4_096,
            max_handshakes: 1_024,
            handshake_timeout: Duration::from_secs(10),
            protocol_versions: vec![
                ProtocolVersion(11),
                ProtocolVersion(10),
                ProtocolVersion(9),
                ProtocolVersion(8),
                ProtocolVersion(7),
                ProtocolVersion(6),
            ],
            cookies: true,
            password: Bytes::new(),
            pong_data: Bytes::new(),
            min_interval_per_ip: None,
            max_connections_per_ip: None,
            offline_messages_per_ip: Some(2_000),
            max_tracked_ips: 4_096,
        }
    }
}

/// How a session behaves.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// A session with no sign of life for this long is lost.
    pub timeout: Duration,
    /// A session that heard nothing for this long sends a reliable ping. `None`: a third of `timeout`.
    pub keepalive: Option<Duration>,
    /// How long a graceful close waits for its acknowledgement.
    pub close_timeout: Duration,
    /// When queued messages leave.
    pub flush: FlushPolicy,
    /// How long an acknowledgement waits for more to acknowledge; in a steady flow as long as the next datagram can be
    /// expected in time, 25 ms at the most. It never waits when something is missing or out of order, while the session
    /// begins or ends, or when the peer says that it runs out of window. C++ waits 10 ms.
    pub ack_delay: Duration,
    /// How many frames one acknowledgement may wait for; a datagram counts as six at least. Until then their sender keeps
    /// them in memory.
    pub ack_frames: usize,
    /// What limits the data in flight.
    pub congestion: Congestion,
    /// Spread what the congestion window allows over the round trip instead of sending it at once.
    pub pacing: bool,
    /// Bytes a second that a session may send, datagram headers included; `None` for no limit.
    pub bandwidth_limit: Option<u64>,
    /// Unacknowledged reliable frames at a time. C++ uses 512; no implementation's receiver allows less.
    pub max_frames_in_flight: usize,
    /// Unacknowledged bytes at a time.
    pub max_bytes_in_flight: usize,
    /// Bytes of reliable messages that wait to be sent for the first time. A message is taken while less than this
    /// waits, so one long message always fits.
    pub reliable_queue_bytes: usize,
    /// Bytes of unreliable messages that wait to be sent; a budget of its own, so that a full reliable queue never
    /// blocks a small update.
    pub unreliable_queue_bytes: usize,
    /// Unreliable messages that waited longer are dropped (C++ `SetUnreliableTimeout`, 1 s).
    pub unreliable_expiry: Option<Duration>,
    /// The longest message that can be sent.
    pub max_message_bytes: usize,
    /// Bytes of delivered messages that the application has not taken yet. Beyond it the session neither takes nor
    /// acknowledges datagrams, which is the only flow control that RakNet has.
    pub receive_queue_bytes: usize,
    /// Messages that wait for an earlier one of their channel.
    pub max_held_messages: usize,
    /// Bytes of messages that wait for an earlier one of their channel.
    pub max_held_bytes: usize,
    /// Parts of one incoming split message (Bedrock needs 512 and more; spec 1.5).
    pub max_split_parts: u32,
    /// Incoming split messages under way at a time.
    pub max_splits: usize,
    /// Bytes of incoming split messages under way.
    pub max_split_bytes: usize,
    /// An incoming split message without a new part for this long is given up, if it is unreliable (then nobody will
    /// complete it) or if its room is needed for another.
    pub split_timeout: Duration,
    /// Report [`Event::SplitProgress`](crate::Event::SplitProgress) for incoming split messages
    /// (C++ `ID_DOWNLOAD_PROGRESS`).
    pub split_progress: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            keepalive: None,
            close_timeout: Duration::from_secs(5),
            flush: FlushPolicy::Immediate,
            ack_delay: Duration::from_micros(500),
            ack_frames: 96,
            congestion: Congestion::Cubic,
            pacing: true,
            bandwidth_limit: None,
            max_frames_in_flight: 2_048,
            max_bytes_in_flight: 4 << 20,
            reliable_queue_bytes: 1 << 20,
            unreliable_queue_bytes: 256 << 10,
            unreliable_expiry: Some(Duration::from_secs(1)),
            max_message_bytes: 8 << 20,
            receive_queue_bytes: 4 << 20,
            max_held_messages: 8_192,
            max_held_bytes: 8 << 20,
            max_split_parts: 8_192,
            max_splits: 64,
            max_split_bytes: 16 << 20,
            split_timeout: Duration::from_secs(30),
            split_progress: false,
        }
    }
}

impl SessionConfig {
    /// Returns after how much silence a ping goes out.
    pub fn keepalive_interval(&self) -> Duration {
        self.keepalive.unwrap_or(self.timeout / 3)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let ranges = [
            ("session.timeout (ms)", millis(self.timeout), 100, 86_400_000),
            ("session.close_timeout (ms)", millis(self.close_timeout), 0, 600_000),
            ("session.ack_delay (ms)", millis(self.ack_delay), 0, 1_000),
            ("session.ack_frames", self.ack_frames as u64, 1, 1_024),
            ("session.max_frames_in_flight", self.max_frames_in_flight as u64, 1, 32_768),
            ("session.max_bytes_in_flight", self.max_bytes_in_flight as u64, 1_500, 1 << 32),
            ("session.reliable_queue_bytes", self.reliable_queue_bytes as u64, 1, 1 << 32),
            ("session.unreliable_queue_bytes", self.unreliable_queue_bytes as u64, 1, 1 << 32),
            ("session.max_message_bytes", self.max_message_bytes as u64, 1, 1 << 30),
            ("session.receive_queue_bytes", self.receive_queue_bytes as u64, 1, 1 << 32),
            ("session.max_held_messages", self.max_held_messages as u64, 1, 1 << 20),
            ("session.max_held_bytes", self.max_held_bytes as u64, 1, 1 << 32),
            ("session.max_split_parts", u64::from(self.max_split_parts), 2, 1 << 20),
            ("session.max_splits", self.max_splits as u64, 1, 4_096),
            ("session.max_split_bytes", self.max_split_bytes as u64, 1, 1 << 32),
            ("session.bandwidth_limit (bytes/s)", self.bandwidth_limit.unwrap_or(u64::MAX), 1_000, u64::MAX),
        ];
        for (field, value, low, high) in ranges {
            if !(low..=high).contains(&value) {
                return Err(ConfigError::OutOfRange { field, low, high });
            }
        }
        Ok(())
    }
}

/// When queued messages leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPolicy {
    /// With the next drain: everything queued by then shares datagrams.
    Immediate,
    /// When a datagram is full, `flush` is called, a message with [`Priority::Immediate`](crate::Priority::Immediate)
    /// is queued, or the oldest message waited this long.
    Batched(Duration),
}

/// What limits the data in flight.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// CUBIC (RFC 9438): shares a path fairly with TCP and fills long ones.
    Cubic,
    /// The sliding window of C++ RakNet, as Bedrock has it.
    SlidingWindow,
    /// A window that never changes, in bytes: for paths that are known to be free. `usize::MAX` leaves only the
    /// limits of frames and bytes in flight.
    Fixed(usize),
}

/// A configuration value that cannot work.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A value is outside its range.
    #[error("{field} must be between {low} and {high}")]
    OutOfRange {
        /// The field's path.
        field: &'static str,
        /// The smallest value allowed.
        low: u64,
        /// The largest value allowed.
        high: u64,
    },
    /// Incoming connections are allowed but no protocol version is.
    #[error("incoming.protocol_versions must name at least one version")]
    NoProtocolVersion,
}

/// How an outgoing connection is opened.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The protocol version to ask for.
    pub protocol_version: ProtocolVersion,
    /// What the server's password is; empty for none.
    pub password: Bytes,
    /// MTUs to probe with, the largest first; those above the endpoint's maximum are left out.
    pub mtu_candidates: Vec<u16>,
    /// Requests with each candidate before the next smaller one is tried.
    pub attempts_per_mtu: u32,
    /// The time between two requests (vanilla Bedrock: 500 ms).
    pub retry_interval: Duration,
    /// How long everything may take, from the first request to the established session.
    pub timeout: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            protocol_version: ProtocolVersion(11),
            password: Bytes::new(),
            mtu_candidates: vec![1_492, 1_200, 576],
            attempts_per_mtu: 2,
            retry_interval: Duration::from_millis(500),
            timeout: Duration::from_secs(10),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::client().validate(), Ok(()));
    }

    #[test]
    fn a_value_out_of_range_is_named() {
        let config = Config { max_mtu: 9_000, ..Config::default() };
        let error = config.validate().unwrap_err();
        assert_eq!(alloc::format!("{error}"), "max_mtu must be between 400 and 1492");

        let mut config = Config::default();
        config.session.max_frames_in_flight = 0;
        assert!(config.validate().is_err());

        let mut config = Config::default();
        config.incoming.protocol_versions.clear();
        assert_eq!(config.validate(), Err(ConfigError::NoProtocolVersion));
    }
}
