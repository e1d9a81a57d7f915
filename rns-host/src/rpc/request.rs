//! What a program asks the shared instance.

use proto_core::UnixTime;
use proto_rns::{
    DestinationHash, IdentityHash, PacketHash,
    wire::msgpack::{Reader, Shape, ShapeError, Writer},
};
use std::time::Duration;

/// A request, a MessagePack map on the wire. What the reference replies to each is said with it; replies are
/// MessagePack.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcRequest {
    /// All paths, as a list of maps `hash`, `timestamp`, `via`, `hops`, `expires` and `interface`.
    PathTable {
        /// Only those of at most so many hops.
        max_hops: Option<u8>,
    },
    /// The interfaces and what passed over them, as a map.
    InterfaceStats,
    /// How often destinations announced, as a list of maps `hash`, `last`, `rate_violations`, `blocked_until` and
    /// `timestamps`.
    RateTable,
    /// The name of the interface that the path to a destination leads over; nil without path.
    NextHopInterface(DestinationHash),
    /// The next node on the path to a destination, as bytes; nil without path.
    NextHop(DestinationHash),
    /// How long the first hop towards a destination may take, in seconds.
    FirstHopTimeout(DestinationHash),
    /// The bitrate of the slowest interface.
    LowestInterfaceBitrate,
    /// How long a path of medium length may take to be found, in seconds.
    MediumPathTimeout,
    /// How many links there are that pass.
    LinkCount,
    /// How many of those are in use.
    ActiveLinkCount,
    /// The signal strength that a packet came with; nil where it is not known.
    PacketRssi(PacketHash),
    /// The signal-to-noise ratio that a packet came with; nil where it is not known.
    PacketSnr(PacketHash),
    /// The quality of the signal that a packet came with; nil where it is not known.
    PacketQuality(PacketHash),
    /// What a profiler measured; nil without one.
    ProfilingResults,
    /// The refused identities, as a map of maps `source`, `until` and `reason`.
    BlackholedIdentities,
    /// Whether an identity is refused, as a truth value.
    IsBlackholed(IdentityHash),
    /// Starts a configured interface.
    AttachInterface(String),
    /// Stops an interface.
    DetachInterface(String),
    /// Starts an interface anew with its present configuration.
    ReloadInterface(String),
    /// Forgets the path to a destination. The reply is whether there was one.
    DropPath(DestinationHash),
    /// Forgets all paths over a node. The reply is how many there were.
    DropAllVia(IdentityHash),
    /// Forgets the announces that wait to be passed on. The reply is nil.
    DropAnnounceQueues,
    /// Refuses an identity. The reply is true, or nil where it was refused before.
    Blackhole {
        /// The identity.
        identity: IdentityHash,
        /// Until when; `None` for ever.
        until: Option<UnixTime>,
        /// The reason, for people.
        reason: Option<String>,
    },
    /// Accepts an identity again. The reply is true, or nil where it was not refused.
    Unblackhole(IdentityHash),
    /// Notes that something was sent to a destination. The reply is whether it is known.
    UseDestination(DestinationHash),
    /// Keeps what is known of a destination for good. The reply is whether it is known.
    RetainDestination(DestinationHash),
    /// Lets a destination be forgotten again. The reply is whether it is known.
    UnretainDestination(DestinationHash),
    /// Keeps all destinations of an identity. The reply is whether any is known.
    RetainIdentity(IdentityHash),
}

