//! Links.

use super::{
    announces::{add_ratchets, new_destination},
    instance::{Instance, destination, link, patience},
    watcher::{LinkLog, Listener, Watcher, state_number},
};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    LinkHash,
    crypto::Dalek,
    identity::Identity,
    link::{CloseReason, LinkConfig, LinkState, ProofStrategy},
    node::Node,
    resource::Strategy,
};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "listen" => listen(instance, params),
        "set_proof_strategy" => set_proofs(instance, params),
        "link_open" => open(instance, params),
        "link_send" => send(instance, params),
        "send_link_data" => send_with_receipt(instance, params),
        "link_poll" => poll(instance, params),
        "link_status" => status(instance, params),
        "link_await_status" => await_status(instance, params),
        "listener_link_status" => listener_status(instance, params),
        "link_teardown" => close(instance, params),
        "link_identify" => identify(instance, params),
        "link_mtu" => mtu(instance, params),
        "send_over_closed_link" => send_when_closed(instance, params),
        "send_oversize_link_packet" => send_too_long(instance, params),
        _ => return None,
    })
}

fn listen(instance: &Instance, params: Params<'_>) -> Answer {
    let (mut own, identity) = new_destination(params)?;
    let strategy = params.some_text("resource_strategy").unwrap_or("all");
    let mut config = LinkConfig::default();
    config.resources.strategy = match strategy {
        "none" => Strategy::None,
        _ => Strategy::App,
    };
    // The suite's receivers take no more than this from one stream.
    config.max_stream_bytes = 1 << 20;
    if params.some_text("proof_strategy") == Some("all") {
        own.proofs = ProofStrategy::All;
        config.proofs = ProofStrategy::All;
    }
    own.links = Some(config);
    let listener = Listener {
        opens_channel: params.flag("open_channel", true),
        longest_resource: (strategy == "app").then_some(LONGEST_ACCEPTED),
        ..Listener::default()
    };
    let hash = instance.with(|node, watcher, now| {
        let hash = node.register(now, own).map_err(Failure::from)?;
        watcher.listeners.insert(hash, listener);
        node.announce(now, hash, None).map_err(Failure::from)?;
        Ok::<_, Failure>(hash)
    })?;
    let mut result = json!({
        "destination_hash": hash.to_string(),
        "identity_hash": identity.hash().to_string(),
        "public_key": hex::encode(identity.public().to_bytes()),
        "resource_strategy": strategy,
    });
    add_ratchets(instance, params, hash, &mut result)?;
    Ok(result)
}

fn set_proofs(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let name = params.text("strategy")?;
    let (strategy, number) = match name {
        "none" => (ProofStrategy::None, 0x21),
        "app" => (ProofStrategy::App, 0x22),
        "all" => (ProofStrategy::All, 0x23),
        other => return Err(Failure::new(format!("ValueError: strategy must not be {other}"))),
    };
    instance.with_destination(own, |own| {
        own.proofs = strategy;
        own.links.get_or_insert_default().proofs = strategy;
    })?;
    instance.with(|_, watcher, _| {
        watcher.listeners.entry(own).or_default().decides_proofs = strategy == ProofStrategy::App;
    });
    Ok(json!({"strategy": name, "proof_strategy": number}))
}

fn open(instance: &Instance, params: Params<'_>) -> Answer {
    let to = destination(params)?;
    let link = instance.with(|node, watcher, now| {
        let link = node.open_link(now, to, None)?;
        watcher.watch(link, to);
        Ok::<_, proto_rns::node::OpenLinkError>(link)
    })?;
    let opened = instance.until(patience(params, 10_000)?, |_, watcher, _| {
        let log = watcher.links.get(&link)?;
        log.closed.map(Err).or_else(|| log.established.map(Ok))
    });
    match opened {
        Some(Ok(_)) => Ok(json!({"link_id": link.to_string()})),
        Some(Err(reason)) => Err(Failure::new(format!("RuntimeError: the link closed: {reason:?}"))),
        None => Err(Failure::new(format!("TimeoutError: the link to {to} did not become active"))),
    }
}

