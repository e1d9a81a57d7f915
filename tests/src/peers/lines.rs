//! The line protocol between a test and a peer's process: one JSON object a line.

use bytes::Bytes;
use proto_raknet::Message;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// What a peer is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It listens.
    Server,
    /// It connects.
    Client,
}

/// What a peer tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It listens on this port.
    Listening(u16),
    /// Its session is open.
    Connected,
    /// It took a message for sending, and gave it this number where it gives receipts.
    Sent(Option<u32>),
    /// A message arrived.
    Message(Bytes),
    /// The fate of the message with this number.
    Receipt {
        /// The number.
        receipt: u32,
        /// Whether it arrived.
        acked: bool,
    },
    /// The answer to its ping.
    Pong(Bytes),
    /// Its session is over.
    Disconnected(End),
    /// Something else, which no test expects.
    Other(String),
}

/// How a peer's session ended, as the peer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// We told it.
    Told,
    /// It lost us.
    Lost,
    /// It ended, and the implementation does not say how.
    Unknown,
}

impl Told {
    pub(super) fn parse(line: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return Self::Other(line.to_owned()) };
        Self::from_value(&value).unwrap_or_else(|| Self::Other(line.to_owned()))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let number = |field: &str| value.get(field)?.as_u64();
        let small = |field: &str| u32::try_from(number(field)?).ok();
        let payload = || hex::decode(value.get("payload")?.as_str()?).ok().map(Bytes::from);
        Some(match value.get("event")?.as_str()? {
            "listening" => Self::Listening(u16::try_from(number("port")?).ok()?),
            "connected" => Self::Connected,
            "sent" => Self::Sent(small("receipt")),
            "message" => Self::Message(payload()?),
            "receipt" => Self::Receipt { receipt: small("receipt")?, acked: value.get("acked")?.as_bool()? },
            "pong" => Self::Pong(payload()?),
            "disconnected" => Self::Disconnected(match value.get("how")?.as_str()? {
                "told" => End::Told,
                "lost" => End::Lost,
                _ => End::Unknown,
            }),
            _ => return None,
        })
    }
}

/// The argument that makes a peer a server. `port` is for those that cannot tell which one they got.
pub(super) fn serve(port: u16, protocol: u8) -> String {
    json!({"role": "server", "port": port, "protocol": protocol}).to_string()
}

/// The argument that makes a peer a client; with `ping` it only pings.
pub(super) fn visit(server: SocketAddr, protocol: u8, ping: bool) -> String {
    json!({
        "role": "client", "host": server.ip().to_string(), "port": server.port(), "protocol": protocol, "ping": ping,
    })
    .to_string()
}

/// The command that sends a message.
pub(super) fn send(message: &Message) -> String {
    json!({
        "do": "send",
        "payload": hex::encode(&message.payload),
        "reliability": message.reliability as u8,
        "channel": message.channel.get(),
        "priority": message.priority as u8,
    })
    .to_string()
}

/// The command that closes the session.
pub(super) fn close() -> String {
    json!({"do": "close"}).to_string()
}
