//! The line protocol between a test and a peer: one JSON object a line, events on stdout, commands on stdin.

use bytes::Bytes;
use serde_json::{Value, json};
use std::io::Write as _;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

/// What the test wants the peer to be.
#[derive(Debug)]
pub enum Role {
    /// Listen on a port of the operating system's choice, or on the one given where the crate cannot tell its own.
    Server {
        /// The port.
        port: u16,
    },
    /// Connect to this address.
    Client {
        /// The server.
        server: std::net::SocketAddr,
    },
}

impl Role {
    /// Reads the role from the first argument.
    pub fn from_arguments() -> Self {
        let wanted = std::env::args().nth(1).expect("an argument says what to be");
        let wanted: Value = serde_json::from_str(&wanted).expect("the argument is JSON");
        let port = u16::try_from(wanted["port"].as_u64().unwrap_or(0)).expect("a port");
        if wanted["role"] == "server" {
            return Self::Server { port };
        }
        let host = wanted["host"].as_str().expect("a client's argument names the host");
        Self::Client { server: (host.parse::<std::net::IpAddr>().expect("an address"), port).into() }
    }
}

/// What the test wants done.
#[derive(Debug)]
pub enum Command {
    /// Send a message.
    Send {
        /// Its bytes.
        payload: Bytes,
        /// Its reliability's wire value.
        reliability: u8,
        /// Its ordering channel.
        channel: u8,
    },
    /// Close the session.
    Close,
}

/// The commands, as they come.
#[derive(Debug)]
pub struct Commands(Lines<BufReader<Stdin>>);

impl Commands {
    /// Begins to read commands.
    #[allow(clippy::new_without_default, reason = "there is one standard input")]
    pub fn new() -> Self {
        Self(BufReader::new(tokio::io::stdin()).lines())
    }

    /// Waits for the next command; the end of the input ends the process. Cancel-safe.
    pub async fn next(&mut self) -> Command {
        let Some(line) = self.0.next_line().await.expect("commands are readable") else {
            std::process::exit(0)
        };
        let command: Value = serde_json::from_str(&line).expect("a command is JSON");
        if command["do"] == "close" {
            return Command::Close;
        }
        let number =
            |field: &str| u8::try_from(command[field].as_u64().unwrap_or(0)).expect("a small number");
        Command::Send {
            payload: hex::decode(command["payload"].as_str().unwrap_or_default()).expect("hex").into(),
            reliability: number("reliability"),
            channel: number("channel"),
        }
    }
}

/// Tells the test that the peer listens.
pub fn tell_listening(port: u16) {
    tell(&json!({"event": "listening", "port": port}));
}

/// Tells the test that a session is open.
pub fn tell_connected() {
    tell(&json!({"event": "connected"}));
}

/// Tells the test that a message was taken for sending.
pub fn tell_sent() {
    tell(&json!({"event": "sent"}));
}

/// Tells the test that a message arrived.
pub fn tell_message(payload: &[u8]) {
    tell(&json!({"event": "message", "payload": hex::encode(payload)}));
}

/// Tells the test that the session is over. The crates do not say how it ended.
pub fn tell_disconnected() {
    tell(&json!({"event": "disconnected", "how": "unknown"}));
}

/// Tells the test that something failed.
pub fn tell_failed(why: &str) {
    tell(&json!({"event": "failed", "why": why}));
}

fn tell(event: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{event}").and_then(|()| out.flush()).expect("the test reads events");
}
