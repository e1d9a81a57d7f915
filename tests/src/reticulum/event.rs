//! What a node tells.

use proto_rns::{DestinationHash, IdentityHash, LinkHash, PacketHash, RatchetId, RequestId, ResourceHash};
use serde_json::Value;

use super::{Fingerprint, fields::Fields};

/// Something that happened to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It heard an announce.
    Announce(Announce),
    /// A packet arrived at one of its destinations.
    Packet(PacketReceived),
    /// The fate of a packet that it sent is known.
    Fate(PacketFate),
    /// A link is open.
    LinkEstablished(LinkEstablished),
    /// The other end of a link has said who it is.
    LinkIdentified(LinkIdentified),
    /// A packet arrived on a link.
    LinkPacket(LinkPacket),
    /// A link is closed.
    LinkClosed(LinkClosed),
    /// A request arrived.
    Request(RequestReceived),
    /// The answer to its request is on the way.
    RequestProgress(RequestProgress),
    /// The answer to its request arrived.
    Response(ResponseReceived),
    /// Its request will not be answered.
    RequestFailed(RequestFailed),
    /// Somebody offered a resource, and it was not refused.
    ResourceOffered(ResourceOffered),
    /// A resource that it sends is on the way.
    ResourceProgress(ResourceProgress),
    /// A resource that it sent has an outcome.
    ResourceSent(ResourceSent),
    /// A resource that it was offered has an outcome.
    ResourceReceived(ResourceReceived),
    /// A message arrived on a channel.
    ChannelMessage(ChannelMessage),
    /// Bytes arrived in a buffer.
    BufferBytes(BufferBytes),
    /// The other end will write no more into a buffer.
    BufferEnded(BufferEnded),
}

/// An announce that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announce {
    /// What was announced.
    pub destination: DestinationHash,
    /// Whose it is.
    pub identity: IdentityHash,
    /// What the announce says.
    pub app_data: Option<Vec<u8>>,
    /// How far away it is.
    pub hops: u8,
    /// Whether it answers a request for a path.
    pub path_response: bool,
}

/// A packet that arrived at a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketReceived {
    /// The destination.
    pub destination: DestinationHash,
    /// What it says.
    pub payload: Vec<u8>,
    /// The ratchet that it was sealed for.
    pub ratchet: Option<RatchetId>,
}

/// The fate of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketFate {
    /// The packet.
    pub packet: PacketHash,
    /// Whether it was proved in time.
    pub proved: bool,
}

/// A link that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEstablished {
    /// The link.
    pub link: LinkHash,
    /// The destination that it was opened to.
    pub destination: DestinationHash,
    /// The largest frame on it, in bytes.
    pub mtu: usize,
    /// The largest payload of a packet on it, in bytes.
    pub mdu: usize,
}

/// A link whose other end has said who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkIdentified {
    /// The link.
    pub link: LinkHash,
    /// Who it is.
    pub identity: IdentityHash,
}

/// A packet that arrived on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPacket {
    /// The link.
    pub link: LinkHash,
    /// What it says.
    pub payload: Vec<u8>,
}

/// A link that is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkClosed {
    /// The link.
    pub link: LinkHash,
    /// How it ended.
    pub closure: Closure,
}

/// How a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closure {
    /// One end fell silent, or never answered.
    Timeout,
    /// Who opened it closed it.
    ByInitiator,
    /// Who accepted it closed it.
    ByDestination,
    /// In another way.
    Unknown,
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestReceived {
    /// The link.
    pub link: LinkHash,
    /// Its number.
    pub request: RequestId,
    /// Its path.
    pub path: String,
    /// What came with it.
    pub body: Fingerprint,
    /// Who asks, where that is known.
    pub identity: Option<IdentityHash>,
}

/// An answer on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    /// The request.
    pub request: RequestId,
    /// How much has arrived, of 1000.
    pub permille: u16,
}

/// An answer that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseReceived {
    /// The request.
    pub request: RequestId,
    /// The answer.
    pub body: Fingerprint,
    /// The name that came with a file.
    pub file_name: Option<Vec<u8>>,
}

/// A request that will not be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailed {
    /// The request.
    pub request: RequestId,
}

/// A resource that was offered and not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceOffered {
    /// The link.
    pub link: LinkHash,
    /// The hash of its first segment.
    pub resource: ResourceHash,
    /// Its size in bytes, with metadata.
    pub size: usize,
}

/// A resource that is on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceProgress {
    /// The hash of its first segment.
    pub resource: ResourceHash,
    /// How much has been sent, of 1000.
    pub permille: u16,
}

/// A resource that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSent {
    /// The hash of its first segment.
    pub resource: ResourceHash,
    /// What came of it.
    pub outcome: Outcome,
}

/// A resource that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceReceived {
    /// The link.
    pub link: LinkHash,
    /// The hash of its first segment.
    pub resource: ResourceHash,
    /// What came of it.
    pub outcome: Outcome,
    /// The contents, where it is complete.
    pub body: Option<Fingerprint>,
    /// The note that came with it.
    pub note: Option<Vec<u8>>,
}

