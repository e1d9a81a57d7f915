//! Messages that need no session.

use proto_core::Reader;
use proto_raknet::{
    Motd,
    wire::{
        IncompatibleProtocolVersion, MessageId, Offline, OpenConnectionReply1, OpenConnectionReply2,
        OpenConnectionRequest1, OpenConnectionRequest2, OutOfBand, ParseError, Refusal, RefusalKind,
        UnconnectedPing, UnconnectedPong,
    },
};

use super::Dissection;
use crate::{
    commands::dissect::node::Node,
    raknet::motd::{self, printable},
};

/// Decodes `payload` if it is an offline message.
pub(super) fn decode(payload: &[u8]) -> Option<Dissection> {
    let with_cookie = REQUEST_2_WITH_COOKIE.contains(&payload.len());
    Some(match Offline::classify(payload, with_cookie)? {
        Ok(message) => Dissection::Whole(of(&message)),
        Err(reason) => {
            let id = payload.first().and_then(|&id| MessageId::try_from(id).ok());
            let name = id.map_or_else(|| "Offline".into(), |id| format!("{id:?}"));
            let offset = id.map_or(0, |id| place_of_fault(id, payload, with_cookie));
            Dissection::Damaged { node: Node::new(name), offset, reason: reason.to_string() }
        }
    })
}

fn of(message: &Offline<'_>) -> Node {
    match message {
        Offline::Ping(ping) => of_ping(ping),
        Offline::Pong(pong) => of_pong(pong),
        Offline::Request1(request) => Node::new("OpenConnectionRequest1")
            .brief("protocol", request.protocol.0)
            .brief("mtu", request.mtu())
            .field("datagram bytes", request.datagram_len),
        Offline::Reply1(reply) => Node::new("OpenConnectionReply1")
            .brief("mtu", reply.mtu)
            .brief("cookie", reply.cookie.map(|cookie| format!("{cookie:08x}")))
            .field("guid", reply.guid.to_string()),
        Offline::Request2(request) => Node::new("OpenConnectionRequest2")
            .brief("mtu", request.mtu)
            .brief("cookie", request.cookie.map(|cookie| format!("{cookie:08x}")))
            .field("server", request.server.to_string())
            .field("guid", request.guid.to_string()),
        Offline::Reply2(reply) => Node::new("OpenConnectionReply2")
            .brief("mtu", reply.mtu)
            .field("client", reply.client.to_string())
            .field("guid", reply.guid.to_string())
            .field("security", reply.security),
        Offline::Refusal(refusal) => {
            Node::new(format!("{:?}", refusal.kind)).field("guid", refusal.guid.to_string())
        }
        Offline::IncompatibleVersion(refusal) => Node::new("IncompatibleProtocolVersion")
            .brief("server version", refusal.version.0)
            .field("guid", refusal.guid.to_string()),
        Offline::OutOfBand(message) => of_out_of_band(message),
    }
}

fn of_ping(ping: &UnconnectedPing) -> Node {
    let name = if ping.open_only { "UnconnectedPingOpenConnections" } else { "UnconnectedPing" };
    Node::new(name).brief("time", ping.time).field("guid", ping.guid.map(|guid| guid.to_string()))
}

fn of_pong(pong: &UnconnectedPong<'_>) -> Node {
    let node = Node::new("UnconnectedPong").brief("time", pong.time).field("guid", pong.guid.to_string());
    match Motd::parse(pong.data) {
        Ok(motd) => {
            let fields = motd::fields(&motd);
            let described = fields.into_iter().fold(Node::new("Motd"), |node, (name, value)| {
                if name == "name" {
                    node.brief(name, printable(&value))
                } else {
                    node.field(name, printable(&value))
                }
            });
            node.part(described)
        }
        Err(_) => node.brief("data bytes", pong.data.len()).data(pong.data),
    }
}

fn of_out_of_band(message: &OutOfBand<'_>) -> Node {
    let node = match message.advertisement() {
        Some(advertisement) => {
            Node::new("AdvertiseSystem").brief("bytes", advertisement.data.len()).data(advertisement.data)
        }
        None => Node::new("OutOfBand").brief("bytes", message.payload.len()).data(message.payload),
    };
    node.field("guid", message.guid.to_string())
}

/// Finds where the field begins at which the parser of `id` stops.
fn place_of_fault(id: MessageId, payload: &[u8], with_cookie: bool) -> usize {
    let mut reader = Reader::new(payload.get(1..).unwrap_or_default());
    let r = &mut reader;
    let refusal = RefusalKind::ALL.into_iter().find(|kind| kind.id() == id);
    #[allow(clippy::wildcard_enum_match_arm, reason = "the other ids are not those of offline messages")]
    let _: Result<(), ParseError> = match id {
        MessageId::UnconnectedPing => UnconnectedPing::parse(r, false).map(drop),
        MessageId::UnconnectedPingOpenConnections => UnconnectedPing::parse(r, true).map(drop),
        MessageId::UnconnectedPong => UnconnectedPong::parse(r).map(drop),
        MessageId::OpenConnectionRequest1 => OpenConnectionRequest1::parse(r).map(drop),
        MessageId::OpenConnectionReply1 => OpenConnectionReply1::parse(r).map(drop),
        MessageId::OpenConnectionRequest2 => OpenConnectionRequest2::parse(r, with_cookie).map(drop),
        MessageId::OpenConnectionReply2 => OpenConnectionReply2::parse(r).map(drop),
        MessageId::IncompatibleProtocolVersion => IncompatibleProtocolVersion::parse(r).map(drop),
        MessageId::OutOfBandInternal => OutOfBand::parse(r).map(drop),
        _ => refusal.map_or(Ok(()), |kind| Refusal::parse(r, kind).map(drop)),
    };
    payload.len() - reader.remaining()
}

/// The lengths of a second request with a cookie, over IPv4 and IPv6. Nothing in the message itself says whether it
/// has one; without, it is 34 or 56 bytes long.
const REQUEST_2_WITH_COOKIE: [usize; 2] = [39, 61];
