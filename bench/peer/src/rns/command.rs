//! The command line of a Reticulum peer.

use std::{fmt, net::SocketAddr, ops::RangeInclusive, str::FromStr, time::Duration};

use lexopt::prelude::*;

use crate::Fault;

/// What a peer was asked to do.
#[derive(Debug, Clone)]
pub struct Command {
    /// Which process of the trial this is.
    pub role: Role,
    /// The address to listen on or to connect to.
    pub address: SocketAddr,
    /// What is carried.
    pub work: Work,
    /// The responder's destination, as 32 hexadecimal digits; empty where there is none.
    pub destination: String,
    /// The other process that is measured, or 0.
    pub partner: u32,
    /// How long operations are begun before the measurement.
    pub warmup: Duration,
    /// How long operations are begun in the measurement; those under way are finished.
    pub time: Duration,
}

/// Which process of a trial a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Listens, receives, proves and answers.
    Responder,
    /// Connects and begins every operation.
    Initiator,
    /// Listens and passes on what others send.
    Relay,
    /// Connects to a relay twice and is all of the network around it.
    Driver,
}

/// What is carried. Every peer gets it in these words, so that no peer has a scenario of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// What one operation is.
    pub kind: Kind,
    /// Operations under way at a time on each link, or frames in each direction through a relay.
    pub window: usize,
    /// Links at a time.
    pub links: usize,
    /// The sizes of contents, in bytes.
    pub sizes: RangeInclusive<usize>,
    /// How long frames may be.
    pub mtu: Mtu,
}

/// What one operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A packet to a destination and its proof.
    Packet,
    /// A packet on a link and its proof.
    Message,
    /// A request on a link and its response.
    Request,
    /// A resource on a link and its proof.
    Resource,
    /// A frame for a destination behind a relay.
    RelayedPacket,
    /// A part of a resource on a link through a relay.
    RelayedPart,
}

/// How long frames may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mtu {
    /// What the implementation does for its fastest interface over TCP.
    Default,
    /// So many bytes at most, over the ordinary TCP interface.
    Fixed(usize),
}

impl Command {
    /// The request path that every responder answers.
    pub const PATH: &'static str = "/bench";
    /// The application's name of every responder's destination.
    pub const APPLICATION: &'static str = "iolite";
    /// Its aspects.
    pub const ASPECTS: [&'static str; 1] = ["bench"];

    /// Reads the command line of this process.
    ///
    /// # Errors
    ///
    /// Names the argument that is unknown, missing or out of range.
    pub fn from_args() -> Result<Self, Fault> {
        Self::parse(lexopt::Parser::from_env())
    }

    /// The arguments that [`from_args`](Self::from_args) reads.
    pub fn to_args(&self) -> Vec<String> {
        let Work { kind, window, links, sizes, mtu } = &self.work;
        let listens = matches!(self.role, Role::Responder | Role::Relay);
        let mut args = vec![self.role.to_string()];
        let mut option =
            |name: &str, value: &dyn fmt::Display| args.extend([name.to_owned(), value.to_string()]);
        option(if listens { "--listen" } else { "--connect" }, &self.address);
        option("--kind", kind);
        option("--window", window);
        option("--links", links);
        option("--least", sizes.start());
        option("--most", sizes.end());
        option("--mtu", mtu);
        if !self.destination.is_empty() {
            option("--destination", &self.destination);
        }
        option("--partner", &self.partner);
        option("--warmup-ms", &self.warmup.as_millis());
        option("--time-ms", &self.time.as_millis());
        args
    }

    fn parse(mut args: lexopt::Parser) -> Result<Self, Fault> {
        let Some(Value(role)) = args.next()? else { return Err(USAGE.into()) };
        let role = role.parse()?;
        let (mut address, mut kind) = (None, None);
        let mut work = Work { kind: Kind::Packet, window: 1, links: 1, sizes: 64..=64, mtu: Mtu::Default };
        let (mut least, mut most) = (64, 64);
        let mut destination = String::new();
        let mut partner = 0;
        let (mut warmup, mut time) = (Duration::from_millis(200), Duration::from_secs(2));
        while let Some(arg) = args.next()? {
            match arg {
                Long("listen" | "connect") => address = Some(args.value()?.parse()?),
                Long("kind") => kind = Some(args.value()?.parse()?),
                Long("window") => work.window = args.value()?.parse()?,
                Long("links") => work.links = args.value()?.parse()?,
                Long("least") => least = args.value()?.parse()?,
                Long("most") => most = args.value()?.parse()?,
                Long("mtu") => work.mtu = args.value()?.parse()?,
                Long("destination") => destination = args.value()?.string()?,
                Long("partner") => partner = args.value()?.parse()?,
                Long("warmup-ms") => warmup = Duration::from_millis(args.value()?.parse()?),
                Long("time-ms") => time = Duration::from_millis(args.value()?.parse()?),
                other @ (Short(_) | Long(_) | Value(_)) => {
                    return Err(format!("{}\n{USAGE}", other.unexpected()).into());
                }
            }
        }
        work.kind = kind.ok_or(USAGE)?;
        work.sizes = least..=most;
        work.validate()?;
        Ok(Self { role, address: address.ok_or(USAGE)?, work, destination, partner, warmup, time })
    }
}

impl Work {
    fn validate(&self) -> Result<(), Fault> {
        if *self.sizes.start() < size_of::<u64>() || self.sizes.is_empty() {
            return Err(
                "contents have at least the 8 bytes of their number, and --most is not below --least".into(),
            );
        }
        if self.window == 0 || self.links == 0 {
            return Err("--window and --links must be at least 1".into());
        }
        Ok(())
    }
}

/// The words of an enumeration, for both directions.
macro_rules! words {
    ($type:ident: $($word:literal = $variant:ident),+) => {
        impl FromStr for $type {
            type Err = Fault;

            fn from_str(word: &str) -> Result<Self, Fault> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("unknown word `{word}`; there are {}", [$($word),+].join(", ")).into()),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)+ })
            }
        }
    };
}

