//! Buffers: streams on a channel.

use super::instance::{Instance, destination, link, patience};
use crate::call::{Answer, Failure, Params};
use proto_rns::{link::ChannelError, wire::StreamId};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "buffer_stream" if !params.flag("bomb", false) => write(instance, params),
        "buffer_received" => received(instance, params),
        _ => return None,
    })
}

fn stream(params: Params<'_>) -> Result<StreamId, Failure> {
    let number = params.some_number("stream_id")?.unwrap_or(0);
    StreamId::new(number).ok_or_else(|| Failure::new("ValueError: stream_id must be 0-16383"))
}

fn write(instance: &Instance, params: Params<'_>) -> Answer {
    let (number, stream) = (link(params)?, stream(params)?);
    let data = params.some_bytes("data")?.unwrap_or_default();
    let mut written = 0;
    let ended = instance.until(patience(params, 30_000)?, |node, _, now| {
        let done = node.with_link(now, number, |link, env, out| {
            let rest = data.get(written..).unwrap_or_default();
            if !rest.is_empty() {
                written += link.stream_write(env, stream, rest, out)?;
            }
            if written < data.len() {
                return Err(ChannelError::Full);
            }
            link.stream_close(env, stream, out)
        });
        match done {
            Some(Err(ChannelError::Full)) => None,
            done => Some(done),
        }
    });
    Ok(json!({"written": written, "eof": matches!(ended, Some(Some(Ok(()))))}))
}

fn received(instance: &Instance, params: Params<'_>) -> Answer {
    let (own, stream) = (destination(params)?, stream(params)?);
    let mut data = String::new();
    let ended = instance.until(patience(params, 30_000)?, |_, watcher, _| {
        let links: Vec<_> = watcher.links_to(own).map(|(link, _)| link).collect();
        let mut ended = false;
        for link in links {
            let log = watcher.links.get_mut(&link).and_then(|log| log.streams.get_mut(&stream));
            if let Some(log) = log {
                data.push_str(&hex::encode(core::mem::take(&mut log.data)));
                ended |= log.ended;
            }
        }
        ended.then_some(())
    });
    Ok(json!({"data": data, "eof": ended.is_some(), "aborted": false, "error": null}))
}
