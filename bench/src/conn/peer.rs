//! The contenders and the schemes that each of them speaks.

use bench_peer::conn::Scheme;

use super::cell::Cell;
use crate::compile::Binary;
use crate::document::Standing;
use crate::row::Named;

/// A client, as one variant of one program, and the peer that it talks to.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    about: &'static str,
    pub(crate) program: Program,
    /// The program's `--mode`, where it has several.
    pub(crate) mode: &'static str,
    pub(crate) echo: Echo,
    /// Into sends of how many bytes long messages are cut, where that is what is measured.
    pub(crate) piece: Option<usize>,
    schemes: &'static [Scheme],
    standing: Standing,
}

/// A program that takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// One that is compiled.
    Built(Binary),
    /// The script in `bench/python/conn`.
    Python,
}

/// Where the client's peer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// In a thread of the client's process; which peer that is, is the client's choice.
    Within,
    /// The lean peer in a process of its own.
    Lean,
}

/// Every contender, in the order of the tables' rows.
pub(crate) static ALL: &[Peer] = &[
    kernel(CEILING, "bare sockets, one byte for a message, asleep while waiting: the ceiling", "oneway-park"),
    kernel(SPINNING, "the same without ever sleeping", "oneway-spin"),
    kernel(
        "kernel-echo-park",
        "bare sockets, a message for a message: the honest floor of a round trip",
        "echo-park",
    ),
    iolite(
        RAW,
        "Iolite in the caller's thread, asleep while waiting, against Iolite",
        Standing::Ours,
        "park",
    ),
    iolite(SPIN, "the same, looking for an answer for 50 µs before it sleeps", Standing::Sibling, "spin"),
    iolite(
        "raw@lean",
        "Iolite against the lean peer in a thread, as the rivals in Rust have it",
        Standing::Sibling,
        "lean",
    ),
    limit("lean", "a client of this benchmark that frames and does nothing else", Program::Built(LEAN), ""),
    rival("boost-beast", "boost::beast as its examples have it, against Beast", BEAST, "natural", STREAMS),
    rival(
        "boost-tuned",
        "boost::beast with buffers of 64 KiB that are kept, against Beast",
        BEAST,
        "tuned",
        STREAMS,
    ),
    rival("boost-beast@lean", "the same against the lean peer", BEAST, "natural", STREAMS).against_lean(),
    rival("boost-tuned@lean", "the same against the lean peer", BEAST, "tuned", STREAMS).against_lean(),
    rival("boost-asio", "boost::asio against the lean peer", BEAST, "natural", DATAGRAMS).against_lean(),
    rival("hyper", "hyper 1 through tokio", rust("rival-conn-hyper"), "", BODIES),
    rival("reqwest", "reqwest 0.13 through tokio", rust("rival-conn-reqwest"), "", BODIES),
    rival("ureq", "ureq 3", rust("rival-conn-ureq"), "", BODIES),
    rival("tungstenite", "tungstenite 0.30 on blocking sockets", rust("rival-conn-tungstenite"), "", FRAMES),
    rival("tokio-websockets", "tokio-websockets 0.13", rust("rival-conn-tokio-websockets"), "", FRAMES),
    rival(
        "fastwebsockets",
        "fastwebsockets 0.10 through tokio",
        rust("rival-conn-fastwebsockets"),
        "",
        FRAMES,
    ),
    rival(REQUESTS, "Python requests 2.34.2 against Python", Program::Python, "requests", BODIES),
    rival(REQUESTS_LEAN, "the same against the lean peer", Program::Python, "requests", BODIES)
        .against_lean(),
    rival(
        WEBSOCKET_CLIENT,
        "Python websocket-client 1.9.0 against Python",
        Program::Python,
        "websocket-client",
        FRAMES,
    ),
    rival(
        WEBSOCKET_CLIENT_LEAN,
        "the same against the lean peer",
        Program::Python,
        "websocket-client",
        FRAMES,
    )
    .against_lean(),
    rival("py-socket", "Python's standard library against Python", Program::Python, "socket", &Scheme::ALL),
    rival("py-socket@lean", "the same against the lean peer", Program::Python, "socket", &Scheme::ALL)
        .against_lean(),
];

/// The lean client with sends of different sizes.
pub(crate) static SWEEP: &[Peer] = &[
    cut("lean/16384", 16_384),
    cut("lean/32768", 32_768),
    cut("lean/49152", 49_152),
    cut("lean/60000", 60_000),
    cut("lean/65000", 65_000),
    cut("lean/65536", 65_536),
    cut("lean/81920", 81_920),
    cut("lean/131072", 131_072),
    cut("lean/262144", 262_144),
    cut("lean/524288", 524_288),
    cut("lean/1048576", 1_048_576),
];

