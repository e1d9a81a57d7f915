//! What the demo shows of connections, one section a scheme: echo peers of our own and a client for each.

mod datagrams;
mod dialogue;
mod group;
mod peers;
mod requests;

use proto_conn::Scheme;

use super::section::Section;
use crate::commands::aside;

/// The sections, in the order in which they run.
pub(super) const SECTIONS: &[Section] = &[
    Section {
        protocol: CONN,
        name: "http",
        run: |stage| Box::pin(aside(move || requests::run(&stage, Scheme::Http))),
    },
    Section {
        protocol: CONN,
        name: "https",
        run: |stage| Box::pin(aside(move || requests::run(&stage, Scheme::Https))),
    },
    Section {
        protocol: CONN,
        name: "ws",
        run: |stage| Box::pin(aside(move || dialogue::run(&stage, Scheme::Ws))),
    },
    Section {
        protocol: CONN,
        name: "wss",
        run: |stage| Box::pin(aside(move || dialogue::run(&stage, Scheme::Wss))),
    },
    Section { protocol: CONN, name: "udp", run: |stage| Box::pin(aside(move || datagrams::run(&stage))) },
    Section {
        protocol: CONN,
        name: "udp_multicast",
        run: |stage| Box::pin(aside(move || group::run(&stage))),
    },
];

const CONN: &str = "conn";
