//! RakNet's chapter of `docs/benchmarks.md`.

use super::peer::{self, Peer};
use crate::document::{Chapter, Layout, Legend, Section};
use crate::row::Table;

/// What is written about RakNet.
pub(crate) const CHAPTER: Chapter = Chapter {
    title: "RakNet",
    about: "Iolite's RakNet beside rust-raknet, KCP, TCP and QUIC.",
    method: METHOD,
    legend: || peer::ALL.iter().map(legend).collect(),
    sections: SECTIONS,
    closing: |_, _| String::new(),
};

fn legend(peer: &Peer) -> Legend {
    Legend { name: peer.name, about: peer.about, standing: peer.standing() }
}

const METHOD: &str = "\
Client and server are separate processes. The client checks every echo in full: length, order and content. \
A burst lasts a fixed time after connecting and 20 warm-up messages on each connection; throughput is echoed payload per \
direction. `limited` loopback has the MTU of Ethernet and no segmentation offload, which is how most paths \
outside a machine behave; loss drops packets at random in both directions, acknowledgements included. One connection has \
64 messages in flight, each of many has 16. Memory is the peak resident size of the process (`VmHWM`). Every \
peer has the socket options that it sets by itself. Iolite looks for answers for up to 50 µs before it sleeps, as it does by default; \
the last section shows what that costs. rust-raknet and KCP as set here have no congestion control; Iolite runs with \
`Congestion::Fixed` instead of its default, CUBIC, which slows down under random loss as TCP and QUIC do. QUIC encrypts, the others \
do not.\n";

const SECTIONS: &[Section] = &[
    Section {
        table: Table::ThroughputLimited,
        title: "Throughput, one connection, limited loopback",
        about: "Messages of 64, 800 and 4,096 bytes; 0, 1 and 5 % loss.",
        scale: "MiB/s, longer is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::ThroughputPlain,
        title: "Throughput, one connection, plain loopback",
        about: "The loopback as it is, where segmentation offload works.",
        scale: "MiB/s, longer is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::ThroughputMany,
        title: "Throughput, many connections",
        about: "All connections between two processes, limited loopback.",
        scale: "MiB/s, longer is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 4,
    },
    Section {
        table: Table::SparseLatency,
        title: "Round trip of a single message",
        about: "One message at a time over an idle connection.",
        scale: "median in µs, shorter is better",
        drawn: "p50",
        layout: Layout::PeersAcross,
        columns: 2,
    },
    Section {
        table: Table::LoadLatency,
        title: "Round trip under load",
        about: "Every message's round trip while all windows are full, queues of both ends included.",
        scale: "median in µs, shorter is better",
        drawn: "p50",
        layout: Layout::PeersAcross,
        columns: 2,
    },
    Section {
        table: Table::Memory,
        title: "Peak memory",
        about: "Peak resident memory of client and server, without loss.",
        scale: "server, MiB, shorter is better",
        drawn: "server",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::ProcessorTime,
        title: "Processor time",
        about: "User and kernel time of client and server for each echoed message, without loss; connecting and \
                warming up included. A peer that polls for a while before it sleeps pays for it here.",
        scale: "server, µs per echo, shorter is better",
        drawn: "server",
        layout: Layout::PeersAcross,
        columns: 3,
    },
];
