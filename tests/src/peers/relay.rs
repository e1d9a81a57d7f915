//! Iolite's own proxy as a process: `iolite raknet proxy`.

use serde_json::Value;
use std::{net::SocketAddr, process::Command};

use super::{install, process::Process};

/// A running proxy.
#[derive(Debug)]
pub struct Relay {
    process: Process,
    address: SocketAddr,
}

impl Relay {
    /// Starts a proxy in front of `target`, on a port of the operating system's choice.
    ///
    /// # Panics
    /// It cannot be built or does not start.
    pub fn to(target: SocketAddr) -> Self {
        let binary = install::workspace_binary("cli", "iolite")
            .unwrap_or_else(|missing| panic!("there is no proxy: {missing}"));
        let mut command = Command::new(binary);
        command.args(["raknet", "proxy", "--listen", "127.0.0.1:0", "--json", "--to", &target.to_string()]);
        let mut process = Process::start("iolite raknet proxy", &mut command);
        let address = loop {
            let told = told(&mut process, "its address");
            if told.get("event").and_then(Value::as_str) == Some("listening") {
                let address = told.get("address").and_then(Value::as_str).unwrap_or_default();
                break address.parse().expect("an address");
            }
        };
        Self { process, address }
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until a relayed session ends, and says by whom and why.
    ///
    /// # Panics
    /// None does.
    pub fn ended(&mut self) -> (String, String) {
        loop {
            let told = told(&mut self.process, "the end of a session");
            if told.get("event").and_then(Value::as_str) == Some("ended") {
                let field = |name| told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                return (field("by"), field("reason"));
            }
        }
    }
}

fn told(process: &mut Process, waiting_for: &str) -> Value {
    serde_json::from_str(&process.line(waiting_for)).unwrap_or_default()
}