fn send(instance: &Instance, params: Params<'_>) -> Answer {
    let data = params.some_bytes("data")?.unwrap_or_default();
    instance.with_link(link(params)?, |link, env, out| link.send(env, &data, out))??;
    Ok(json!({"sent": true}))
}

fn send_with_receipt(instance: &Instance, params: Params<'_>) -> Answer {
    let data = params.some_bytes("data")?.unwrap_or_default();
    let hash = instance.with_link(link(params)?, |link, env, out| link.send(env, &data, out))??;
    let receipt = params.flag("create_receipt", true).then(|| hash.to_string());
    Ok(json!({"sent": true, "receipt_id": receipt}))
}

fn poll(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let packets = instance.until(patience(params, 5_000)?, |_, watcher, _| {
        let links: Vec<LinkHash> = watcher.links_to(own).map(|(link, _)| link).collect();
        let taken: Vec<Vec<u8>> = links
            .iter()
            .filter_map(|link| Some(core::mem::take(&mut watcher.links.get_mut(link)?.data)))
            .flatten()
            .collect();
        (!taken.is_empty()).then_some(taken)
    });
    Ok(json!({"packets": packets.unwrap_or_default().into_iter().map(hex::encode).collect::<Vec<_>>()}))
}

fn status(instance: &Instance, params: Params<'_>) -> Answer {
    let link = link(params)?;
    instance.read(|node, watcher| described(node, watcher, link))
}

/// Waits until the link is in a state, or in one that comes after it.
fn await_status(instance: &Instance, params: Params<'_>) -> Answer {
    let link = link(params)?;
    let target = match params.get("target_status").map(|target| (target.as_str(), target.as_u64())) {
        Some((Some(name), _)) => NAMES
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
            .and_then(|place| u8::try_from(place).ok()),
        Some((_, Some(number))) => u8::try_from(number).ok(),
        _ => None,
    };
    let target = target.ok_or_else(|| Failure::new("ValueError: Unknown target_status"))?;
    let reached = instance.until(patience(params, 15_000)?, |node, watcher, _| {
        (state_number(state(node, watcher, link)) >= target).then_some(())
    });
    let mut result = instance.read(|node, watcher| described(node, watcher, link))?;
    if let Some(result) = result.as_object_mut() {
        result.insert("reached".into(), reached.is_some().into());
    }
    Ok(result)
}

fn listener_status(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let links = instance.until(patience(params, 0)?, |_, watcher, _| {
        let links: Vec<LinkHash> = watcher
            .links_to(own)
            .filter(|(_, log)| log.established.is_some())
            .map(|(link, _)| link)
            .collect();
        (!links.is_empty()).then_some(links)
    });
    let Some(links) = links else { return Ok(json!({"found": false, "link_count": 0})) };
    let last = links.last().copied().unwrap_or(LinkHash::new([0; 16]));
    let mut result = instance.read(|node, watcher| described(node, watcher, last))?;
    if let Some(result) = result.as_object_mut() {
        result.insert("found".into(), true.into());
        result.insert("link_count".into(), links.len().into());
    }
    Ok(result)
}

fn close(instance: &Instance, params: Params<'_>) -> Answer {
    let number = link(params)?;
    _ = instance.with_link(number, |link, env, out| link.close(env, out));
    instance.until(CLOSING, |_, watcher, _| watcher.links.get(&number).and_then(|log| log.closed));
    Ok(json!({"torn_down": true}))
}

fn identify(instance: &Instance, params: Params<'_>) -> Answer {
    let identity = Identity::from_bytes(&Dalek, &params.array("private_key")?);
    instance.with_link(link(params)?, |link, env, out| link.identify(env, &identity, out))??;
    Ok(json!({"identified": true, "identity_hash": identity.hash().to_string()}))
}

fn mtu(instance: &Instance, params: Params<'_>) -> Answer {
    status(instance, params)
}

