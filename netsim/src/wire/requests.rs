//! What machines ask for: links to open and close, names to resolve.

use super::{Landing, Link, Wire};
use crate::node::{LinkEnd, NodeId};
use proto_core::{DownReason, LinkEvent, LinkId, LinkRequest, LinkSpec};
use std::net::{IpAddr, SocketAddr};

impl Wire {
    /// Carries out a machine's request; the answer lands later.
    pub(crate) fn carry_out(&mut self, node: NodeId, request: LinkRequest) {
        match request {
            LinkRequest::Open { link, spec } => self.open(LinkEnd { node, link }, spec),
            LinkRequest::Close { link } => self.close(LinkEnd { node, link }, DownReason::Closed),
            other => panic!("the simulator does not know the request {other:?}"),
        }
    }

    /// Closes a link of any kind and reports it.
    pub(crate) fn close(&mut self, end: LinkEnd, reason: DownReason) {
        match self.links.get(&end).copied() {
            Some(Link::Stream { .. }) => self.close_stream(end, reason),
            Some(Link::Udp { local, .. }) => {
                self.addresses.remove(&local);
                self.take_down(end, reason);
            }
            Some(Link::Listener { local }) => {
                self.listeners.remove(&local);
                self.take_down(end, reason);
            }
            None => self.notify(end, LinkEvent::Down(reason)),
        }
    }

    fn open(&mut self, end: LinkEnd, spec: LinkSpec) {
        match spec {
            LinkSpec::Udp { bind, peer, .. } => {
                let local = self.local_address(end.node, bind);
                if self.addresses.contains_key(&local) {
                    return self.notify(end, LinkEvent::Down(DownReason::Io));
                }
                self.open_udp(end, local);
                self.notify(end, LinkEvent::Up { local: Some(local), peer });
            }
            LinkSpec::TcpListen { bind } => {
                let local = self.local_address(end.node, bind);
                if self.listeners.contains_key(&local) {
                    return self.notify(end, LinkEvent::Down(DownReason::Io));
                }
                self.listeners.insert(local, end);
                self.links.insert(end, Link::Listener { local });
                self.notify(end, LinkEvent::Up { local: Some(local), peer: None });
            }
            LinkSpec::TcpConnect { peer } => self.connect_to(end, peer),
            LinkSpec::Resolve { host, port } => {
                let known = self.names.get(&host).map(Vec::as_slice).unwrap_or_default();
                let addresses = known.iter().map(|ip| SocketAddr::new(*ip, port)).collect();
                self.notify(end, LinkEvent::Resolved { addresses });
            }
            // Serial lines and pipes are joined by hand with `Network::join_stream`; multicast has no network here.
            LinkSpec::UdpMulticast { .. } | LinkSpec::Serial { .. } | LinkSpec::Pipe { .. } | _ => {
                self.notify(end, LinkEvent::Down(DownReason::Unsupported));
            }
        }
    }

    /// Fills in what a machine left open of a local address.
    fn local_address(&mut self, node: NodeId, bind: SocketAddr) -> SocketAddr {
        let own = self.ip(node).filter(|_| bind.ip().is_unspecified());
        let port = if bind.port() == 0 { self.fresh_port() } else { bind.port() };
        SocketAddr::new(own.unwrap_or_else(|| bind.ip()), port)
    }

    /// Connects to a listener. The accepted stream gets the driver's next number.
    fn connect_to(&mut self, end: LinkEnd, peer: SocketAddr) {
        let Some(&listener) = self.listeners.get(&peer) else {
            return self.notify(end, LinkEvent::Down(DownReason::Refused));
        };
        let at = self.handshake_end(end, listener);
        if self.is_cut(end.node, listener.node) {
            return self.launch(at, Landing::Event { end, event: LinkEvent::Down(DownReason::Unreachable) });
        }
        let accepted = LinkEnd { node: listener.node, link: self.fresh_accepted() };
        let local = self.ip(end.node).map(|ip| SocketAddr::new(ip, self.fresh_port()));
        self.connect(end, accepted, self.default_stream);
        let there = LinkEvent::Accepted { listener: listener.link, peer: local };
        self.launch(at, Landing::Event { end: accepted, event: there });
        self.launch(at, Landing::Event { end, event: LinkEvent::Up { local, peer: Some(peer) } });
    }

    /// Returns the IP address of the node's first link that has one.
    fn ip(&self, node: NodeId) -> Option<IpAddr> {
        let first = LinkEnd { node, link: LinkId(0) };
        let own = self.links.range(first..).take_while(|(end, _)| end.node == node);
        own.filter_map(|(end, _)| self.address(*end)).map(|address| address.ip()).next()
    }
}
