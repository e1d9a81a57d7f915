//! Carrying out what a machine asks for.

use proto_core::{Instant, LinkId, LinkSpec};
use std::io;

use super::Ports;
use crate::{
    Runtime,
    sockets::{Opened, open},
};

impl<R: Runtime> Ports<R> {
    /// Opens a link. What comes later is reported later.
    pub(super) fn open(&mut self, link: LinkId, spec: LinkSpec, now: Instant) -> io::Result<()> {
        open(spec).and_then(|opened| match opened {
            Opened::Datagrams(source) => self.add_datagrams(link, source),
            Opened::Stream(source) => self.switchboard.add_stream(link, source, now),
            Opened::Listener(source) => self.add_listener_source(link, source),
            Opened::Name { host, port } => self.switchboard.add_lookup(link, host, port),
        })
    }
}
