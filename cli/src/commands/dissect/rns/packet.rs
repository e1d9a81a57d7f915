//! From a frame to a tree of fields (spec 1.4).

use proto_rns::{
    DestinationHash, LinkHash,
    wire::{
        Announce, Context, DestinationType, LinkProof, LinkRequest, Malformed, Packet, PacketType,
        PathRequest, Proof, Signalling, TransportType, TunnelSynthesis,
    },
};

use super::{
    keys::Keys,
    memory::{Memory, Verdict},
};
use crate::{
    commands::dissect::{
        decode::Dissection,
        node::{Node, hex},
    },
    raknet::motd::printable,
};

/// Decodes a packet without access code.
pub(super) fn decode(packet: &Packet<'_>, keys: &Keys, memory: &mut Memory) -> Dissection {
    let decoded = match packet.packet_type {
        PacketType::Announce => announce(packet, memory),
        PacketType::LinkRequest => link_request(packet, memory),
        PacketType::Proof => proof(packet, memory),
        PacketType::Data => data(packet, keys, memory),
    };
    match decoded {
        Ok(node) => Dissection::Whole(header(packet, node)),
        Err(reason) => {
            let node = header(packet, Node::new(format!("{:?}", packet.packet_type)).data(packet.data));
            let offset = packet.encoded_len() - packet.data.len();
            Dissection::Damaged { node, offset, reason: reason.to_string() }
        }
    }
}

/// Adds what every packet has.
fn header(packet: &Packet<'_>, body: Node) -> Node {
    let transport = match packet.transport_type {
        TransportType::Broadcast => "broadcast",
        TransportType::Transport => "transport",
    };
    let context = (packet.context != Context::None).then(|| format!("{:?}", packet.context));
    let to = match packet.destination_type {
        DestinationType::Single => "single",
        DestinationType::Group => "group",
        DestinationType::Plain => "plain",
        DestinationType::Link => "link",
    };
    body.brief("to", packet.destination.to_string())
        .brief("hops", packet.hops)
        .brief("via", packet.transport_id.map(|id| id.to_string()))
        .brief("context", context)
        .field("type", to)
        .field("spread", transport)
        .field("context flag", packet.context_flag)
        .field("packet", packet.hash().to_string())
}

fn announce(packet: &Packet<'_>, memory: &mut Memory) -> Result<Node, Malformed> {
    let announce = Announce::parse(packet)?;
    let verdict = memory.announced(packet, &announce);
    let node = signed(Node::new("Announce"), verdict)
        .brief("app data", text(announce.app_data))
        .brief("identity", announce.identity.hash().to_string())
        .field("name hash", announce.name.to_string())
        .field("emitted", announce.random.emitted())
        .field("random", hex(announce.random.as_bytes()))
        .field("ratchet", announce.ratchet.map(|key| hex(&key)))
        .field("public key", hex(&announce.identity.to_bytes()));
    Ok(node.data(announce.app_data))
}

fn link_request(packet: &Packet<'_>, memory: &mut Memory) -> Result<Node, Malformed> {
    let request = LinkRequest::parse(packet.data)?;
    let link = memory.requested(packet);
    let node = Node::new("LinkRequest").brief("link", link.to_string());
    Ok(signalled(node, request.signalling).field("agreement key", hex(&request.agreement_key)))
}

fn proof(packet: &Packet<'_>, memory: &Memory) -> Result<Node, Malformed> {
    Ok(match (packet.context, packet.destination_type) {
        (Context::LinkRequestProof, _) => {
            let proof = LinkProof::parse(packet.data)?;
            let link = LinkHash::from(packet.destination);
            let node = signed(Node::new("LinkRequestProof"), memory.judge_link_proof(link, &proof));
            let node = node.brief("destination", memory.destination(link).map(|to| to.to_string()));
            signalled(node, proof.signalling).field("agreement key", hex(&proof.agreement_key))
        }
        (Context::ResourceProof, _) => Node::new("ResourceProof").data(packet.data),
        (_, DestinationType::Link) => {
            let proof = Proof::parse(packet.data)?;
            let node = Node::new("LinkPacketProof");
            node.brief("of", proof.packet.map(|packet| packet.to_string()))
        }
        (_, DestinationType::Single | DestinationType::Group | DestinationType::Plain) => {
            let proof = Proof::parse(packet.data)?;
            let node = signed(Node::new("Proof"), memory.judge_proof(packet.destination, &proof));
            node.brief("of", proof.packet.map(|packet| packet.to_string()))
        }
    })
}

