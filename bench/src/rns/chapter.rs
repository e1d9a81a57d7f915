//! Reticulum's chapter of `docs/benchmarks.md`.

use super::peer::{self, Peer};
use crate::document::{Chapter, Layout, Legend, Section};
use crate::row::{Named as _, Table};

/// What is written about Reticulum.
pub(crate) const CHAPTER: Chapter = Chapter {
    title: "Reticulum",
    about: "Iolite's Reticulum beside personal-rns and the Python reference.",
    method: METHOD,
    legend: || peer::ALL.iter().map(legend).collect(),
    sections: SECTIONS,
    closing: |_, _| String::new(),
};

fn legend(peer: &Peer) -> Legend {
    Legend { name: peer.name(), about: peer.about(), standing: peer.standing() }
}

const METHOD: &str = "\
Initiator and responder, or driver and relay, are separate processes on one machine, connected by TCP with HDLC framing. \
Contents are numbered and cannot be compressed; every byte that arrives is compared, and a repetition counts only if all \
that was begun, warm-up included, was settled and the responder saw exactly that. `packet`: single packets of 60 to 380 \
bytes with proofs, 16 under way. `message`: the same on one link. `request`: a request and its response of 1 to 4 KiB, one at \
a time on each of four links, frames of at most 500 bytes. `segment`: one resource of 1 MiB less one byte after the other. \
`stream`: resources of 64 such segments. `relay-raw`: packets with 240 bytes of payload through a transport node, both ways, \
256 under way in each direction. `relay-parts`: parts of resources, as long as the link allows, on one link through a \
transport node, both ways. A name ending in `-16k` has frames of at most 16 KiB for everybody, which is what the reference's \
TCP interfaces use; `packet` and `message` have them, too. The others leave each implementation its default: 32 KiB for \
Iolite (Backbone), 128 KiB for personal-rns, 16 KiB for the reference. Memory is the peak resident size (`VmHWM`); processor \
time is that of the measured time only. personal-rns is built with the same compiler settings as Iolite (thin LTO, four \
codegen units).\n";

const SECTIONS: &[Section] = &[
    Section {
        table: Table::RnsOperations,
        title: "Packets, messages and requests",
        about: "Operations that were settled in a second.",
        scale: "operations a second, longer is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsBytes,
        title: "Resources and relays",
        about: "Contents that arrived in a second; through relays in both directions together.",
        scale: "MB/s, longer is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsLatency,
        title: "Time until an operation is settled",
        about: "With as many under way as above.",
        scale: "median in ms, shorter is better",
        drawn: "p50",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsTimePerOperation,
        title: "Processor time of an operation",
        about: "User and kernel time of each process for each operation, in microseconds.",
        scale: "µs, shorter is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsTimePerByte,
        title: "Processor time of a megabyte",
        about: "User and kernel time of each process for each megabyte of contents, in milliseconds.",
        scale: "ms, shorter is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsMemory,
        title: "Peak memory of Reticulum nodes",
        about: "Peak resident memory of each process.",
        scale: "MiB, shorter is better",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
    Section {
        table: Table::RnsBusy,
        title: "Who is busy around a relay",
        about: "Processor time of driver and relay in percent of the time that passed. Where the driver has time left, it is \
                not what limits the relay; `splice` shows what the driver can do when nothing is between its ends.",
        scale: "percent of one processor",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 3,
    },
];
