//! Names and destinations.

use super::{destination_name, identity};
use crate::{
    call::{Answer, Failure, Params},
    mock::{MockNode, mock_interface},
    tools::{Workbench, wall},
};
use proto_core::UnixTime;
use proto_rns::{
    IdentityHash,
    dest::{DestinationName, GroupKey, LocalDestination, Ratchets},
    identity::Identity,
    link::ProofStrategy,
    node::NodeConfig,
    wire::{Announce, Context, Packet, PathRequest, RequestTag},
};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "destination_hash" => hash(params),
        "name_hash" => name_hash(params),
        "app_and_aspects_from_name" => split(params),
        "hash_from_name_and_identity" => hash_of_full_name(params),
        "destination_expand_name" => expand(bench, params),
        "destination_construct" => construct(bench, params),
        "destination_announce_attempt" => announce(bench, params),
        "destination_set_proof_strategy_raw" => set_proofs(bench, params),
        "destination_rotate_ratchets" => rotate(bench, params),
        "destination_group_encrypt" => group_encrypt(bench, params),
        "destination_default_app_data" => default_app_data(bench, params),
        "destination_path_response_cache" => path_responses(bench, params),
        _ => return None,
    })
}

fn hash(params: Params<'_>) -> Answer {
    let identity = IdentityHash::new(params.array("identity_hash")?);
    Ok(json!({"destination_hash": destination_name(params)?.of(identity).to_string()}))
}

fn name_hash(params: Params<'_>) -> Answer {
    Ok(json!({"hash": DestinationName::parse(params.text("name")?)?.hash().to_string()}))
}

fn split(params: Params<'_>) -> Answer {
    let name = DestinationName::parse(params.text("full_name")?)?;
    let mut parts = name.as_str().split('.');
    Ok(json!({"app_name": parts.next(), "aspects": parts.collect::<Vec<_>>()}))
}

fn hash_of_full_name(params: Params<'_>) -> Answer {
    let identity = IdentityHash::new(params.array("identity_hash")?);
    let name = DestinationName::parse(params.text("full_name")?)?;
    Ok(json!({"destination_hash": name.of(identity).to_string()}))
}

/// The reference appends the identity to names that it shows.
fn expand(bench: &Workbench, params: Params<'_>) -> Answer {
    let name = destination_name(params)?;
    if params.get("identity_private_key").is_none() {
        return Ok(json!({"name": name.as_str()}));
    }
    let hash = identity(bench, params, "identity_private_key")?.hash();
    Ok(json!({"name": format!("{name}.{hash}"), "identity_hexhash": hash.to_string()}))
}

fn construct(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let made = make(bench, params)?;
    let destination = &made.destination;
    let full = match &made.identity {
        Some(identity) => format!("{}.{}", destination.name(), identity.hash()),
        None => destination.name().to_string(),
    };
    let mut result = json!({
        "destination_hash": destination.hash().to_string(),
        "name": full,
        "name_hash": destination.name().hash().to_string(),
        "proof_strategy": strategy_number(destination.proofs),
        "type": made.kind.number(),
        "direction": made.direction,
    });
    let drawn = made.identity.filter(|_| made.drawn);
    if let Some((result, identity)) = result.as_object_mut().zip(drawn) {
        result.insert("auto_identity_hexhash".into(), identity.hash().to_string().into());
    }
    Ok(result)
}

fn announce(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let destination = make_own(bench, params)?;
    let hash = destination.hash();
    let mut node = MockNode::new(NodeConfig::default(), None, wall())?;
    let now = node.now();
    node.node.register(now, destination)?;
    node.node.announce(now, hash, None)?;
    Ok(json!({"ok": true, "destination_hash": hash.to_string()}))
}

fn set_proofs(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let mut destination = make(bench, params)?.destination;
    destination.proofs = match params.number("strategy_value")? {
        0x21 => ProofStrategy::None,
        0x22 => ProofStrategy::App,
        0x23 => ProofStrategy::All,
        other => return Err(Failure::new(format!("TypeError: Unsupported proof strategy {other}"))),
    };
    Ok(json!({"set": true, "proof_strategy": strategy_number(destination.proofs)}))
}

fn rotate(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let mut destination = make(bench, params)?.destination;
    if params.flag("enable", false) {
        let mut ratchets = Ratchets::new();
        ratchets.set_interval(Duration::ZERO);
        destination.ratchets = Some(ratchets);
    }
    let Some(ratchets) = &mut destination.ratchets else {
        return Err(Failure::new("SystemError: the destination has no ratchets"));
    };
    Ok(json!({"rotated": ratchets.rotate_if_due(&mut bench.env()), "has_ratchets": true}))
}

fn group_encrypt(bench: &mut Workbench, params: Params<'_>) -> Answer {
    if !params.flag("create_keys", false) {
        return Err(Failure::new("ValueError: a group has no destination without a key"));
    }
    let (key, plaintext) = (GroupKey::generate(&mut bench.env()), params.bytes("plaintext")?);
    let sealed = key.encrypt(&mut bench.env(), &plaintext);
    let mut destination = LocalDestination::group(destination_name(params)?, None, key);
    let mut message = sealed.clone();
    let opened = destination.decrypt(&mut bench.env(), &mut message);
    let opened = opened.ok().map(|(plaintext, _)| hex::encode(plaintext));
    Ok(json!({"ciphertext": hex::encode(sealed), "roundtrip": opened, "has_key": true}))
}

