//! Requests and responses.

use super::{
    instance::{Instance, destination, link, patience},
    watcher::{Reply, Response},
};
use crate::call::{Answer, Failure, Params};
use proto_rns::{IdentityHash, link::RequestPolicy, wire::msgpack::Writer};
use serde_json::json;
use std::sync::Arc;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "register_request_handler" => register(instance, params),
        "deregister_request_handler" => deregister(instance, params),
        "get_request_log" => log(instance, params),
        "link_request" => request(instance, params, 10_000),
        "link_request_large" => request(instance, params, 30_000),
        _ => return None,
    })
}

fn register(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let path = params.text("path")?;
    let policy = match params.some_text("allow").unwrap_or("all") {
        "all" => RequestPolicy::All,
        "none" => RequestPolicy::None,
        "list" => {
            let allowed = crate::primitive::arrays(params, "allowed_identity_hashes")?;
            RequestPolicy::List(allowed.into_iter().map(IdentityHash::new).collect())
        }
        other => return Err(Failure::new(format!("ValueError: unsupported allow: {other}"))),
    };
    let reply = match params.some_bytes("response_file")? {
        Some(data) => {
            Some(Reply::File { data, metadata: packed(params.some_bytes("response_metadata")?.as_deref()) })
        }
        None if params.flag("response_none", false) => None,
        None => Some(Reply::Value(packed(Some(&params.some_bytes("response")?.unwrap_or_default())))),
    };
    instance.with_destination(own, |own| {
        Arc::make_mut(&mut own.links.get_or_insert_default().requests).allow(path, policy);
    })?;
    offer(instance, own)?;
    instance.with(|_, watcher, _| {
        let answers = &mut watcher.listeners.entry(own).or_default().answers;
        match reply {
            Some(reply) => _ = answers.insert(path.into(), reply),
            None => _ = answers.remove(path),
        }
    });
    Ok(json!({"registered": true}))
}

fn deregister(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let path = params.text("path")?;
    instance.with_destination(own, |own| {
        Arc::make_mut(&mut own.links.get_or_insert_default().requests).remove(path);
    })?;
    offer(instance, own)?;
    let was = instance
        .with(|_, watcher, _| watcher.listeners.entry(own).or_default().answers.remove(path).is_some());
    Ok(json!({"deregistered": was}))
}

/// Has the links that are open already offer what the destination offers.
fn offer(instance: &Instance, own: proto_rns::DestinationHash) -> Result<(), Failure> {
    let policies =
        instance.with_destination(own, |own| own.links.as_ref().map(|links| Arc::clone(&links.requests)))?;
    instance.with(|node, watcher, now| {
        let links: Vec<_> = watcher.links_to(own).map(|(link, _)| link).collect();
        for (link, policies) in links.into_iter().zip(std::iter::repeat(policies).flatten()) {
            _ = node.with_link(now, link, |link, _, _| link.set_requests(policies));
        }
    });
    Ok(())
}

fn log(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let path = params.text("path")?;
    let entries = instance.read(|_, watcher| {
        let of_path = watcher.requests.iter().filter(|log| log.destination == own && log.path == path);
        let entries = of_path.map(|log| {
            json!({
                "data": hex::encode(&log.data),
                "request_id": log.request.to_string(),
                "link_id": log.link.to_string(),
                "remote_identity_hash": log.identity.map(|identity| identity.hash().to_string()),
                "requested_at": log.requested_at,
            })
        });
        entries.collect::<Vec<_>>()
    });
    Ok(json!({"count": entries.len(), "entries": entries}))
}

#[allow(clippy::disallowed_methods, reason = "the suite asks how long a response took")]
fn request(instance: &Instance, params: Params<'_>, default_millis: u64) -> Answer {
    let number = link(params)?;
    let path = params.text("path")?;
    let data = packed(params.some_bytes("data")?.as_deref());
    let timeout = patience(params, default_millis)?;
    let started = std::time::Instant::now();
    let id = instance
        .with_link(number, |link, env, out| link.request(env, path, &data, Some(timeout), None, out))??;
    let response = instance.until(timeout + std::time::Duration::from_millis(500), |_, watcher, _| {
        watcher.links.get(&number).and_then(|log| log.responses.get(&id).cloned())
    });
    let elapsed = started.elapsed().as_secs_f64();
    Ok(match response {
        Some(Response::Value(data)) => json!({
            "status": "ready", "response": hex::encode(data), "response_metadata": null, "response_time_s": elapsed,
        }),
        Some(Response::File { data, metadata }) => json!({
            "status": "ready", "response": hex::encode(data), "response_metadata": hex::encode(metadata),
            "response_time_s": elapsed,
        }),
        Some(Response::Failed) => json!({"status": "failed", "response": null, "response_metadata": null}),
        None => json!({"status": "timeout", "response": null, "response_metadata": null}),
    })
}

/// Returns bytes as MessagePack; nil for none.
fn packed(bytes: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).optional_bytes(bytes);
    out
}
