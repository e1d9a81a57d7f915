//! The command line of a contender and of the lean peer.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use super::Scheme;
use crate::Fault;

/// What a process was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Which side it is.
    pub role: Role,
    /// How messages travel.
    pub scheme: Scheme,
    /// Bytes of one message.
    pub size: usize,
    /// The contender's own variant, or empty.
    pub mode: String,
    /// The peer of a client in another process; without it the client runs a peer of its own in a thread.
    pub peer: Option<SocketAddr>,
    /// The folder with the peer's [`Identity`](super::Identity), where the scheme is secure.
    pub identity: Option<PathBuf>,
    /// For how long messages are exchanged before anything is measured.
    pub warmup: Duration,
    /// For how long exchanges are measured.
    pub time: Duration,
    /// Into sends of how many bytes a long message is cut, where that can be chosen.
    pub piece: Option<usize>,
}

/// The sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sends and measures.
    Client,
    /// Echoes until its input ends, then tells what that cost.
    Server,
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

    /// The command line that [`from_args`](Self::from_args) reads as this.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args = vec![OsString::from(match self.role {
            Role::Client => "client",
            Role::Server => "server",
        })];
        let mut option = |name: &str, value: OsString| args.extend([OsString::from(name), value]);
        option("--scheme", self.scheme.name().into());
        option("--size", self.size.to_string().into());
        option("--warmup-ms", self.warmup.as_millis().to_string().into());
        option("--time-ms", self.time.as_millis().to_string().into());
        if !self.mode.is_empty() {
            option("--mode", self.mode.clone().into());
        }
        if let Some(peer) = self.peer {
            option("--peer", peer.to_string().into());
        }
        if let Some(identity) = &self.identity {
            option("--identity", identity.clone().into());
        }
        if let Some(piece) = self.piece {
            option("--piece", piece.to_string().into());
        }
        args
    }

    fn parse(mut args: lexopt::Parser) -> Result<Self, Fault> {
        let role = match args.next()? {
            Some(Value(word)) if word == "client" => Role::Client,
            Some(Value(word)) if word == "server" => Role::Server,
            _ => return Err(USAGE.into()),
        };
        let mut scheme = None;
        let mut command = Self {
            role,
            scheme: Scheme::Http,
            size: 0,
            mode: String::new(),
            peer: None,
            identity: None,
            warmup: Duration::from_millis(100),
            time: Duration::from_secs(1),
            piece: None,
        };
        while let Some(arg) = args.next()? {
            match arg {
                Long("scheme") => scheme = Some(args.value()?.string()?.parse()?),
                Long("size") => command.size = args.value()?.parse()?,
                Long("mode") => command.mode = args.value()?.string()?,
                Long("peer") => command.peer = Some(args.value()?.parse()?),
                Long("identity") => command.identity = Some(args.value()?.into()),
                Long("warmup-ms") => command.warmup = Duration::from_millis(args.value()?.parse()?),
                Long("time-ms") => command.time = Duration::from_millis(args.value()?.parse()?),
                Long("piece") => command.piece = Some(args.value()?.parse()?),
                other @ (Short(_) | Long(_) | Value(_)) => {
                    return Err(format!("{}\n{USAGE}", other.unexpected()).into());
                }
            }
        }
        command.scheme = scheme.ok_or("no --scheme")?;
        command.validate()?;
        Ok(command)
    }

    fn validate(&self) -> Result<(), Fault> {
        let largest = if self.scheme.is_datagram() { LARGEST_DATAGRAM } else { LARGEST_MESSAGE };
        if !(1..=largest).contains(&self.size) {
            return Err(format!("--size must be 1 to {largest}, not {}", self.size).into());
        }
        if self.scheme.is_secure() && self.identity.is_none() {
            return Err(format!("{} needs --identity", self.scheme).into());
        }
        if self.piece == Some(0) {
            return Err("--piece must be at least 1".into());
        }
        Ok(())
    }
}

/// The longest datagram that IPv4 carries.
pub(super) const LARGEST_DATAGRAM: usize = 65_507;
pub(super) const LARGEST_MESSAGE: usize = 16 << 20;

const USAGE: &str = "usage: (client | server) --scheme SCHEME --size BYTES [--mode MODE] [--peer ADDR] [--identity FOLDER] \
[--warmup-ms MS] [--time-ms MS] [--piece BYTES]";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, Fault> {
        Command::parse(lexopt::Parser::from_args(args))
    }

    #[test]
    fn a_command_survives_its_own_line() {
        let command = Command {
            role: Role::Client,
            scheme: Scheme::Wss,
            size: 131_072,
            mode: "tuned".to_owned(),
            peer: Some("127.0.0.1:9".parse().unwrap()),
            identity: Some("/tmp/a folder".into()),
            warmup: Duration::from_millis(7),
            time: Duration::from_millis(9),
            piece: Some(60_000),
        };
        assert_eq!(parse(command.to_args()).unwrap(), command);
    }

    #[test]
    fn a_datagram_that_can_not_be_and_tls_without_identity_are_refused() {
        let refusal = |line: &str| parse(line.split_whitespace()).unwrap_err().to_string();
        assert!(refusal("client --scheme udp --size 131072").contains("65507"));
        assert!(refusal("server --scheme https --size 64").contains("--identity"));
        assert!(refusal("client --scheme gopher --size 64").contains("gopher"));
        assert!(refusal("client --size 64").contains("--scheme"));
    }
}
