//! The command line of a peer.

use std::net::SocketAddr;
use std::time::Duration;

use lexopt::prelude::*;

use crate::{Fault, MAX_SIZE, MIN_SIZE};

/// What a peer was asked to do.
#[derive(Debug, Clone)]
pub struct Command {
    /// Which side of the benchmark this process is.
    pub role: Role,
    /// The address to listen on or to connect to.
    pub address: SocketAddr,
    /// The peer's own variant, or empty for a peer that has only one.
    pub mode: String,
    /// The traffic to carry; a server uses it to size its buffers.
    pub load: Load,
}

/// Which side of the benchmark a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Echoes every message until it is killed.
    Server,
    /// Sends, checks the echoes and reports.
    Client,
}

/// The traffic of one run.
#[derive(Debug, Clone)]
pub struct Load {
    /// Bytes of one message.
    pub size: usize,
    /// Connections, each with its own window.
    pub connections: u32,
    /// Messages of one connection that may await their echo.
    pub window: u32,
    /// Messages of one connection in the measured burst.
    pub count: u32,
    /// Messages of one connection exchanged one by one before the burst.
    pub warmup: u32,
    /// The burst ends at this age even when messages are left to send.
    pub time_limit: Duration,
    /// Whether the round trip of every message is recorded.
    pub latency: bool,
}

impl Command {
    /// Reads the command line of this process.
    ///
    /// # Errors
    ///
    /// Names the argument that is unknown, missing or out of range.
    pub fn from_args() -> Result<Self, Fault> {
        Self::parse(lexopt::Parser::from_env())
    }

    /// Picks what `mode` stands for among the peer's variants; the first one is the default.
    ///
    /// # Errors
    ///
    /// Lists the variants when `mode` is none of them.
    pub fn choose<T: Copy>(&self, modes: &[(&str, T)]) -> Result<T, Fault> {
        let chosen = modes.iter().find(|(name, _)| self.mode.is_empty() || *name == self.mode);
        chosen.map(|&(_, mode)| mode).ok_or_else(|| {
            let names: Vec<_> = modes.iter().map(|(name, _)| *name).collect();
            format!("unknown mode `{}`: this peer has {}", self.mode, names.join(", ")).into()
        })
    }

    fn parse(mut args: lexopt::Parser) -> Result<Self, Fault> {
        let role = match args.next()? {
            Some(Value(word)) if word == "server" => Role::Server,
            Some(Value(word)) if word == "client" => Role::Client,
            _ => return Err(USAGE.into()),
        };
        let mut address = None;
        let mut mode = String::new();
        let mut load = Load::default();
        while let Some(arg) = args.next()? {
            match arg {
                Long("listen") if role == Role::Server => address = Some(args.value()?.parse()?),
                Long("connect") if role == Role::Client => address = Some(args.value()?.parse()?),
                Long("mode") => mode = args.value()?.string()?,
                Long("size") => load.size = args.value()?.parse()?,
                Long("conns") => load.connections = args.value()?.parse()?,
                Long("inflight") => load.window = args.value()?.parse()?,
                Long("count") => load.count = args.value()?.parse()?,
                Long("warmup") => load.warmup = args.value()?.parse()?,
                Long("time-limit-ms") => load.time_limit = Duration::from_millis(args.value()?.parse()?),
                Long("load-latency") => load.latency = true,
                Long("sparse") => load.make_sparse(args.value()?.parse()?),
                other @ (Short(_) | Long(_) | Value(_)) => {
                    return Err(format!("{}\n{USAGE}", other.unexpected()).into());
                }
            }
        }
        let address = address.ok_or("no address: a server needs --listen, a client --connect")?;
        load.validate()?;
        Ok(Self { role, address, mode, load })
    }
}

impl Load {
    /// One message at a time, every round trip recorded.
    fn make_sparse(&mut self, samples: u32) {
        self.window = 1;
        self.count = samples;
        self.latency = true;
    }

    fn validate(&self) -> Result<(), Fault> {
        if !(MIN_SIZE..=MAX_SIZE).contains(&self.size) {
            return Err(format!("--size must be {MIN_SIZE} to {MAX_SIZE}, not {}", self.size).into());
        }
        if self.connections == 0 || self.window == 0 || self.count == 0 {
            return Err("--conns, --inflight and --count must be at least 1".into());
        }
        Ok(())
    }
}

impl Default for Load {
    fn default() -> Self {
        Self {
            size: 64,
            connections: 1,
            window: 64,
            count: 100_000,
            warmup: 20,
            time_limit: Duration::from_secs(10),
            latency: false,
        }
    }
}

const USAGE: &str = "usage: server --listen ADDR | client --connect ADDR, then [--mode MODE] [--size BYTES] \
[--conns N] [--inflight N] [--count N] [--warmup N] [--time-limit-ms MS] [--sparse SAMPLES] [--load-latency]";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Fault> {
        Command::parse(lexopt::Parser::from_args(line.split_whitespace()))
    }

    #[test]
    fn a_sparse_client_sends_one_message_at_a_time_and_records_round_trips() {
        let command = parse("client --connect 127.0.0.1:9 --size 800 --inflight 64 --sparse 500").unwrap();
        assert_eq!(command.role, Role::Client);
        assert_eq!((command.load.window, command.load.count, command.load.latency), (1, 500, true));
    }

    #[test]
    fn a_missing_address_a_foreign_option_and_an_impossible_size_are_refused() {
        assert!(parse("server --size 64").unwrap_err().to_string().contains("--listen"));
        assert!(parse("server --connect 127.0.0.1:9").is_err());
        assert!(parse("client --connect 127.0.0.1:9 --size 3").unwrap_err().to_string().contains("--size"));
        assert!(parse("both").unwrap_err().to_string().starts_with("usage"));
    }

    #[test]
    fn an_unknown_mode_is_answered_with_the_known_ones() {
        let command = parse("server --listen 127.0.0.1:9 --mode loud").unwrap();
        let refusal = command.choose(&[("send", 1), ("batch", 2)]).unwrap_err();
        assert_eq!(refusal.to_string(), "unknown mode `loud`: this peer has send, batch");
    }
}
