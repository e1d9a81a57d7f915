//! A Bedrock client and server (npm `bedrock-protocol`), which log in and chat in offline mode.

use serde_json::Value;
use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
};

use super::{implementation::Implementation, lines, peer::free_port, process::Process};

/// A running Bedrock client or server.
///
/// The client joins, waits for the server's resource packs, says `hello` and then 30,000 times `x`; the server repeats
/// what is said in capitals.
#[derive(Debug)]
pub struct Bedrock {
    process: Process,
    /// What it told that nobody has asked for yet.
    backlog: VecDeque<Value>,
}

impl Bedrock {
    /// Starts a server, and returns it with its address.
    ///
    /// # Panics
    /// It does not start.
    pub fn serve() -> (Self, SocketAddr) {
        let port = free_port();
        let mut server = Self::start(&lines::serve(port, PROTOCOL));
        server.event("listening");
        (server, (Ipv4Addr::LOCALHOST, port).into())
    }

    /// Starts a client that joins the game at `server`.
    ///
    /// # Panics
    /// It does not start.
    pub fn join(server: SocketAddr) -> Self {
        Self::start(&lines::visit(server, PROTOCOL, false))
    }

    /// Waits until it tells of `event`.
    ///
    /// # Panics
    /// It does not.
    pub fn event(&mut self, event: &str) -> Value {
        let is_it = |told: &Value| told.get("event").and_then(Value::as_str) == Some(event);
        if let Some(at) = self.backlog.iter().position(is_it) {
            return self.backlog.remove(at).unwrap_or_default();
        }
        loop {
            // The package prints lines of its own too.
            let told = serde_json::from_str(&self.process.line(event)).unwrap_or_default();
            if is_it(&told) {
                return told;
            }
            self.backlog.push_back(told);
        }
    }

    /// Waits until a player has logged in, and returns the name.
    ///
    /// # Panics
    /// None does.
    pub fn joined(&mut self) -> String {
        text(&self.event("joined"), "name")
    }

    /// Waits until somebody says something to it, and returns that.
    ///
    /// # Panics
    /// Nobody does.
    pub fn heard(&mut self) -> String {
        text(&self.event("text"), "message")
    }

    /// Has it leave.
    pub fn leave(&mut self) {
        self.process.tell(&lines::close());
    }

    fn start(wish: &str) -> Self {
        let implementation = Implementation::BedrockProtocol;
        let process = Process::start(implementation.name(), implementation.command().arg(wish));
        Self { process, backlog: VecDeque::new() }
    }
}

fn text(told: &Value, field: &str) -> String {
    told.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// RakNet's protocol version in today's Bedrock.
const PROTOCOL: u8 = 11;
