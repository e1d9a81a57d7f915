//! Channels.

use super::instance::{Instance, link, patience};
use crate::call::{Answer, Params};
use proto_rns::{link::ChannelError, wire::MessageType};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "channel_send" => send(instance, params),
        "channel_received" => received(instance, params),
        _ => return None,
    })
}

fn send(instance: &Instance, params: Params<'_>) -> Answer {
    let number = link(params)?;
    let data = params.some_bytes("data")?.unwrap_or_default();
    let message_type = MessageType(params.some_number("msgtype")?.unwrap_or(TYPE));
    let sent = instance.until(patience(params, 20_000)?, |node, _, now| {
        match node.with_link(now, number, |link, env, out| link.channel_send(env, message_type, &data, out)) {
            Some(Err(ChannelError::Full)) => None,
            sent => Some(sent),
        }
    });
    let error = match sent {
        Some(Some(Ok(()))) => None,
        Some(Some(Err(error))) => Some(error.to_string()),
        Some(None) => Some("the link is closed".into()),
        None => Some("the window is full".into()),
    };
    let sent = error.is_none();
    Ok(json!({"sent": sent, "rejected": !sent, "delivered": sent, "error": error}))
}

fn received(instance: &Instance, params: Params<'_>) -> Answer {
    let number = link(params)?;
    let messages = instance.with(|_, watcher, _| {
        watcher.links.get_mut(&number).map(|log| core::mem::take(&mut log.messages)).unwrap_or_default()
    });
    Ok(json!({"messages": messages.into_iter().map(hex::encode).collect::<Vec<_>>()}))
}

/// The type of the suite's messages.
const TYPE: u16 = 0x0101;
