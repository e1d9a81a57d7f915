//! The chapter of the six schemes in `docs/benchmarks.md`.

use super::gates;
use super::peer::{self, Peer};
use crate::document::{Chapter, Layout, Legend, Section};
use crate::row::{Named as _, Table};

/// What is written about the six schemes.
pub(crate) const CHAPTER: Chapter = Chapter {
    title: "HTTP, WebSocket and UDP clients",
    about: "Iolite's client of http, https, ws, wss, udp and udp_multicast beside boost::beast and the clients of Rust and Python.",
    method: METHOD,
    legend: || peer::ALL.iter().chain(peer::SWEEP).map(legend).collect(),
    sections: SECTIONS,
    closing: |run, rows| gates::told(&run.placement, rows),
};

fn legend(peer: &Peer) -> Legend {
    Legend { name: peer.name(), about: peer.about(), standing: peer.standing() }
}

const METHOD: &str = "\
One connection that stays open, one exchange at a time: a POST and a response with the same body, a binary message, or a \
datagram, and the same back, over loopback. Client and peer are two threads of one process, or two processes where the \
name says `@lean` (and for boost::asio); the clients in Rust, `raw@lean` among them, talk to the lean peer of this benchmark in a thread, C++ and \
Python to a peer of their own unless the name says otherwise. `TCP_NODELAY` is set by everybody who sets it by itself or lets it \
be set, TLS is 1.3 with a self-signed ECDSA P-256 certificate that is verified, multicast is on the loopback interface with \
TTL 0 in both directions. Every byte is compared while warming up; then the length and the last bytes. **Share(lat)** is the \
latency of `kernel-oneway-park` divided by the measured latency, **Share(thrpt)** the measured throughput divided by its \
throughput, with the same size and transport (TCP for streams, UDP for datagrams, unicast or not). The ceiling goes one \
way, a byte for a message, and everything else is a round trip: `kernel-echo-park` shows what share a round trip can have at \
the most. The server's cost is the time from a complete request to the start of the answer, without transport and encryption. \
A figure of a machine with few processors that was not taken with `--pin` shows where the scheduler placed the two threads.\n";

const SECTIONS: &[Section] = &[
    share("Share of the ceiling: http", "http-", "POST and response."),
    share("Share of the ceiling: https", "https-", "The same inside TLS 1.3."),
    share("Share of the ceiling: ws", "ws-", "Binary messages."),
    share("Share of the ceiling: wss", "wss-", "The same inside TLS 1.3."),
    share("Share of the ceiling: udp", "udp-", "Datagrams."),
    share("Share of the ceiling: udp multicast", "udp_multicast-", "Datagrams to groups, both ways."),
    latency("Round trips: http", "http-"),
    latency("Round trips: https", "https-"),
    latency("Round trips: ws", "ws-"),
    latency("Round trips: wss", "wss-"),
    latency("Round trips: udp", "udp-"),
    latency("Round trips: udp multicast", "udp_multicast-"),
];

const fn share(title: &'static str, prefix: &'static str, about: &'static str) -> Section {
    let scale = "Share(lat), longer is better";
    Section {
        table: Table::ConnLatencyShare,
        title,
        about,
        scale,
        drawn: "",
        layout: Layout::CellsAcross(prefix),
        columns: 3,
    }
}

const fn latency(title: &'static str, prefix: &'static str) -> Section {
    let (about, scale) = ("Their mean, in microseconds.", "mean in µs, shorter is better");
    Section { table: Table::ConnLatency, about, scale, ..share(title, prefix, "") }
}
