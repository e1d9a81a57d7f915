//! The lives of interfaces: opening, accepting, losing and trying again.

use super::{Event, Node};
use crate::{
    iface::{
        Interface, InterfaceConfig, InterfaceConfigError, InterfaceId, InterfaceKind, LocalAddress, Medium,
        Target,
    },
    transport::InterfaceChange,
};
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};
use core::net::SocketAddr;
use proto_core::{DatagramOptions, DownReason, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec};

/// The links that a node asked for and the connections that it will ask for again.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    requests: VecDeque<LinkRequest>,
    /// Names that are being resolved, for which interface.
    resolving: BTreeMap<LinkId, InterfaceId>,
    retries: BTreeSet<(Instant, InterfaceId)>,
    next_link: u32,
}

impl Lifecycle {
    pub(super) fn poll(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.retries.first().map(|(at, _)| *at)
    }

    fn request(&mut self, spec: LinkSpec) -> LinkId {
        let link = LinkId(self.next_link);
        self.next_link = (self.next_link + 1) % LinkId::FIRST_ACCEPTED.0;
        self.requests.push_back(LinkRequest::Open { link, spec });
        link
    }
}

impl Node {
    /// Adds an interface and opens it.
    ///
    /// # Errors
    /// A setting is outside its range, or there are too many interfaces.
    pub fn add_interface(
        &mut self,
        now: Instant,
        config: InterfaceConfig,
    ) -> Result<InterfaceId, AddInterfaceError> {
        config.validate()?;
        let now = self.core.see(now);
        if self.interfaces.len() >= self.config.max_interfaces {
            return Err(AddInterfaceError::TooMany { limit: self.config.max_interfaces });
        }
        let interface = Interface::new(Arc::new(config), None, &*self.core.tools.crypto, now);
        let id = self.interfaces.add(interface);
        self.router.interface_changed(&self.core.env(), id, InterfaceChange::Added);
        self.open(id, None);
        Ok(id)
    }

    /// Removes an interface and closes it, with the connections that it accepted. False when there is none.
    pub fn remove_interface(&mut self, now: Instant, id: InterfaceId) -> bool {
        self.core.see(now);
        let accepted: alloc::vec::Vec<InterfaceId> = self
            .interfaces
            .iter()
            .filter(|(_, child)| child.parent() == Some(id))
            .map(|(child, _)| child)
            .collect();
        for child in accepted {
            self.drop_interface(child);
        }
        self.drop_interface(id)
    }