fn data(packet: &Packet<'_>, keys: &Keys, memory: &mut Memory) -> Result<Node, Malformed> {
    match packet.destination_type {
        DestinationType::Plain if packet.destination == PathRequest::DESTINATION => {
            let request = PathRequest::parse(packet.data)?;
            Ok(Node::new("PathRequest")
                .brief("for", request.destination.to_string())
                .brief("from", request.requester.map(|id| id.to_string()))
                .field("tag", hex(request.tag.as_bytes())))
        }
        DestinationType::Plain if packet.destination == TunnelSynthesis::DESTINATION => {
            let tunnel = TunnelSynthesis::parse(packet.data)?;
            let verdict =
                if tunnel.verify(&proto_rns::crypto::Dalek) { Verdict::Valid } else { Verdict::Invalid };
            Ok(signed(Node::new("TunnelSynthesis"), verdict)
                .brief("identity", tunnel.identity.hash().to_string())
                .field("interface", tunnel.interface.to_string()))
        }
        DestinationType::Plain => Ok(contents(Node::new("Data"), packet.data)),
        DestinationType::Single => {
            memory.sent(packet);
            Ok(match keys.decrypt(packet.data) {
                Some(plaintext) => contents(Node::new("Data").brief("decrypted", true), &plaintext),
                None => encrypted(packet.data, keys.has_identities().then_some(NOT_OURS)),
            })
        }
        DestinationType::Group => Ok(encrypted(packet.data, None)),
        DestinationType::Link => Ok(on_link(packet, memory.destination(packet.destination.into()))),
    }
}

fn on_link(packet: &Packet<'_>, destination: Option<DestinationHash>) -> Node {
    let node = match packet.context {
        Context::KeepAlive => Node::new("KeepAlive").data(packet.data),
        Context::None
        | Context::Resource
        | Context::ResourceAdvertisement
        | Context::ResourceRequest
        | Context::ResourceHashmapUpdate
        | Context::ResourceProof
        | Context::ResourceInitiatorCancel
        | Context::ResourceReceiverCancel
        | Context::CacheRequest
        | Context::Request
        | Context::Response
        | Context::PathResponse
        | Context::Command
        | Context::CommandStatus
        | Context::Channel
        | Context::LinkIdentify
        | Context::LinkClose
        | Context::LinkProof
        | Context::LinkRtt
        | Context::LinkRequestProof
        | Context::Unknown(_) => encrypted(packet.data, Some(EPHEMERAL)),
    };
    node.brief("destination", destination.map(|to| to.to_string()))
}

fn encrypted(ciphertext: &[u8], why: Option<&str>) -> Node {
    Node::new("Data").brief("encrypted", ciphertext.len()).field("note", why).data(ciphertext)
}

fn contents(node: Node, plaintext: &[u8]) -> Node {
    node.brief("bytes", plaintext.len()).brief("text", text(plaintext)).data(plaintext)
}

fn signed(node: Node, verdict: Verdict) -> Node {
    node.brief("signature", verdict.word())
}

fn signalled(node: Node, signalling: Option<Signalling>) -> Node {
    let mode = signalling.map(|signalling| format!("{:?}", signalling.mode));
    node.brief("mtu", signalling.map(|signalling| signalling.mtu)).field("mode", mode)
}

/// Returns bytes as text, if that is what they are.
fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_readable =
        !text.is_empty() && text.chars().all(|letter| !letter.is_control() || letter.is_whitespace());
    is_readable.then(|| printable(text))
}

const NOT_OURS: &str = "for another identity, or for a ratchet";
const EPHEMERAL: &str = "the keys of links are made for one link and never sent; no identity recovers them";