/// A request that is not understood.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// It is no MessagePack map.
    #[error("the request is damaged: {0}")]
    Shape(#[from] ShapeError),
    /// It is none of the calls known here.
    #[error("the request is for a call that does not exist here")]
    UnknownCall,
    /// It lacks something that its call needs.
    #[error("the request lacks a {0:?}")]
    Missing(&'static str),
}

impl RpcRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// The bytes are no request that is known here.
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestError> {
        Fields::parse(bytes)?.request()
    }

    /// Appends the request, with its fields in the reference's order.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        let destination = |writer: &mut Writer<'_>, verb: &str, what: &str, hash: &[u8]| {
            writer.map(2).str(verb).str(what).str("destination_hash").bytes(hash);
        };
        match self {
            Self::PathTable { max_hops } => {
                writer.map(2).str("get").str("path_table").str("max_hops");
                match max_hops {
                    Some(hops) => writer.unsigned(u64::from(*hops)),
                    None => writer.nil(),
                };
            }
            Self::InterfaceStats => get(&mut writer, "interface_stats"),
            Self::RateTable => get(&mut writer, "rate_table"),
            Self::NextHopInterface(to) => destination(&mut writer, "get", "next_hop_if_name", to.as_bytes()),
            Self::NextHop(to) => destination(&mut writer, "get", "next_hop", to.as_bytes()),
            Self::FirstHopTimeout(to) => destination(&mut writer, "get", "first_hop_timeout", to.as_bytes()),
            Self::LowestInterfaceBitrate => get(&mut writer, "lowest_interface_bitrate"),
            Self::MediumPathTimeout => get(&mut writer, "medium_path_timeout"),
            Self::LinkCount => get(&mut writer, "link_count"),
            Self::ActiveLinkCount => get(&mut writer, "active_link_count"),
            Self::PacketRssi(packet) => get_of_packet(&mut writer, "packet_rssi", packet),
            Self::PacketSnr(packet) => get_of_packet(&mut writer, "packet_snr", packet),
            Self::PacketQuality(packet) => get_of_packet(&mut writer, "packet_q", packet),
            Self::ProfilingResults => get(&mut writer, "profiling_results"),
            Self::BlackholedIdentities => get(&mut writer, "blackholed_identities"),
            Self::IsBlackholed(identity) => {
                writer.map(2).str("get").str("is_blackholed").str("identity_hash").bytes(identity.as_bytes());
            }
            Self::AttachInterface(name) => manage(&mut writer, "attach_interface", name),
            Self::DetachInterface(name) => manage(&mut writer, "detach_interface", name),
            Self::ReloadInterface(name) => manage(&mut writer, "reload_interface", name),
            Self::DropPath(to) => destination(&mut writer, "drop", "path", to.as_bytes()),
            Self::DropAllVia(node) => destination(&mut writer, "drop", "all_via", node.as_bytes()),
            Self::DropAnnounceQueues => _ = writer.map(1).str("drop").str("announce_queues"),
            Self::Blackhole { identity, until, reason } => {
                writer.map(3).str("blackhole_identity").bytes(identity.as_bytes()).str("until");
                match until {
                    Some(until) => writer.float(until.since_epoch().as_secs_f64()),
                    None => writer.nil(),
                };
                writer.str("reason");
                match reason {
                    Some(reason) => writer.str(reason),
                    None => writer.nil(),
                };
            }
            Self::Unblackhole(identity) => {
                writer.map(1).str("unblackhole_identity").bytes(identity.as_bytes());
            }
            Self::UseDestination(to) => destination(&mut writer, "destination_data", "used", to.as_bytes()),
            Self::RetainDestination(to) => {
                destination(&mut writer, "destination_data", "retain", to.as_bytes());
            }
            Self::UnretainDestination(to) => {
                destination(&mut writer, "destination_data", "unretain", to.as_bytes());
            }
            Self::RetainIdentity(identity) => {
                writer.map(2).str("identity_data").str("retain");
                writer.str("identity_hash").bytes(identity.as_bytes());
            }
        }
    }
}

fn get(writer: &mut Writer<'_>, what: &str) {
    writer.map(1).str("get").str(what);
}

fn get_of_packet(writer: &mut Writer<'_>, what: &str, packet: &PacketHash) {
    writer.map(2).str("get").str(what).str("packet_hash").bytes(packet.as_bytes());
}

fn manage(writer: &mut Writer<'_>, what: &str, name: &str) {
    writer.map(2).str("manage").str(what).str("name").str(name);
}

