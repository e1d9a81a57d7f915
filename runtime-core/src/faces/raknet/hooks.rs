//! What an application can hang into the path of datagrams.

use proto_core::Instant;
use proto_raknet::{Direction, Endpoint, Verdict};
use std::{fmt, net::SocketAddr, sync::Arc};

/// Judges every datagram that a socket receives, and sees every datagram in and out.
///
/// The functions run in the driver's task under its lock: they must be short, and must not call back into the listener or
/// stream that they belong to. All shards of a listener share them. Without any, datagrams pay nothing.
#[derive(Clone, Default)]
pub struct Hooks {
    filter: Option<Arc<FilterFn>>,
    packet_log: Option<Arc<PacketLogFn>>,
}

type FilterFn = dyn Fn(SocketAddr, &[u8]) -> Verdict + Send + Sync;
type PacketLogFn = dyn Fn(Instant, Direction, SocketAddr, &[u8]) + Send + Sync;

impl Hooks {
    /// Sets what judges received datagrams by source and content, before anything else looks at them.
    #[must_use]
    pub fn with_filter(self, filter: impl Fn(SocketAddr, &[u8]) -> Verdict + Send + Sync + 'static) -> Self {
        Self { filter: Some(Arc::new(filter)), ..self }
    }

    /// Sets what sees datagrams as they come and go, with the driver's time and the other side's address.
    #[must_use]
    pub fn with_packet_log(
        self,
        log: impl Fn(Instant, Direction, SocketAddr, &[u8]) + Send + Sync + 'static,
    ) -> Self {
        Self { packet_log: Some(Arc::new(log)), ..self }
    }

    /// Hangs the functions into an endpoint, in place of those it has.
    pub(super) fn install(&self, machine: &mut Endpoint) {
        let (filter, log) = (self.filter.clone(), self.packet_log.clone());
        machine.set_filter(filter.map(|filter| -> proto_raknet::DatagramFilter {
            Box::new(move |from, data| filter(from, data))
        }));
        machine.set_packet_log(log.map(|log| -> proto_raknet::PacketLog {
            Box::new(move |now, direction, address, data| log(now, direction, address, data))
        }));
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("filter", &self.filter.is_some())
            .field("packet_log", &self.packet_log.is_some())
            .finish()
    }
}
