//! What the demo shows of Reticulum, one file a section: two nodes that reach each other over a transport node.

mod announce;
mod channel;
mod link;
mod network;
mod packet;
mod request;
mod resource;

use super::section::Section;

/// The sections, in the order in which they run.
pub(super) const SECTIONS: &[Section] = &[
    Section { protocol: RETICULUM, name: "announce", run: |stage| Box::pin(announce::run(stage)) },
    Section { protocol: RETICULUM, name: "packet with proof", run: |stage| Box::pin(packet::run(stage)) },
    Section { protocol: RETICULUM, name: "link", run: |stage| Box::pin(link::run(stage)) },
    Section { protocol: RETICULUM, name: "request", run: |stage| Box::pin(request::run(stage)) },
    Section { protocol: RETICULUM, name: "1 MiB resource", run: |stage| Box::pin(resource::run(stage)) },
    Section { protocol: RETICULUM, name: "channel", run: |stage| Box::pin(channel::run(stage)) },
];

const RETICULUM: &str = "Reticulum";
