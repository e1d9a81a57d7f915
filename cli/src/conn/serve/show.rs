//! What the echo peers see, for `-v`.

use proto_conn::{Message, server::Event};

use crate::{
    conn::fault,
    output::{
        self,
        quantity::bytes,
        style::{self, paint},
    },
};

/// Shows an event as a line.
pub(super) fn event(event: &Event) {
    let line = match event {
        Event::Connected { peer, from } => {
            let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
            format!("{} peer {}{from}", paint(style::GOOD, "+"), number(*peer))
        }
        Event::Request { peer, message } => {
            format!("  peer {} {} {}, {}", number(*peer), message.method, message.target, length(message))
        }
        Event::Opened { peer, subprotocol } => {
            let spoken = subprotocol.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
            format!("  peer {} speaks WebSocket{spoken}", number(*peer))
        }
        Event::Message { peer, message } => {
            let kind = format!("{:?}", message.kind).to_lowercase();
            format!("  peer {} {kind}, {}", number(*peer), length(message))
        }
        Event::Datagram { message, .. } => {
            let from = message.peer_addr.map(|from| format!(" from {from}")).unwrap_or_default();
            let to = message.local_addr.filter(|to| to.ip().is_multicast());
            let to = to.map(|to| format!(" to {to}")).unwrap_or_default();
            format!("  datagram{from}{to}, {}", length(message))
        }
        Event::Closed { peer, code, reason, error } => {
            let code = if *code == 0 { String::new() } else { format!(" code {code} {reason}") };
            let error = error.as_ref().map(|error| format!(" {}", fault::reason(error))).unwrap_or_default();
            format!("{} peer {}{code}{error}", paint(style::FAINT, "-"), number(*peer))
        }
        Event::Down { error, .. } => format!("{} {}", paint(style::BAD, "down:"), fault::reason(error)),
        Event::Listening { .. } | Event::Part { .. } | Event::End { .. } | Event::Writable { .. } => return,
    };
    // Nothing is lost when nobody reads the lines: the server goes on.
    let _ = output::line(line);
}

/// The number of a peer, from 0.
const fn number(peer: proto_conn::server::PeerId) -> u32 {
    peer.0.0.wrapping_sub(proto_core::LinkId::FIRST_ACCEPTED.0)
}

fn length(message: &Message) -> String {
    bytes(message.body.len() as u64)
}
