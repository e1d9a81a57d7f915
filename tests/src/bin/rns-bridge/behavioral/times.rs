//! Times that the suite writes into the reference's tables: here the clock moves instead.

use super::instance::{Instance, destination};
use crate::call::{Answer, Params};
use serde_json::json;
use std::time::Duration;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "set_path_timestamp" => age_path(instance, params),
        "set_path_expires" => expire_path(instance, params),
        "set_announce_timestamp" => set_announce_due(instance, params),
        "force_cull" => cull(instance),
        _ => return None,
    })
}

/// Moves the time ahead until the path is as old as if it had been refreshed at that time.
fn age_path(instance: &mut Instance, params: Params<'_>) -> Answer {
    let Some(path) = instance.mock.node.router().path(destination(params, "dest")?) else {
        return Ok(json!({"set": false}));
    };
    let earlier = instance.mock.epoch(path.refreshed) - params.seconds("timestamp").unwrap_or(0.0);
    instance.mock.advance(Duration::try_from_secs_f64(earlier).unwrap_or(Duration::ZERO));
    Ok(json!({"set": true}))
}

/// Moves the time ahead until just after the path's end, where it should have ended already.
fn expire_path(instance: &mut Instance, params: Params<'_>) -> Answer {
    let Some(path) = instance.mock.node.router().path(destination(params, "dest")?) else {
        return Ok(json!({"set": false}));
    };
    if params.seconds("expires").is_some_and(|at| at <= instance.mock.epoch(instance.mock.now())) {
        let left = path.expires.saturating_since(instance.mock.now());
        instance.mock.advance(left + Duration::from_millis(1));
    }
    Ok(json!({"set": true}))
}

/// Moves the time to when the announce is to be sent, or stops it so that it is not sent for long.
fn set_announce_due(instance: &mut Instance, params: Params<'_>) -> Answer {
    let Some(waiting) = instance.mock.node.router().waiting_announce(destination(params, "dest")?) else {
        return Ok(json!({"set": false}));
    };
    if let Some(due) = params.seconds("retransmit_timeout") {
        instance.mock.freeze();
        if due <= instance.mock.epoch(instance.mock.now()) {
            let left = waiting.due.saturating_since(instance.mock.now());
            instance.mock.advance(left + Duration::from_millis(1));
        }
    }
    Ok(json!({"set": true}))
}

/// Lets the time pass that announces wait for each other on an interface.
fn cull(instance: &mut Instance) -> Answer {
    instance.mock.advance(Duration::from_millis(100));
    Ok(json!({"culled": true}))
}
