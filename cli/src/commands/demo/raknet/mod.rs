//! What the demo shows of RakNet, one file a section.

mod backpressure;
mod burst;
mod channels;
mod close;
mod connect;
mod loopback;
mod peers;
mod ping;
mod receipts;
mod refusals;
mod reliabilities;
mod split;

use super::section::Section;

/// The sections, in the order in which they run.
pub(super) const SECTIONS: &[Section] = &[
    Section { protocol: RAKNET, name: "ping", run: |stage| Box::pin(ping::run(stage)) },
    Section { protocol: RAKNET, name: "connect", run: |stage| Box::pin(connect::run(stage)) },
    Section { protocol: RAKNET, name: "reliabilities", run: |stage| Box::pin(reliabilities::run(stage)) },
    Section { protocol: RAKNET, name: "ordering channels", run: |stage| Box::pin(channels::run(stage)) },
    Section { protocol: RAKNET, name: "1 MiB message", run: |stage| Box::pin(split::run(stage)) },
    Section { protocol: RAKNET, name: "receipts", run: |stage| Box::pin(receipts::run(stage)) },
    Section { protocol: RAKNET, name: "unreliable burst", run: |stage| Box::pin(burst::run(stage)) },
    Section { protocol: RAKNET, name: "back-pressure", run: |stage| Box::pin(backpressure::run(stage)) },
    Section { protocol: RAKNET, name: "many peers", run: |stage| Box::pin(peers::run(stage)) },
    Section { protocol: RAKNET, name: "graceful close", run: |stage| Box::pin(close::run(stage)) },
    Section { protocol: RAKNET, name: "refusals", run: |stage| Box::pin(refusals::run(stage)) },
];

const RAKNET: &str = "RakNet";
