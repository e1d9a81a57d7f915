//! Handshakes of links, genuine and damaged, between two ends without a network.

use super::instance::Instance;
use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_core::Instant;
use proto_rns::{
    DestinationHash,
    crypto::draw,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    link::{Link, LinkConfig, LinkState, PacketSink},
    wire::{LinkRequest, OwnedPacket, Packet},
};
use serde_json::json;
use std::time::Duration;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "link_request_payload" => request_payload(params),
        "inject_crafted_link_request" => damaged_request(params),
        "inject_crafted_lrproof" => damaged_proof(params),
        "capture_lrproof_frame" => proof_frame(params),
        "link_accept_gate" => accept_gate(instance, params),
        _ => return None,
    })
}

/// Both ends of a link that is being opened.
struct Handshake {
    bench: Workbench,
    owner: Identity,
    initiator: Link,
    request: OwnedPacket,
}

/// Keeps what a link sends.
#[derive(Default)]
struct Sent(Vec<OwnedPacket>);

impl PacketSink for Sent {
    fn send(&mut self, packet: &Packet<'_>) {
        self.0.push(OwnedPacket::new(packet));
    }

    fn room(&self) -> usize {
        0
    }
}

impl Handshake {
    /// Has a link be asked for.
    fn begin(params: Params<'_>) -> Result<Self, Failure> {
        let mut bench = Workbench::default();
        let owner = Identity::generate(&*bench.crypto, &mut bench.entropy);
        let aspects = params.texts("aspects");
        let aspects = if aspects.is_empty() { vec!["handshake"] } else { aspects };
        let name = DestinationName::new(params.some_text("app_name").unwrap_or("conformance"), &aspects)?;
        let to = name.of(owner.hash());
        let mut sent = Sent::default();
        let (hops, timeout) = (1, Duration::from_secs(6));
        let initiator = Link::initiate(
            &mut bench.env(),
            to,
            *owner.public(),
            hops,
            Some(MTU),
            timeout,
            &LinkConfig::default(),
            &mut sent,
        )?;
        let request = sent.0.pop().ok_or_else(|| Failure::new("ValueError: no link was asked for"))?;
        Ok(Self { bench, owner, initiator, request })
    }

    /// Has the destination answer a request.
    fn accept(&mut self, request: &Packet<'_>) -> Option<(Link, OwnedPacket)> {
        let mut sent = Sent::default();
        let config = LinkConfig::default();
        let link =
            Link::accept(&mut self.bench.env(), request, &self.owner, Some(MTU), &config, &mut sent).ok()?;
        Some((link, sent.0.pop()?))
    }
}

fn request_payload(params: Params<'_>) -> Answer {
    let handshake = Handshake::begin(params)?;
    let packet = handshake.request.as_packet();
    let request = LinkRequest::parse(packet.data)?;
    let signalling = request.signalling.map(|signalling| signalling.to_bytes());
    Ok(json!({
        "request_data_hex": hex::encode(packet.data),
        "pub_bytes": hex::encode(request.agreement_key),
        "sig_pub_bytes": hex::encode(request.verifying_key),
        "signalling_bytes": signalling.map(hex::encode).unwrap_or_default(),
        "mtu": request.signalling.map(|signalling| signalling.mtu),
        "mode": 1,
        "len": packet.data.len(),
        "ecpubsize": LinkRequest::KEYS_LEN,
        "link_mtu_size": proto_rns::wire::Signalling::LEN,
        "reticulum_mtu": MTU,
    }))
}

fn damaged_request(params: Params<'_>) -> Answer {
    let variant = params.text("variant")?;
    let mut handshake = Handshake::begin(params)?;
    let request = handshake.request.clone();
    let whole = request.as_packet();
    let mut data = whole.data.to_vec();
    match variant {
        "valid67" => {}
        "valid64" => data.truncate(64),
        "size_63" => data.truncate(63),
        "size_66" => data.truncate(66),
        "size_0" => data.clear(),
        "bad_mode" => data.iter_mut().skip(LinkRequest::KEYS_LEN).take(1).for_each(|byte| *byte = 0x60),
        other => return Err(Failure::new(format!("ValueError: unknown link-request variant: {other}"))),
    }
    let hops = params.some_number("hops")?.unwrap_or(0);
    let accepted = handshake.accept(&Packet { data: &data, hops, ..whole });
    let timeout = accepted.as_ref().and_then(|(link, _)| link.poll_timeout());
    Ok(json!({
        "variant": variant,
        "data_len": data.len(),
        "accepted": accepted.is_some(),
        "inbound_link_created": accepted.is_some(),
        "establishment_timeout": timeout.map(|at| at.saturating_since(Instant::ZERO).as_secs_f64()),
        "mode": accepted.as_ref().map(|_| 1),
        "mtu": accepted.as_ref().map(|(link, _)| link.mtu()),
        "establishment_timeout_per_hop": 6,
        "keepalive": 360,
    }))
}