    /// Takes note of a change in a link's life.
    pub(super) fn on_link_event(&mut self, link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Up { .. } => self.on_up(link),
            LinkEvent::Accepted { listener, peer } => self.on_accepted(link, listener, peer),
            LinkEvent::Resolved { addresses } => self.on_resolved(link, addresses.first().copied()),
            LinkEvent::Blocked | LinkEvent::Writable => {
                if let Some(id) = self.interfaces.of(link) {
                    self.interfaces.set_blocked(id, event == LinkEvent::Blocked);
                    self.resume_bulk(id);
                }
            }
            // A stream that the peer has ended carries nothing back either: both ends are nodes.
            LinkEvent::Eof => {
                self.lifecycle.requests.push_back(LinkRequest::Close { link });
                self.on_down(link, DownReason::Reset);
            }
            LinkEvent::Down(reason) => self.on_down(link, reason),
            LinkEvent::TooBig { .. } | _ => {}
        }
    }

    /// Tries connections again that are due.
    pub(super) fn retry_interfaces(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.lifecycle.retries.first() {
            if at > now {
                break;
            }
            self.lifecycle.retries.pop_first();
            self.open(id, None);
        }
    }

    /// Asks for the link of an interface; a name must have been `resolved` first.
    fn open(&mut self, id: InterfaceId, resolved: Option<SocketAddr>) {
        let Some(interface) = self.interfaces.get(id) else { return };
        let spec = match &interface.config().medium {
            Medium::Udp { bind, .. } => {
                LinkSpec::Udp { bind: *bind, peer: None, options: DatagramOptions::default() }
            }
            Medium::TcpServer { bind, .. } => LinkSpec::TcpListen { bind: *bind },
            Medium::LocalServer { at: LocalAddress::Tcp(bind) } => LinkSpec::TcpListen { bind: *bind },
            Medium::LocalServer { at: LocalAddress::Unix(path) } => {
                LinkSpec::UnixListen { path: path.clone() }
            }
            Medium::LocalClient { at: LocalAddress::Tcp(peer) } => LinkSpec::TcpConnect { peer: *peer },
            Medium::LocalClient { at: LocalAddress::Unix(path) } => {
                LinkSpec::UnixConnect { path: path.clone() }
            }
            Medium::Pipe { command } => LinkSpec::Pipe { command: command.clone() },
            Medium::Serial { device, baud } => LinkSpec::Serial { device: device.clone(), baud: *baud },
            Medium::TcpClient { target: Target::Address(peer), .. } => LinkSpec::TcpConnect { peer: *peer },
            Medium::TcpClient { target: Target::Name { host, port }, .. } => match resolved {
                Some(peer) => LinkSpec::TcpConnect { peer },
                None => {
                    let spec = LinkSpec::Resolve { host: host.clone(), port: *port };
                    let link = self.lifecycle.request(spec);
                    self.lifecycle.resolving.insert(link, id);
                    return;
                }
            },
        };
        let link = self.lifecycle.request(spec);
        self.interfaces.attach(id, link);
    }

    fn on_up(&mut self, link: LinkId) {
        let Some(id) = self.interfaces.of(link) else { return };
        let now = self.core.now();
        if let Some(interface) =
            self.interfaces.get_mut(id).filter(|interface| !interface.properties().online)
        {
            interface.up(now);
            self.announce_up(id);
        }
    }

    fn on_accepted(&mut self, link: LinkId, listener: LinkId, peer: Option<SocketAddr>) {
        let parent = self.interfaces.of(listener);
        let room = self.interfaces.len() < self.config.max_interfaces;
        let Some((parent, config)) =
            parent.filter(|_| room).and_then(|id| Some((id, Arc::clone(&self.interfaces.get(id)?.config))))
        else {
            self.lifecycle.requests.push_back(LinkRequest::Close { link });
            return;
        };
        let now = self.core.now();
        let mut interface = Interface::new(config, Some((parent, peer)), &*self.core.tools.crypto, now);
        interface.up(now);
        let id = self.interfaces.add(interface);
        self.interfaces.attach(id, link);
        self.router.interface_changed(&self.core.env(), id, InterfaceChange::Added);
        self.announce_up(id);
    }

    /// Tells the router and the application of an interface that works now.
    fn announce_up(&mut self, id: InterfaceId) {
        let Some(interface) = self.interfaces.get(id) else { return };
        let wants_tunnel = interface.config().medium.wants_tunnel() && interface.parent().is_none();
        let is_shared_instance = interface.properties().kind == InterfaceKind::SharedInstance;
        if wants_tunnel {
            self.router.synthesize_tunnel(&mut self.core.env(), &self.identity, id, &mut self.interfaces);
        }
        if is_shared_instance {
            self.introduce_destinations();
        }
        self.tell(Event::InterfaceUp { interface: id });
    }

    fn on_resolved(&mut self, link: LinkId, address: Option<SocketAddr>) {
        let Some(id) = self.lifecycle.resolving.remove(&link) else { return };
        match address {
            Some(address) => self.open(id, Some(address)),
            None => self.retry_later(id),
        }
    }

    fn on_down(&mut self, link: LinkId, _reason: DownReason) {
        if let Some(id) = self.lifecycle.resolving.remove(&link) {
            return self.retry_later(id);
        }
        let Some(id) = self.interfaces.detach(link) else { return };
        let Some(interface) = self.interfaces.get_mut(id) else { return };
        let was_online = interface.properties().online;
        let is_shared_instance = interface.is_shared_instance();
        let is_accepted = interface.parent().is_some();
        interface.down();
        if was_online {
            self.router.interface_changed(&self.core.env(), id, InterfaceChange::Down);
            if is_shared_instance {
                // All that was known came from it, and it may come back as another one.
                self.router.drop_all_over(id);
            }
            self.tell(Event::InterfaceDown { interface: id });
            self.on_interface_lost(id);
        }
        if is_accepted {
            self.forget_interface(id);
        } else {
            self.retry_later(id);
        }
    }

    fn retry_later(&mut self, id: InterfaceId) {
        let now = self.core.now();
        let Some(interface) = self.interfaces.get_mut(id) else { return };
        if let Some(at) = interface.reconnect.lost(now) {
            self.lifecycle.retries.insert((at, id));
        }
    }

    fn drop_interface(&mut self, id: InterfaceId) -> bool {
        let Some(interface) = self.interfaces.get(id) else { return false };
        if let Some(link) = interface.link {
            self.lifecycle.requests.push_back(LinkRequest::Close { link });
        }
        if interface.properties().online {
            if let Some(interface) = self.interfaces.get_mut(id) {
                interface.properties.online = false;
            }
            self.on_interface_lost(id);
        }
        self.lifecycle.retries.retain(|(_, waiting)| *waiting != id);
        self.lifecycle.resolving.retain(|_, waiting| *waiting != id);
        self.forget_interface(id);
        true
    }

    fn forget_interface(&mut self, id: InterfaceId) {
        self.interfaces.remove(id);
        self.router.interface_changed(&self.core.env(), id, InterfaceChange::Removed);
    }
}

/// An interface that cannot be added.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddInterfaceError {
    /// A setting is outside its range.
    #[error(transparent)]
    Config(#[from] InterfaceConfigError),
    /// There are as many as the configuration allows.
    #[error("there are {limit} interfaces already")]
    TooMany {
        /// How many it allows.
        limit: usize,
    },
}
