//! Messages by which the two ends of a session run it, and messages behind a time.

use proto_raknet::wire::{Connected, InternalAddresses, Timestamped, UNASSIGNED};
use serde_json::Value;

use crate::commands::dissect::node::Node;

/// Decodes a whole message if it is one of these; one that is damaged says so.
pub(super) fn decode(payload: &[u8]) -> Option<Node> {
    match Timestamped::split(payload) {
        Some(Timestamped { time, message }) => {
            let inner = || Node::new("Message").brief("bytes", message.len()).data(message);
            Some(Node::new("Timestamp").brief("time", time).part(connected(message).unwrap_or_else(inner)))
        }
        None => connected(payload),
    }
}

fn connected(payload: &[u8]) -> Option<Node> {
    Some(match Connected::classify(payload)? {
        Ok(message) => of(&message),
        Err(reason) => {
            let id = payload.first().copied().unwrap_or_default();
            Node::new(format!("Damaged message {id:#04x}")).brief("reason", reason.to_string()).data(payload)
        }
    })
}

fn of(message: &Connected<'_>) -> Node {
    match message {
        Connected::Ping(ping) => Node::new("ConnectedPing").brief("time", ping.time),
        Connected::Pong(pong) => {
            Node::new("ConnectedPong").brief("ping time", pong.ping_time).field("pong time", pong.pong_time)
        }
        Connected::DetectLost(_) => Node::new("DetectLostConnections"),
        Connected::Request(request) => Node::new("ConnectionRequest")
            .brief("guid", request.guid.to_string())
            .field("time", request.time)
            .field("password bytes", request.password.len()),
        Connected::Accepted(accepted) => Node::new("ConnectionRequestAccepted")
            .brief("client", accepted.client.to_string())
            .field("system index", accepted.system_index)
            .field("internal addresses", addresses(&accepted.internal))
            .field("request time", accepted.request_time)
            .field("accepted time", accepted.accepted_time),
        Connected::NewIncoming(confirmation) => Node::new("NewIncomingConnection")
            .brief("server", confirmation.server.to_string())
            .field("internal addresses", addresses(&confirmation.internal))
            .field("accepted time", confirmation.accepted_time)
            .field("time", confirmation.time),
        Connected::Disconnection(_) => Node::new("DisconnectionNotification"),
        Connected::InvalidPassword(refusal) => {
            Node::new("InvalidPassword").field("guid", refusal.guid.to_string())
        }
    }
}

/// Returns the addresses that are not fillers.
fn addresses(internal: &InternalAddresses) -> Value {
    let real = internal.as_slice().iter().filter(|&&address| address != UNASSIGNED);
    real.map(ToString::to_string).collect()
}