fn damaged_proof(params: Params<'_>) -> Answer {
    let variant = params.text("variant")?;
    let mut handshake = Handshake::begin(params)?;
    let request = handshake.request.clone();
    let (_, proof) = handshake
        .accept(&request.as_packet())
        .ok_or_else(|| Failure::new("ValueError: the link was not accepted"))?;
    let whole = proof.as_packet();
    let mut data = whole.data.to_vec();
    match variant {
        "valid" => {}
        "forged_signature" => {
            let forger = Identity::generate(&*handshake.bench.crypto, &mut handshake.bench.entropy);
            let forged = forger.sign(whole.data);
            data.iter_mut().zip(forged).for_each(|(to, from)| *to = from);
        }
        "wrong_signed_data" => {
            let other = handshake.owner.sign(&draw::<96>(&mut handshake.bench.entropy));
            data.iter_mut().zip(other).for_each(|(to, from)| *to = from);
        }
        "non_pending" => {
            let mut env = handshake.bench.env();
            handshake.initiator.close(&mut env, &mut Sent::default());
        }
        "wrong_size" => _ = data.pop(),
        "mode_mismatch" => data.iter_mut().skip(96).take(1).for_each(|byte| *byte = *byte & 0x1f | 0x40),
        other => return Err(Failure::new(format!("ValueError: unknown lrproof variant: {other}"))),
    }
    let mut env = handshake.bench.env();
    let packet = Packet { data: &data, hops: 1, ..whole };
    handshake.initiator.handle_packet(&mut env, &packet, &mut Sent::default());
    let state = handshake.initiator.state();
    let active = state == LinkState::Active;
    Ok(json!({
        "variant": variant, "validated": active, "established": active, "link_active": active,
        "activated": active, "status": super::watcher::state_number(state), "status_name": super::links::name(state), "proof_len": data.len(),
    }))
}

fn proof_frame(params: Params<'_>) -> Answer {
    let mut handshake = Handshake::begin(params)?;
    let request = handshake.request.clone();
    let (link, proof) = handshake
        .accept(&request.as_packet())
        .ok_or_else(|| Failure::new("ValueError: the link was not accepted"))?;
    let frame = proof.as_packet().to_vec();
    Ok(json!({
        "raw": hex::encode(&frame), "flags": frame.first(), "link_id": link.id().to_string(),
        "packet_type": 3, "context": 0xff, "expected_link_dest_type": 3,
        "truncated_hashlength": DestinationHash::LEN,
    }))
}

/// Has a genuine request arrive at a destination that accepts links, or does not.
fn accept_gate(instance: &Instance, params: Params<'_>) -> Answer {
    let accepts = params.flag("accepts", true);
    let handshake = Handshake::begin(params)?;
    let aspects = params.texts("aspects");
    let aspects = if aspects.is_empty() { vec!["handshake"] } else { aspects };
    let name = DestinationName::new(params.some_text("app_name").unwrap_or("conformance"), &aspects)?;
    let mut own = LocalDestination::single(name, handshake.owner.clone());
    own.accepts_links = accepts;
    let mut mock = crate::mock::MockNode::new(
        instance.read(|node, _| node.config().clone()),
        None,
        crate::tools::wall(),
    )?;
    let interface = mock.attach(crate::mock::mock_interface("gate"))?;
    let now = mock.now();
    mock.node.register(now, own)?;
    let before = mock.node.links().count();
    mock.inject(interface, &handshake.request.as_packet().to_vec());
    let after = mock.node.links().count();
    Ok(
        json!({"accepts": accepts, "links_before": before, "links_after": after, "link_created": after > before}),
    )
}

/// The longest packet that every interface carries.
const MTU: usize = 500;
