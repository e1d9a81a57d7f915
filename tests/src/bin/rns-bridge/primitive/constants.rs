//! The numbers of the protocol, as the types know them or as the functions show them.

use crate::{
    call::{Answer, Params},
    tools::Workbench,
};
use proto_rns::{
    IdentityHash, NameHash, PacketHash,
    crypto::{Signature, TOKEN_OVERHEAD, token_len},
    identity::PublicIdentity,
    iface::{InterfaceConfig, MAX_QUEUED_ANNOUNCES, QUEUED_ANNOUNCE_LIFE},
    wire::{Context, Packet},
};
use serde_json::{Map, Value, json};

pub(super) fn answer(_bench: &mut Workbench, command: &str, _params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "packet_constants" => Ok(packets()),
        "packet_context_constants" => Ok(contexts()),
        "announce_queue_constants" => Ok(announce_queue()),
        _ => return None,
    })
}

fn packets() -> Value {
    let ifac_min_size = 1;
    let mdu = MTU - Packet::LONG_HEADER - ifac_min_size;
    json!({
        "mtu": MTU,
        "header_minsize": Packet::SHORT_HEADER,
        "header_maxsize": Packet::LONG_HEADER,
        "mdu": mdu,
        "ifac_min_size": ifac_min_size,
        "packet_mdu": mdu,
        "packet_plain_mdu": mdu,
        "packet_encrypted_mdu": longest_plaintext(mdu - 32),
        "link_mdu": longest_plaintext(MTU - Packet::SHORT_HEADER - ifac_min_size),
        "hashlength": PacketHash::LEN * 8,
        "siglength": size_of::<Signature>() * 8,
        "truncated_hashlength": IdentityHash::LEN * 8,
        "keysize": PublicIdentity::LEN * 8,
        "name_hash_length": NameHash::LEN * 8,
        "token_overhead": TOKEN_OVERHEAD,
        "aes128_blocksize": token_len(16) - token_len(0),
    })
}

/// Returns the longest plaintext whose token has at most `room` bytes.
fn longest_plaintext(room: usize) -> usize {
    (0..room).rev().find(|len| token_len(*len) <= room).unwrap_or(0)
}

fn contexts() -> Value {
    let named = [
        ("NONE", Context::None),
        ("RESOURCE", Context::Resource),
        ("RESOURCE_ADV", Context::ResourceAdvertisement),
        ("RESOURCE_REQ", Context::ResourceRequest),
        ("RESOURCE_HMU", Context::ResourceHashmapUpdate),
        ("RESOURCE_PRF", Context::ResourceProof),
        ("RESOURCE_ICL", Context::ResourceInitiatorCancel),
        ("RESOURCE_RCL", Context::ResourceReceiverCancel),
        ("CACHE_REQUEST", Context::CacheRequest),
        ("REQUEST", Context::Request),
        ("RESPONSE", Context::Response),
        ("PATH_RESPONSE", Context::PathResponse),
        ("COMMAND", Context::Command),
        ("COMMAND_STATUS", Context::CommandStatus),
        ("CHANNEL", Context::Channel),
        ("KEEPALIVE", Context::KeepAlive),
        ("LINKIDENTIFY", Context::LinkIdentify),
        ("LINKCLOSE", Context::LinkClose),
        ("LINKPROOF", Context::LinkProof),
        ("LRRTT", Context::LinkRtt),
        ("LRPROOF", Context::LinkRequestProof),
    ];
    Value::Object(Map::from_iter(named.map(|(name, context)| (name.into(), context.to_byte().into()))))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1 in per cent")]
fn announce_queue() -> Value {
    let cap: InterfaceConfig = crate::mock::mock_interface("any");
    json!({
        "announce_cap": (cap.announce_cap * 100.0).round() as u64,
        "max_queued_announces": MAX_QUEUED_ANNOUNCES,
        "queued_announce_life": QUEUED_ANNOUNCE_LIFE.as_secs(),
    })
}

/// The longest packet that every interface carries.
const MTU: usize = 500;
