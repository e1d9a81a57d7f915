//! Resources.

use super::{
    instance::{Instance, destination, link, patience},
    watcher::IncomingState,
};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    LinkHash,
    resource::{FailReason, ResourceId},
    wire::msgpack::Writer,
};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "resource_send" => send(instance, params),
        "resource_cancel" => cancel(instance, params),
        "resource_poll" => poll(instance, params),
        "resource_receiver_status" => receiver_status(instance, params),
        _ => return None,
    })
}

fn send(instance: &Instance, params: Params<'_>) -> Answer {
    let number = link(params)?;
    let data = params.some_bytes("data")?.unwrap_or_default();
    let size = data.len();
    let metadata = params.some_bytes("metadata")?.map(|metadata| {
        let mut out = Vec::new();
        Writer::new(&mut out).bytes(&metadata);
        out
    });
    let id = instance.with(|node, watcher, now| {
        let sent =
            node.with_link(now, number, |link, env, out| link.send_resource(env, data, metadata, true, out));
        let id = sent.ok_or_else(|| Failure::new("ValueError: the link is closed"))??;
        if let Some(log) = watcher.links.get_mut(&number) {
            log.outgoing.insert(id, None);
        }
        Ok::<ResourceId, Failure>(id)
    })?;
    let name = format!("{id:?}");
    if !params.flag("wait", true) {
        return Ok(json!({"started": true, "resource_id": name, "size": size}));
    }
    let outcome = instance.until(patience(params, 30_000)?, |_, watcher, _| outcome_of(watcher, number, id));
    let status = match outcome {
        Some(Ok(())) => COMPLETE,
        Some(Err(FailReason::Corrupt)) => CORRUPT,
        Some(Err(_)) | None => FAILED,
    };
    Ok(json!({
        "success": status == COMPLETE, "status": status, "size": size, "timed_out": outcome.is_none(),
        "resource_id": name,
    }))
}

fn cancel(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = params.text("resource_id")?;
    let cancelled = instance.with(|node, watcher, now| {
        let found = watcher.links.iter().find_map(|(link, log)| {
            log.outgoing.keys().find(|id| format!("{id:?}") == wanted).map(|id| (*link, *id))
        });
        let (link, id) = found?;
        node.with_link(now, link, |link, env, out| link.cancel_resource(env, id, out).is_ok())
    });
    Ok(json!({"cancelled": cancelled == Some(true), "resource_id": wanted, "status": FAILED}))
}

fn outcome_of(
    watcher: &super::watcher::Watcher,
    link: LinkHash,
    id: ResourceId,
) -> Option<Result<(), FailReason>> {
    let log = watcher.links.get(&link)?;
    let outcome = log.outgoing.get(&id).copied().flatten();
    outcome.or_else(|| log.closed.map(|_| Err(FailReason::Cancelled)))
}

fn poll(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let resources = instance.until(patience(params, 30_000)?, |_, watcher, _| {
        let links: Vec<LinkHash> = watcher.links_to(own).map(|(link, _)| link).collect();
        let mut taken = Vec::new();
        for link in links {
            let incoming = watcher.links.get_mut(&link).map(|log| log.incoming.iter_mut());
            for resource in incoming.into_iter().flatten().filter(|resource| !resource.fetched) {
                if let IncomingState::Complete { data, .. } = &resource.state {
                    taken.push(hex::encode(data));
                    resource.fetched = true;
                }
            }
        }
        (!taken.is_empty()).then_some(taken)
    });
    Ok(json!({"resources": resources.unwrap_or_default()}))
}

fn receiver_status(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let last = |watcher: &super::watcher::Watcher, settled: bool| {
        let all = || watcher.links_to(own).flat_map(|(_, log)| &log.incoming);
        let last = all().last()?;
        let (status, name, data, metadata) = match &last.state {
            IncomingState::Arriving if settled => return None,
            IncomingState::Arriving => (TRANSFERRING, "TRANSFERRING", None, None),
            IncomingState::Complete { data, metadata } => {
                (COMPLETE, "COMPLETE", Some(hex::encode(data)), metadata.as_ref().map(hex::encode))
            }
            IncomingState::Failed(FailReason::Corrupt) => (CORRUPT, "CORRUPT", None, None),
            IncomingState::Failed(_) => (FAILED, "FAILED", None, None),
        };
        Some(json!({
            "found": true, "resource_count": all().count(), "status": status, "status_name": name,
            "corrupt": status == CORRUPT, "has_metadata": metadata.is_some(), "metadata": metadata, "data": data,
        }))
    };
    let settled = instance.until(patience(params, 0)?, |_, watcher, _| last(watcher, true));
    let found = settled.or_else(|| instance.read(|_, watcher| last(watcher, false)));
    Ok(found.unwrap_or_else(|| json!({"found": false, "resource_count": 0})))
}

/// The reference's numbers for the states of a resource.
const TRANSFERRING: u8 = 3;
const COMPLETE: u8 = 6;
const FAILED: u8 = 7;
const CORRUPT: u8 = 8;