/// What came of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Complete,
    /// It did not, or somebody cancelled it.
    Failed,
    /// It arrived damaged.
    Corrupt,
    /// The receiver did not want it.
    Rejected,
}

/// A message that arrived on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelMessage {
    /// The link.
    pub link: LinkHash,
    /// What it says.
    pub payload: Vec<u8>,
}

/// Bytes that arrived in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferBytes {
    /// The link.
    pub link: LinkHash,
    /// The stream.
    pub stream: u16,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// The end of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferEnded {
    /// The link.
    pub link: LinkHash,
    /// The stream.
    pub stream: u16,
}

impl Event {
    /// Reads a line of the reference's program; `None` when it is not an event.
    pub(super) fn parse(line: &Value) -> Option<Self> {
        let told = Fields(line);
        line.get("event")?;
        Some(match told.text("event") {
            "announce" => Self::Announce(Announce {
                destination: told.hash("destination"),
                identity: told.hash("identity"),
                app_data: told.optional_bytes("app_data"),
                hops: told.number("hops"),
                path_response: told.flag("path_response"),
            }),
            "packet" => Self::Packet(PacketReceived {
                destination: told.hash("destination"),
                payload: told.bytes("payload"),
                ratchet: told.optional_hash("ratchet"),
            }),
            "packet_proved" => Self::Fate(PacketFate { packet: told.hash("packet"), proved: true }),
            "packet_unproved" => Self::Fate(PacketFate { packet: told.hash("packet"), proved: false }),
            "channel_message" => Self::ChannelMessage(ChannelMessage {
                link: told.hash("link"),
                payload: told.bytes("payload"),
            }),
            "buffer_bytes" => Self::BufferBytes(BufferBytes {
                link: told.hash("link"),
                stream: told.number("stream"),
                payload: told.bytes("payload"),
            }),
            "buffer_ended" => {
                Self::BufferEnded(BufferEnded { link: told.hash("link"), stream: told.number("stream") })
            }
            name if name.starts_with("link_") => Self::of_link(name, told)?,
            name if name.starts_with("resource_") => Self::of_resource(name, told)?,
            name => Self::of_request(name, told)?,
        })
    }

    fn of_link(name: &str, told: Fields<'_>) -> Option<Self> {
        let link = told.hash("link");
        Some(match name {
            "link_established" => Self::LinkEstablished(LinkEstablished {
                link,
                destination: told.hash("destination"),
                mtu: told.number("mtu"),
                mdu: told.number("mdu"),
            }),
            "link_identified" => {
                Self::LinkIdentified(LinkIdentified { link, identity: told.hash("identity") })
            }
            "link_packet" => Self::LinkPacket(LinkPacket { link, payload: told.bytes("payload") }),
            "link_closed" => {
                Self::LinkClosed(LinkClosed { link, closure: Closure::parse(told.text("closure")) })
            }
            _ => return None,
        })
    }

    fn of_request(name: &str, told: Fields<'_>) -> Option<Self> {
        let request = told.optional_hash("request")?;
        Some(match name {
            "request" => Self::Request(RequestReceived {
                link: told.hash("link"),
                request,
                path: told.text("path").to_owned(),
                body: told.fingerprint("body"),
                identity: told.optional_hash("identity"),
            }),
            "request_progress" => {
                Self::RequestProgress(RequestProgress { request, permille: told.number("permille") })
            }
            "response" => Self::Response(ResponseReceived {
                request,
                body: told.fingerprint("body"),
                file_name: told.optional_bytes("file_name"),
            }),
            "request_failed" => Self::RequestFailed(RequestFailed { request }),
            _ => return None,
        })
    }

    fn of_resource(name: &str, told: Fields<'_>) -> Option<Self> {
        let resource = told.hash("resource");
        Some(match name {
            "resource_offered" => Self::ResourceOffered(ResourceOffered {
                link: told.hash("link"),
                resource,
                size: told.number("size"),
            }),
            "resource_progress" => {
                Self::ResourceProgress(ResourceProgress { resource, permille: told.number("permille") })
            }
            "resource_sent" => {
                Self::ResourceSent(ResourceSent { resource, outcome: Outcome::parse(told.text("outcome")) })
            }
            "resource_received" => Self::ResourceReceived(ResourceReceived {
                link: told.hash("link"),
                resource,
                outcome: Outcome::parse(told.text("outcome")),
                body: told.optional_fingerprint("body"),
                note: told.optional_bytes("note"),
            }),
            _ => return None,
        })
    }
}

impl Closure {
    fn parse(name: &str) -> Self {
        match name {
            "timeout" => Self::Timeout,
            "by_initiator" => Self::ByInitiator,
            "by_destination" => Self::ByDestination,
            _ => Self::Unknown,
        }
    }
}

impl Outcome {
    fn parse(name: &str) -> Self {
        match name {
            "complete" => Self::Complete,
            "corrupt" => Self::Corrupt,
            "rejected" => Self::Rejected,
            _ => Self::Failed,
        }
    }
}
