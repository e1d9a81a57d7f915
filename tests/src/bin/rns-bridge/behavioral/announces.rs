//! Destinations of the node, and those of others that it hears of.

use super::instance::{Instance, destination};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    link::ProofStrategy,
    node::Event,
    transport::Announced,
};
use serde_json::{Map, Value, json};

/// An application that wants to hear announces.
#[derive(Debug)]
pub(super) struct Handler {
    /// The only name whose announces it wants.
    name: Option<DestinationName>,
    path_responses: bool,
    wants_packet: bool,
    /// How much had been heard before.
    since: usize,
}

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "register_destination" => register(instance, params),
        "read_destination_deliveries" => deliveries(instance, params),
        "register_announce_handler" => handle_announces(instance, params),
        "read_announce_handler_calls" => heard(instance, params),
        "mark_path_unresponsive" => mark_unresponsive(instance, params),
        _ => return None,
    })
}

fn register(instance: &mut Instance, params: Params<'_>) -> Answer {
    let name = DestinationName::new(params.text("app_name")?, &params.texts("aspects"))?;
    let mut destination = match params.some_text("type").unwrap_or("single") {
        "plain" => LocalDestination::plain(name),
        "single" => {
            LocalDestination::single(name, Identity::from_bytes(&Dalek, &params.array("identity_seed")?))
        }
        other => return Err(Failure::new(format!("ValueError: unknown destination type: {other}"))),
    };
    destination.proofs = match params.some_text("proof_strategy") {
        Some("all") => ProofStrategy::All,
        Some("app") => ProofStrategy::App,
        _ => ProofStrategy::None,
    };
    let now = instance.mock.now();
    let hash = instance.mock.node.register(now, destination)?;
    Ok(json!({"destination_hash": hash.to_string()}))
}

fn deliveries(instance: &mut Instance, params: Params<'_>) -> Answer {
    instance.mock.settle();
    let wanted = destination(params, "dest")?;
    let of_destination = |event: &Event| {
        let Event::Packet { destination, data, .. } = event else { return None };
        (*destination == wanted).then(|| hex::encode(data))
    };
    let deliveries: Vec<String> = instance.mock.events.iter().filter_map(of_destination).collect();
    Ok(json!({"count": deliveries.len(), "deliveries": deliveries}))
}

fn handle_announces(instance: &mut Instance, params: Params<'_>) -> Answer {
    if params.flag("omit_aspect_filter", false) {
        return Ok(json!({"handler_id": "none", "registered": false}));
    }
    instance.mock.settle();
    instance.handlers.push(Handler {
        name: params.some_text("aspect_filter").map(DestinationName::parse).transpose()?,
        path_responses: params.flag("receive_path_responses", false),
        wants_packet: params.some_number::<u64>("num_params")? == Some(4),
        since: instance.mock.events.len(),
    });
    Ok(json!({"handler_id": (instance.handlers.len() - 1).to_string(), "registered": true}))
}

fn heard(instance: &mut Instance, params: Params<'_>) -> Answer {
    instance.mock.settle();
    let place = params.text("handler_id")?.parse::<usize>().ok();
    let Some(handler) = place.and_then(|place| instance.handlers.get(place)) else {
        return Ok(json!({"calls": [], "registered": false}));
    };
    let calls = instance.mock.events.iter().skip(handler.since).filter_map(|event| {
        let Event::Announce(announced) = event else { return None };
        handler.wants(announced).then(|| handler.called(announced))
    });
    Ok(json!({"calls": calls.collect::<Vec<_>>(), "registered": true}))
}

fn mark_unresponsive(instance: &mut Instance, params: Params<'_>) -> Answer {
    let destination = destination(params, "dest")?;
    Ok(json!({"marked": instance.mock.node.mark_unresponsive(destination)}))
}

impl Handler {
    fn wants(&self, announced: &Announced) -> bool {
        let is_named = self.name.as_ref().is_none_or(|name| name.hash() == announced.name);
        is_named && (self.path_responses || !announced.path_response)
    }

    fn called(&self, announced: &Announced) -> Value {
        let mut call = Map::new();
        call.insert("destination_hash".into(), announced.destination.to_string().into());
        call.insert("announced_identity_hash".into(), announced.identity.hash().to_string().into());
        call.insert("app_data".into(), hex::encode(&announced.app_data).into());
        if self.wants_packet {
            call.insert("announce_packet_hash".into(), announced.packet.to_string().into());
        }
        Value::Object(call)
    }
}