/// The fields of a request's map, in whatever order they came.
#[derive(Debug, Default)]
struct Fields<'a> {
    call: Option<(&'a str, Shape<'a>)>,
    destination: Option<DestinationHash>,
    identity: Option<IdentityHash>,
    packet: Option<PacketHash>,
    name: Option<&'a str>,
    max_hops: Option<u8>,
    until: Option<UnixTime>,
    reason: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, RequestError> {
        let mut reader = Reader::new(bytes);
        let mut fields = Self::default();
        for _ in 0..reader.map_len()? {
            let (key, value) = (reader.str()?, Reader::new(reader.value()?).shape()?);
            match (key, value) {
                ("destination_hash", Shape::Bytes(hash)) => {
                    fields.destination = DestinationHash::from_slice(hash);
                }
                ("identity_hash", Shape::Bytes(hash)) => fields.identity = IdentityHash::from_slice(hash),
                ("packet_hash", Shape::Bytes(hash)) => fields.packet = PacketHash::from_slice(hash),
                ("name", Shape::Text(name)) => fields.name = Some(name),
                // Paths have no more hops than a byte holds.
                ("max_hops", Shape::Unsigned(hops)) => fields.max_hops = u8::try_from(hops).ok(),
                ("until", until) => fields.until = unix_time(until),
                ("reason", Shape::Text(reason)) => fields.reason = Some(reason),
                (
                    "destination_hash" | "identity_hash" | "packet_hash" | "name" | "max_hops" | "reason",
                    _,
                ) => {}
                call => fields.call = fields.call.or(Some(call)),
            }
        }
        reader.end()?;
        Ok(fields)
    }

    fn request(self) -> Result<RpcRequest, RequestError> {
        let (verb, what) = match self.call.ok_or(RequestError::UnknownCall)? {
            (verb, Shape::Text(what)) => (verb, what),
            (verb, Shape::Bytes(identity)) => return self.blackhole(verb, identity),
            _ => return Err(RequestError::UnknownCall),
        };
        Ok(match (verb, what) {
            ("get", "path_table") => RpcRequest::PathTable { max_hops: self.max_hops },
            ("get", "interface_stats") => RpcRequest::InterfaceStats,
            ("get", "rate_table") => RpcRequest::RateTable,
            ("get", "next_hop_if_name") => RpcRequest::NextHopInterface(self.destination()?),
            ("get", "next_hop") => RpcRequest::NextHop(self.destination()?),
            ("get", "first_hop_timeout") => RpcRequest::FirstHopTimeout(self.destination()?),
            ("get", "lowest_interface_bitrate") => RpcRequest::LowestInterfaceBitrate,
            ("get", "medium_path_timeout") => RpcRequest::MediumPathTimeout,
            ("get", "link_count") => RpcRequest::LinkCount,
            ("get", "active_link_count") => RpcRequest::ActiveLinkCount,
            ("get", "packet_rssi") => RpcRequest::PacketRssi(self.packet()?),
            ("get", "packet_snr") => RpcRequest::PacketSnr(self.packet()?),
            ("get", "packet_q") => RpcRequest::PacketQuality(self.packet()?),
            ("get", "profiling_results") => RpcRequest::ProfilingResults,
            ("get", "blackholed_identities") => RpcRequest::BlackholedIdentities,
            ("get", "is_blackholed") => RpcRequest::IsBlackholed(self.identity()?),
            ("manage", "attach_interface") => RpcRequest::AttachInterface(self.name()?),
            ("manage", "detach_interface") => RpcRequest::DetachInterface(self.name()?),
            ("manage", "reload_interface") => RpcRequest::ReloadInterface(self.name()?),
            ("drop", "path") => RpcRequest::DropPath(self.destination()?),
            ("drop", "all_via") => RpcRequest::DropAllVia(IdentityHash::new(*self.destination()?.as_bytes())),
            ("drop", "announce_queues") => RpcRequest::DropAnnounceQueues,
            ("destination_data", "used") => RpcRequest::UseDestination(self.destination()?),
            ("destination_data", "retain") => RpcRequest::RetainDestination(self.destination()?),
            ("destination_data", "unretain") => RpcRequest::UnretainDestination(self.destination()?),
            ("identity_data", "retain") => RpcRequest::RetainIdentity(self.identity()?),
            _ => return Err(RequestError::UnknownCall),
        })
    }

    /// These calls have the identity where the others have their name.
    fn blackhole(self, verb: &str, identity: &[u8]) -> Result<RpcRequest, RequestError> {
        let identity = IdentityHash::from_slice(identity).ok_or(RequestError::Missing("identity_hash"));
        match verb {
            "blackhole_identity" => Ok(RpcRequest::Blackhole {
                identity: identity?,
                until: self.until,
                reason: self.reason.map(Into::into),
            }),
            "unblackhole_identity" => Ok(RpcRequest::Unblackhole(identity?)),
            _ => Err(RequestError::UnknownCall),
        }
    }

    fn destination(&self) -> Result<DestinationHash, RequestError> {
        self.destination.ok_or(RequestError::Missing("destination_hash"))
    }

    fn identity(&self) -> Result<IdentityHash, RequestError> {
        self.identity.ok_or(RequestError::Missing("identity_hash"))
    }

    fn packet(&self) -> Result<PacketHash, RequestError> {
        self.packet.ok_or(RequestError::Missing("packet_hash"))
    }

    fn name(&self) -> Result<String, RequestError> {
        self.name.map(Into::into).ok_or(RequestError::Missing("name"))
    }
}