/// What the reference computes when it announces, the application passes or sets itself.
fn default_app_data(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let mut destination = make_own(bench, params)?;
    let set = params.some_text("default_kind") != Some("none");
    if set {
        destination.app_data = params.some_bytes("default_value")?.unwrap_or_default();
    }
    let hash = destination.hash();
    let mut node = MockNode::new(NodeConfig::default(), None, wall())?;
    let interface = node.attach(mock_interface("mock"))?;
    let now = node.now();
    node.node.register(now, destination)?;
    node.node.announce(now, hash, params.some_bytes("override_app_data")?.as_deref())?;
    let frame = node.sent(interface).pop().ok_or_else(|| Failure::new("ValueError: no announce was sent"))?;
    let app_data = Announce::parse(&Packet::parse(&frame)?)?.app_data.to_vec();
    Ok(json!({"app_data": hex::encode(app_data), "default_app_data_set": set}))
}

/// Has the destination be asked for twice with one tag.
fn path_responses(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let destination = make_own(bench, params)?;
    let hash = destination.hash();
    let mut node = MockNode::new(NodeConfig::default(), None, UnixTime::new(Duration::from_secs(1_000_000)))?;
    let interfaces = [node.attach(mock_interface("one"))?, node.attach(mock_interface("other"))?];
    let now = node.now();
    node.node.register(now, destination)?;
    let tag = RequestTag::from_prefix(&params.bytes("tag")?)
        .ok_or_else(|| Failure::new("ValueError: the tag is empty"))?;
    let mut request = Vec::new();
    PathRequest { destination: hash, requester: None, tag }.emit(&mut request);
    let mut answers = Vec::new();
    for (round, interface) in interfaces.into_iter().enumerate() {
        if round > 0 {
            node.advance(Duration::from_secs_f64(params.seconds("advance_seconds").unwrap_or(0.0)));
        }
        node.inject(interface, &PathRequest::packet(&request).to_vec());
        answers.push(node.sent(interface).pop().unwrap_or_default());
    }
    let packets: Vec<Packet<'_>> = answers.iter().filter_map(|frame| Packet::parse(frame).ok()).collect();
    let [first, second] = packets.as_slice() else {
        return Err(Failure::new(format!("ValueError: {} of 2 requests were answered", packets.len())));
    };
    Ok(json!({
        "first_announce_data": hex::encode(first.data),
        "second_announce_data": hex::encode(second.data),
        "reused": first.data == second.data,
        "first_is_path_response": first.context == Context::PathResponse,
    }))
}

/// A destination as the suite describes it.
struct Made {
    destination: LocalDestination,
    identity: Option<Identity>,
    /// Whether the identity was not given.
    drawn: bool,
    kind: Kind,
    direction: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single = 0,
    Group = 1,
    Plain = 2,
    Link = 3,
}

impl Kind {
    const fn number(self) -> u8 {
        self as u8
    }

    fn of(value: Option<&Value>) -> Result<Self, Failure> {
        match value.map(|value| (value.as_str(), value.as_u64())) {
            None | Some((Some("single"), _) | (_, Some(0))) => Ok(Self::Single),
            Some((Some("group"), _) | (_, Some(1))) => Ok(Self::Group),
            Some((Some("plain"), _) | (_, Some(2))) => Ok(Self::Plain),
            Some((Some("link"), _) | (_, Some(3))) => Ok(Self::Link),
            Some(_) => Err(Failure::new("ValueError: Unknown destination type")),
        }
    }
}

/// The direction of destinations that this node receives for.
const IN: u8 = 0x11;
const OUT: u8 = 0x12;

fn make(bench: &mut Workbench, params: Params<'_>) -> Result<Made, Failure> {
    let kind = Kind::of(params.get("type"))?;
    let direction = match params.get("direction").map(|value| (value.as_str(), value.as_u64())) {
        None | Some((Some("in"), _) | (_, Some(0x11))) => IN,
        Some((Some("out"), _) | (_, Some(0x12))) => OUT,
        Some(_) => return Err(Failure::new("ValueError: Unknown destination direction")),
    };
    let name = destination_name(params)?;
    let given = match params.get("identity_private_key") {
        Some(_) => Some(identity(bench, params, "identity_private_key")?),
        None => None,
    };
    let drawn = given.is_none();
    let identity = match (given, kind, direction) {
        (Some(_), Kind::Plain, _) => {
            return Err(Failure::new("TypeError: a plain destination has no identity"));
        }
        (None, Kind::Plain, _) => None,
        (None, _, OUT) => return Err(Failure::new("ValueError: whose destination is it?")),
        (None, _, _) => Some(Identity::generate(&*bench.crypto, &mut bench.entropy)),
        (given, _, _) => given,
    };
    let destination = match (kind, &identity) {
        (Kind::Single | Kind::Link, Some(identity)) => LocalDestination::single(name, identity.clone()),
        (Kind::Group, identity) => {
            LocalDestination::group(name, identity.as_ref(), GroupKey::generate(&mut bench.env()))
        }
        (Kind::Single | Kind::Link | Kind::Plain, _) => LocalDestination::plain(name),
    };
    Ok(Made { destination, identity, drawn, kind, direction })
}

/// Makes a destination that the node receives for.
fn make_own(bench: &mut Workbench, params: Params<'_>) -> Result<LocalDestination, Failure> {
    let made = make(bench, params)?;
    if made.direction != IN || made.kind == Kind::Link {
        return Err(Failure::new("TypeError: only a node's own destinations can be announced"));
    }
    Ok(made.destination)
}

const fn strategy_number(strategy: ProofStrategy) -> u8 {
    match strategy {
        ProofStrategy::None => 0x21,
        ProofStrategy::App => 0x22,
        ProofStrategy::All => 0x23,
    }
}