words!(Role: "responder" = Responder, "initiator" = Initiator, "relay" = Relay, "driver" = Driver);
words!(Kind: "packet" = Packet, "message" = Message, "request" = Request, "resource" = Resource,
    "relayed-packet" = RelayedPacket, "relayed-part" = RelayedPart);

impl FromStr for Mtu {
    type Err = Fault;

    fn from_str(word: &str) -> Result<Self, Fault> {
        Ok(if word == "default" { Self::Default } else { Self::Fixed(word.parse()?) })
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Fixed(bytes) => write!(f, "{bytes}"),
        }
    }
}

const USAGE: &str = "usage: responder|relay --listen ADDR | initiator|driver --connect ADDR, then --kind KIND \
[--window N] [--links N] [--least BYTES] [--most BYTES] [--mtu default|BYTES] [--destination HEX] [--partner PID] \
[--warmup-ms MS] [--time-ms MS]";

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command {
            role: Role::Initiator,
            address: SocketAddr::from(([127, 0, 0, 1], 9)),
            work: Work { kind: Kind::Request, window: 1, links: 4, sizes: 1024..=4096, mtu: Mtu::Fixed(500) },
            destination: "00112233445566778899aabbccddeeff".to_owned(),
            partner: 7,
            warmup: Duration::from_millis(100),
            time: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_command_survives_its_own_arguments() {
        let command = command();
        let read = Command::parse(lexopt::Parser::from_args(command.to_args())).unwrap();
        assert_eq!(read.to_args(), command.to_args());
        assert_eq!(read.work, command.work);
    }

    #[test]
    fn an_unknown_kind_is_answered_with_the_known_ones_and_contents_need_room_for_their_number() {
        let parse = |line: &str| Command::parse(lexopt::Parser::from_args(line.split_whitespace()));
        let refusal = parse("initiator --connect 127.0.0.1:9 --kind letter").unwrap_err().to_string();
        assert!(refusal.contains("letter") && refusal.contains("relayed-part"), "{refusal}");
        assert!(parse("initiator --connect 127.0.0.1:9 --kind packet --least 7").is_err());
        assert!(parse("relay --kind packet").is_err());
    }
}
