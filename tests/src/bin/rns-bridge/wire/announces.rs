//! Announces and paths.

use super::{
    instance::{Instance, destination, patience},
    ratchets::ratchet_id_at,
};
use crate::{
    call::{Answer, Failure, Params},
    tools::{seed, wall},
};
use proto_core::Instant;
use proto_rns::{
    IdentityHash,
    crypto::{Dalek, SecureEntropy},
    dest::{DestinationName, LocalDestination, Ratchets},
    identity::Identity,
};
use serde_json::{Value, json};

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "announce" => announce(instance, params),
        "reannounce" => reannounce(instance, params),
        "poll_path" => poll_path(instance, params),
        "request_path" => request_path(instance, params),
        "read_path_entry" => path(instance, params),
        "read_path_random_hash" => random_hash(instance, params),
        "has_announce_table_entry" => is_passed_on(instance, params),
        "identity_recall" => recall(instance, params),
        "first_hop_timeout" => first_hop_timeout(instance, params),
        _ => return None,
    })
}

/// Makes a destination of a new identity.
pub(super) fn new_destination(params: Params<'_>) -> Result<(LocalDestination, Identity), Failure> {
    let identity = Identity::generate(&Dalek, &mut SecureEntropy::new(seed()));
    let name = DestinationName::new(params.text("app_name")?, &params.texts("aspects"))?;
    let mut destination = LocalDestination::single(name, identity.clone());
    if params.flag("enable_ratchets", false) {
        destination.ratchets = Some(Ratchets::new());
    }
    Ok((destination, identity))
}

fn announce(instance: &Instance, params: Params<'_>) -> Answer {
    let (destination, identity) = new_destination(params)?;
    let app_data = params.some_bytes("app_data")?;
    let hash = instance.with(|node, _, now| {
        let hash = node.register(now, destination).map_err(Failure::from)?;
        node.announce(now, hash, app_data.as_deref()).map_err(Failure::from)?;
        Ok::<_, Failure>(hash)
    })?;
    let mut result =
        json!({"destination_hash": hash.to_string(), "identity_hash": identity.hash().to_string()});
    add_ratchets(instance, params, hash, &mut result)?;
    Ok(result)
}

/// Adds what is to be told of a destination with ratchets.
pub(super) fn add_ratchets(
    instance: &Instance,
    params: Params<'_>,
    hash: proto_rns::DestinationHash,
    result: &mut Value,
) -> Result<(), Failure> {
    if params.flag("enable_ratchets", false) {
        let (id, count) = instance.with_destination(hash, |own| {
            (ratchet_id_at(own, 0), own.ratchets.as_ref().map_or(0, |ratchets| ratchets.keys().len()))
        })?;
        if let Some(result) = result.as_object_mut() {
            result.insert("ratchets_enabled".into(), true.into());
            result.insert("current_ratchet_id".into(), json!(id));
            result.insert("ratchet_count".into(), count.into());
        }
    }
    Ok(())
}

fn reannounce(instance: &Instance, params: Params<'_>) -> Answer {
    let hash = destination(params)?;
    let app_data = params.some_bytes("app_data")?;
    if params.seconds("rotate_ago_s").is_some() {
        super::ratchets::make_due(instance, hash)?;
    }
    instance.with(|node, _, now| node.announce(now, hash, app_data.as_deref()))?;
    let id = instance.with_destination(hash, |own| ratchet_id_at(own, 0))?;
    Ok(json!({"announced": true, "current_ratchet_id": id}))
}

fn poll_path(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let hops = instance.until(patience(params, 5_000)?, |node, _, _| node.router().hops_to(wanted));
    Ok(json!({"found": hops.is_some(), "hops": hops}))
}

fn request_path(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    instance.with(|node, _, now| node.request_path(now, wanted));
    Ok(json!({"sent": true}))
}

fn path(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    Ok(instance.with(|node, _, now| {
        let Some(path) = node.router().path(wanted) else { return json!({"found": false}) };
        let name = node.interface(path.interface).map(|interface| interface.properties().name.clone());
        let next_hop = path.next_hop.map_or_else(|| wanted.to_string(), |next_hop| next_hop.to_string());
        json!({
            "found": true,
            "timestamp": epoch_millis(now, path.refreshed),
            "expires": epoch_millis(now, path.expires),
            "hops": path.hops,
            "next_hop": next_hop,
            "receiving_interface_name": name,
        })
    }))
}

#[allow(clippy::cast_possible_truncation, reason = "milliseconds since 1970 fit for long")]
fn epoch_millis(now: Instant, at: Instant) -> i64 {
    let wall = wall().since_epoch().as_secs_f64();
    let ahead = at.saturating_since(now).as_secs_f64() - now.saturating_since(at).as_secs_f64();
    ((wall + ahead) * 1_000.0) as i64
}

fn random_hash(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let random = instance.read(|node, _| node.router().path_random_hashes(wanted)).pop();
    Ok(json!({"found": random.is_some(), "random_hash": random.map(|random| hex::encode(random.as_bytes()))}))
}

fn is_passed_on(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    Ok(json!({"found": instance.read(|node, _| node.router().waiting_announce(wanted).is_some())}))
}

fn recall(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let by_identity = params.flag("from_identity_hash", false);
    let found = instance.until(patience(params, 0)?, |node, _, _| {
        let known = node.known();
        if by_identity {
            let identity = IdentityHash::new(*wanted.as_bytes());
            return known.identity_of(identity).map(|identity| (*identity, None));
        }
        if let Some(own) = node.destination(wanted) {
            return own.identity().map(|identity| (*identity.public(), Some(own.app_data.clone())));
        }
        let known = known.get(wanted)?;
        Some((known.identity, known.app_data.as_ref().map(|data| data.to_vec())))
    });
    let Some((identity, app_data)) = found else { return Ok(json!({"found": false, "app_data": null})) };
    Ok(json!({
        "found": true,
        "public_key": hex::encode(identity.to_bytes()),
        "hash": identity.hash().to_string(),
        "app_data": app_data.map(hex::encode),
    }))
}

fn first_hop_timeout(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let timeout = instance.read(|node, _| node.first_hop_timeout(wanted));
    Ok(json!({
        "timeout": timeout.as_secs_f64(),
        "default_per_hop_timeout": proto_rns::transport::PER_HOP_TIMEOUT.as_secs_f64(),
    }))
}