fn send_when_closed(instance: &Instance, params: Params<'_>) -> Answer {
    let link = link(params)?;
    let data = params.some_bytes("data")?.unwrap_or_else(|| b"after-close".to_vec());
    let sent_bytes = |instance: &Instance| {
        instance.read(|node, _| node.interfaces().map(|(_, of)| of.counters().sent_bytes).sum::<u64>())
    };
    let before = sent_bytes(instance);
    let sent =
        instance.with_link(link, |link, env, out| link.send(env, &data, out)).is_ok_and(|sent| sent.is_ok());
    let state = instance.read(|node, watcher| state(node, watcher, link));
    Ok(json!({
        "link_status": state_number(state),
        "link_status_name": name(state),
        "sent": sent,
        "bytes_transmitted": sent_bytes(instance) - before,
    }))
}

fn send_too_long(instance: &Instance, params: Params<'_>) -> Answer {
    let data = vec![0x5a; params.number("size")?];
    let (mtu, mdu, sent) = instance
        .with_link(link(params)?, |link, env, out| (link.mtu(), link.mdu(), link.send(env, &data, out)))?;
    let error = sent.as_ref().err().map(ToString::to_string);
    Ok(json!({
        "size": data.len(), "mtu": mtu, "mdu": mdu, "packet_mtu": mtu,
        "sent": sent.is_ok(), "rejected": sent.is_err(), "error": error, "raw_len": null,
    }))
}

/// Returns the state of a link that may be gone already.
pub(super) fn state(node: &Node, watcher: &Watcher, link: LinkHash) -> LinkState {
    match (node.link(link), watcher.links.get(&link).and_then(|log| log.closed)) {
        (Some(open), None) => open.state(),
        (_, Some(_)) | (None, None) => LinkState::Closed,
    }
}

fn described(node: &Node, watcher: &Watcher, link: LinkHash) -> Answer {
    let unknown = || Failure::new(format!("ValueError: Unknown link_id: {link}"));
    let log = watcher.links.get(&link).ok_or_else(unknown)?;
    let state = state(node, watcher, link);
    let open = node.link(link);
    let (reason, reason_name) = log.closed.map_or((None, None), |reason| {
        let (number, name) = closure(reason);
        (Some(number), Some(name))
    });
    let identity = remote_identity(log);
    let keepalive = open.and_then(|open| open.keepalive()).map(|keepalive| keepalive.as_secs_f64());
    Ok(json!({
        "status": state_number(state),
        "status_name": name(state),
        "teardown_reason": reason,
        "teardown_reason_name": reason_name,
        "keepalive_s": keepalive,
        "stale_time_s": keepalive.map(|keepalive| keepalive * 2.0),
        "rtt": open.and_then(|open| open.rtt()).map(|rtt| rtt.as_secs_f64()),
        "mtu": open.map(|open| open.mtu()),
        "mdu": open.map(|open| open.mdu()),
        "mode": 1,
        "remote_identity_hash": identity,
        "remote_identified": identity != Value::Null,
    }))
}

fn remote_identity(log: &LinkLog) -> Value {
    log.identity.map_or(Value::Null, |identity| identity.hash().to_string().into())
}

#[allow(clippy::wildcard_enum_match_arm, reason = "the reference has one reason for all the rest")]
const fn closure(reason: CloseReason) -> (u8, &'static str) {
    match reason {
        CloseReason::InitiatorClosed => (2, "INITIATOR_CLOSED"),
        CloseReason::DestinationClosed => (3, "DESTINATION_CLOSED"),
        _ => (1, "TIMEOUT"),
    }
}

pub(super) fn name(state: LinkState) -> &'static str {
    NAMES.get(usize::from(state_number(state))).copied().unwrap_or_default()
}

/// The reference's names of a link's states.
const NAMES: [&str; 5] = ["PENDING", "HANDSHAKE", "ACTIVE", "STALE", "CLOSED"];

/// How long a link may take to tell that it is closed.
const CLOSING: Duration = Duration::from_secs(1);

/// The longest resource that the suite's applications accept.
const LONGEST_ACCEPTED: u64 = 4_096;
