//! All interfaces of a node.

use super::{Interface, InterfaceId, InterfaceProperties, Interfaces};
use crate::wire::Packet;
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use core::num::NonZeroUsize;
use proto_core::{LinkId, Transmit};

/// The interfaces by number, and the numbers by link.
#[derive(Debug, Default)]
pub(crate) struct InterfaceTable {
    interfaces: BTreeMap<InterfaceId, Interface>,
    links: BTreeMap<LinkId, InterfaceId>,
    /// Those that have something to send, each once.
    ready: VecDeque<InterfaceId>,
    next: u32,
}

impl InterfaceTable {
    pub(crate) fn add(&mut self, interface: Interface) -> InterfaceId {
        let id = InterfaceId(self.next);
        self.next = self.next.wrapping_add(1);
        self.interfaces.insert(id, interface);
        id
    }

    pub(crate) fn remove(&mut self, id: InterfaceId) -> Option<Interface> {
        let interface = self.interfaces.remove(&id)?;
        if let Some(link) = interface.link {
            self.links.remove(&link);
        }
        Some(interface)
    }

    pub(crate) fn get(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: InterfaceId) -> Option<&mut Interface> {
        self.interfaces.get_mut(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (InterfaceId, &Interface)> {
        self.interfaces.iter().map(|(id, interface)| (*id, interface))
    }

    pub(crate) fn len(&self) -> usize {
        self.interfaces.len()
    }

    /// Ties an interface to its link.
    pub(crate) fn attach(&mut self, id: InterfaceId, link: LinkId) {
        if let Some(interface) = self.interfaces.get_mut(&id) {
            interface.link = Some(link);
            self.links.insert(link, id);
        }
    }

    /// Forgets which interface a link belongs to.
    pub(crate) fn detach(&mut self, link: LinkId) -> Option<InterfaceId> {
        self.links.remove(&link)
    }

    pub(crate) fn of(&self, link: LinkId) -> Option<InterfaceId> {
        self.links.get(&link).copied()
    }

    /// Appends what leaves next to `out`, and says from which interface it comes.
    pub(crate) fn poll_transmit(
        &mut self,
        most: NonZeroUsize,
        out: &mut Vec<u8>,
    ) -> Option<(InterfaceId, Transmit)> {
        while let Some(&id) = self.ready.front() {
            let transmit =
                self.interfaces.get_mut(&id).and_then(|interface| interface.poll_transmit(most, out));
            if let Some(transmit) = transmit {
                return Some((id, transmit));
            }
            self.ready.pop_front();
            if let Some(interface) = self.interfaces.get_mut(&id) {
                interface.ready = false;
            }
        }
        None
    }

    /// Takes note of whether an interface's link has room.
    pub(crate) fn set_blocked(&mut self, id: InterfaceId, blocked: bool) {
        if let Some(interface) = self.interfaces.get_mut(&id) {
            interface.set_blocked(blocked);
            if !blocked && !interface.ready {
                interface.ready = true;
                self.ready.push_back(id);
            }
        }
    }
}

impl Interfaces for InterfaceTable {
    fn properties(&self, id: InterfaceId) -> Option<&InterfaceProperties> {
        self.get(id).map(Interface::properties)
    }

    fn ids(&self) -> Vec<InterfaceId> {
        self.interfaces.keys().copied().collect()
    }

    fn send(&mut self, to: InterfaceId, packet: &Packet<'_>) {
        if let Some(interface) = self.interfaces.get_mut(&to) {
            interface.send(packet);
            if !interface.ready {
                interface.ready = true;
                self.ready.push_back(to);
            }
        }
    }
}