impl Program {
    /// What has to be built for it.
    pub(crate) fn binary(self) -> Option<Binary> {
        match self {
            Self::Built(binary) => Some(binary),
            Self::Python => None,
        }
    }
}

impl Peer {
    /// Finds a contender for the command line.
    pub(crate) fn by_name(name: &str) -> Result<&'static Self, String> {
        ALL.iter().find(|peer| peer.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|peer| peer.name).collect();
            format!("the peers are {}", names.join(", "))
        })
    }

    /// Whether the contender can be measured in `cell` at all.
    pub(crate) fn takes_part_in(&self, cell: &Cell) -> bool {
        self.schemes.contains(&cell.scheme)
    }

    /// What it is to the reader of the tables.
    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }

    /// Whether its two ends can not share a processor.
    pub(crate) fn spins(&self) -> bool {
        self.name == SPINNING || self.name == SPIN
    }

    const fn against_lean(self) -> Self {
        Self { echo: Echo::Lean, ..self }
    }
}

impl Named for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn is_ours(&self) -> bool {
        self.standing == Standing::Ours
    }
}

const fn kernel(name: &'static str, about: &'static str, mode: &'static str) -> Peer {
    limit(name, about, rust("rival-conn-kernel"), mode)
}

const fn limit(name: &'static str, about: &'static str, program: Program, mode: &'static str) -> Peer {
    Peer { standing: Standing::Limit, ..rival(name, about, program, mode, &Scheme::ALL) }
}

/// What [`gates`](super::gates) calls [`EXPORT_C`], [`EXPORT_CPP`] and [`EXPORT_PYTHON`] belongs here, too, once there is
/// a program for it.
const fn iolite(name: &'static str, about: &'static str, standing: Standing, mode: &'static str) -> Peer {
    let program = Program::Built(Binary::Iolite("iolite-conn"));
    Peer { standing, ..rival(name, about, program, mode, &Scheme::ALL) }
}

const fn cut(name: &'static str, piece: usize) -> Peer {
    Peer {
        piece: Some(piece),
        ..limit(name, "the lean client with sends of so many bytes", Program::Built(LEAN), "")
    }
}

const fn rival(
    name: &'static str,
    about: &'static str,
    program: Program,
    mode: &'static str,
    schemes: &'static [Scheme],
) -> Peer {
    Peer { name, about, program, mode, echo: Echo::Within, piece: None, schemes, standing: Standing::Rival }
}

const fn rust(package: &'static str) -> Program {
    Program::Built(Binary::Rival(package))
}

/// The contender that shares refer to.
pub(crate) const CEILING: &str = "kernel-oneway-park";
/// Iolite's machine under its blocking driver, which the gates are about.
pub(crate) const RAW: &str = "raw";
pub(crate) const EXPORT_C: &str = "export-C";
pub(crate) const EXPORT_CPP: &str = "export-C++";
pub(crate) const EXPORT_PYTHON: &str = "export-Python";
const REQUESTS: &str = "py-requests";
pub(crate) const REQUESTS_LEAN: &str = "py-requests@lean";
const WEBSOCKET_CLIENT: &str = "py-websocket-client";
pub(crate) const WEBSOCKET_CLIENT_LEAN: &str = "py-websocket-client@lean";
const SPIN: &str = "spin";
const SPINNING: &str = "kernel-oneway-spin";

/// The lean client, which is also the lean peer.
pub(crate) const LEAN: Binary = Binary::Rival("rival-conn-lean");
const BEAST: Program = Program::Built(Binary::Cpp("conn-beast"));

const BODIES: &[Scheme] = &[Scheme::Http, Scheme::Https];
const FRAMES: &[Scheme] = &[Scheme::Ws, Scheme::Wss];
const STREAMS: &[Scheme] = &[Scheme::Http, Scheme::Https, Scheme::Ws, Scheme::Wss];
const DATAGRAMS: &[Scheme] = &[Scheme::Udp, Scheme::UdpMulticast];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::conn::cell::cells;

    #[test]
    fn every_cell_has_its_ceiling_and_a_rival() {
        for cell in cells() {
            let present: Vec<_> = ALL.iter().filter(|peer| peer.takes_part_in(&cell)).collect();
            assert!(present.iter().any(|peer| peer.name == CEILING), "{}", cell.name);
            assert!(present.iter().any(|peer| peer.standing == Standing::Rival), "{}", cell.name);
        }
    }

    #[test]
    fn names_are_unique_and_an_unknown_one_is_answered_with_them() {
        let names: HashSet<_> = ALL.iter().chain(SWEEP).map(|peer| peer.name).collect();
        assert_eq!(names.len(), ALL.len() + SWEEP.len());
        assert!(Peer::by_name("curl").unwrap_err().contains("hyper, reqwest, ureq"));
    }
}