fn unix_time(shape: Shape<'_>) -> Option<UnixTime> {
    match shape {
        Shape::Float(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Shape::Unsigned(seconds) => Some(Duration::from_secs(seconds)),
        Shape::Nil
        | Shape::Bool(_)
        | Shape::Negative(_)
        | Shape::Bytes(_)
        | Shape::Text(_)
        | Shape::Array(_)
        | Shape::Map(_) => None,
    }
    .map(UnixTime::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn destination() -> DestinationHash {
        "e9ef0c2d5f291a67e9e3eb3309f8d3be".parse().unwrap()
    }

    fn identity() -> IdentityHash {
        IdentityHash::new(*destination().as_bytes())
    }

    fn emitted(request: &RpcRequest) -> Vec<u8> {
        let mut out = Vec::new();
        request.emit(&mut out);
        out
    }

    fn all() -> Vec<RpcRequest> {
        use RpcRequest as R;
        let packet = PacketHash::new([b'p'; 32]);
        let until = Some(UnixTime::new(Duration::from_millis(1_500)));
        vec![
            R::PathTable { max_hops: None },
            R::PathTable { max_hops: Some(3) },
            R::InterfaceStats,
            R::RateTable,
            R::NextHopInterface(destination()),
            R::NextHop(destination()),
            R::FirstHopTimeout(destination()),
            R::LowestInterfaceBitrate,
            R::MediumPathTimeout,
            R::LinkCount,
            R::ActiveLinkCount,
            R::PacketRssi(packet),
            R::PacketSnr(packet),
            R::PacketQuality(packet),
            R::ProfilingResults,
            R::BlackholedIdentities,
            R::IsBlackholed(identity()),
            R::AttachInterface("X".into()),
            R::DetachInterface("X".into()),
            R::ReloadInterface("X".into()),
            R::DropPath(destination()),
            R::DropAllVia(identity()),
            R::DropAnnounceQueues,
            R::Blackhole { identity: identity(), until: None, reason: None },
            R::Blackhole { identity: identity(), until, reason: Some("why".into()) },
            R::Unblackhole(identity()),
            R::UseDestination(destination()),
            R::RetainDestination(destination()),
            R::UnretainDestination(destination()),
            R::RetainIdentity(identity()),
        ]
    }

    /// Recorded between a program and its shared instance, both of the reference 1.5.7. The hash is cut out, its place
    /// marked by `#`; `p` is the hash of a packet.
    const RECORDED: [(&str, &[u8]); 30] = [
        ("path_table", b"\x82\xa3get\xaapath_table\xa8max_hops\xc0"),
        ("path_table, 3", b"\x82\xa3get\xaapath_table\xa8max_hops\x03"),
        ("interface_stats", b"\x81\xa3get\xafinterface_stats"),
        ("rate_table", b"\x81\xa3get\xaarate_table"),
        ("next_hop_if_name", b"\x82\xa3get\xb0next_hop_if_name\xb0destination_hash\xc4\x10#"),
        ("next_hop", b"\x82\xa3get\xa8next_hop\xb0destination_hash\xc4\x10#"),
        ("first_hop_timeout", b"\x82\xa3get\xb1first_hop_timeout\xb0destination_hash\xc4\x10#"),
        ("lowest_interface_bitrate", b"\x81\xa3get\xb8lowest_interface_bitrate"),
        ("medium_path_timeout", b"\x81\xa3get\xb3medium_path_timeout"),
        ("link_count", b"\x81\xa3get\xaalink_count"),
        ("active_link_count", b"\x81\xa3get\xb1active_link_count"),
        ("packet_rssi", b"\x82\xa3get\xabpacket_rssi\xabpacket_hash\xc4 pppppppppppppppppppppppppppppppp"),
        ("packet_snr", b"\x82\xa3get\xaapacket_snr\xabpacket_hash\xc4 pppppppppppppppppppppppppppppppp"),
        ("packet_q", b"\x82\xa3get\xa8packet_q\xabpacket_hash\xc4 pppppppppppppppppppppppppppppppp"),
        ("profiling_results", b"\x81\xa3get\xb1profiling_results"),
        ("blackholed_identities", b"\x81\xa3get\xb5blackholed_identities"),
        ("is_blackholed", b"\x82\xa3get\xadis_blackholed\xadidentity_hash\xc4\x10#"),
        ("attach_interface", b"\x82\xa6manage\xb0attach_interface\xa4name\xa1X"),
        ("detach_interface", b"\x82\xa6manage\xb0detach_interface\xa4name\xa1X"),
        ("reload_interface", b"\x82\xa6manage\xb0reload_interface\xa4name\xa1X"),
        ("drop path", b"\x82\xa4drop\xa4path\xb0destination_hash\xc4\x10#"),
        ("drop all_via", b"\x82\xa4drop\xa7all_via\xb0destination_hash\xc4\x10#"),
        ("drop announce_queues", b"\x81\xa4drop\xafannounce_queues"),
        ("blackhole", b"\x83\xb2blackhole_identity\xc4\x10#\xa5until\xc0\xa6reason\xc0"),
        (
            "blackhole until",
            b"\x83\xb2blackhole_identity\xc4\x10#\xa5until\xcb?\xf8\x00\x00\x00\x00\x00\x00\xa6reason\xa3why",
        ),
        ("unblackhole", b"\x81\xb4unblackhole_identity\xc4\x10#"),
        ("used", b"\x82\xb0destination_data\xa4used\xb0destination_hash\xc4\x10#"),
        ("retain", b"\x82\xb0destination_data\xa6retain\xb0destination_hash\xc4\x10#"),
        ("unretain", b"\x82\xb0destination_data\xa8unretain\xb0destination_hash\xc4\x10#"),
        ("retain identity", b"\x82\xadidentity_data\xa6retain\xadidentity_hash\xc4\x10#"),
    ];

    #[test]
    fn every_request_is_byte_for_byte_the_references() {
        for (request, (name, recorded)) in all().iter().zip(RECORDED) {
            let mut expected = Vec::new();
            for byte in recorded {
                match byte {
                    b'#' => expected.extend_from_slice(destination().as_bytes()),
                    byte => expected.push(*byte),
                }
            }
            assert_eq!(emitted(request), expected, "{name}");
            assert_eq!(RpcRequest::parse(&expected).as_ref(), Ok(request), "{name}");
        }
    }

    #[test]
    fn no_truncated_request_is_taken() {
        for request in all() {
            let bytes = emitted(&request);
            (0..bytes.len()).for_each(|len| assert!(RpcRequest::parse(&bytes[..len]).is_err()));
        }
    }

    #[test]
    fn a_request_that_is_not_understood_says_why() {
        let parse = |bytes: &[u8]| RpcRequest::parse(bytes).unwrap_err();
        assert_eq!(parse(b"\x80"), RequestError::UnknownCall);
        assert_eq!(parse(b"\x81\xa3get\xa3new"), RequestError::UnknownCall);
        assert_eq!(parse(b"\x81\xa3get\xa8next_hop"), RequestError::Missing("destination_hash"));
        assert_eq!(parse(b"\x81\xb4unblackhole_identity\xc4\x01a"), RequestError::Missing("identity_hash"));
        assert_eq!(parse(b"\x90"), RequestError::Shape(ShapeError::WrongKind));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = RpcRequest::parse(&bytes);
        }
    }
}
