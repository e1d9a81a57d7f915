//! What this node sends itself (spec 1.14).

use super::Router;
use crate::{
    Env, PacketHash,
    iface::{AnnounceSource, InterfaceId, InterfaceKind, Interfaces, may_pass_announce},
    wire::{DestinationType, Packet, PacketType, TransportType},
};
use alloc::vec::Vec;

/// On which interfaces a packet left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// None: there is none to send on, or the only one is down.
    Nowhere,
    /// One, attached or at the start of the path.
    On(InterfaceId),
    /// All of these.
    Broadcast(Vec<InterfaceId>),
}

impl Router {
    /// Sends a packet of this node: on the interface that it is `attached` to, along its path, or everywhere.
    ///
    /// Packets of links leave only by the interface that they are attached to. The packet's hash is noted, so that an
    /// echo is not taken for a packet from elsewhere.
    pub fn send(
        &mut self,
        env: &Env<'_>,
        packet: &Packet<'_>,
        attached: Option<InterfaceId>,
        out: &mut dyn Interfaces,
    ) -> Sent {
        self.send_hashed(env, packet, &packet.hash(), attached, out)
    }

    /// Sends a packet of this node whose hash is known already.
    pub fn send_hashed(
        &mut self,
        env: &Env<'_>,
        packet: &Packet<'_>,
        hash: &PacketHash,
        attached: Option<InterfaceId>,
        out: &mut dyn Interfaces,
    ) -> Sent {
        if matches!(packet.destination_type, DestinationType::Single | DestinationType::Link) {
            self.see(*hash);
        }
        let packet = Packet { hops: packet.hops.saturating_add(self.config.local_hops_delta), ..*packet };
        if attached.is_some() || packet.destination_type == DestinationType::Link {
            return send_on(attached, &packet, out);
        }
        if packet.destination_type == DestinationType::Single
            && packet.packet_type != PacketType::Announce
            && let Some(sent) = self.send_along_path(env, &packet, out)
        {
            return sent;
        }
        broadcast(&packet, out)
    }

    /// Sends an announce of this node: on `attached` alone, as an answer, or on every interface whose mode allows it.
    /// Own announces leave at once, whatever share of the bitrate announces have.
    pub fn announce(
        &mut self,
        packet: &Packet<'_>,
        attached: Option<InterfaceId>,
        out: &mut dyn Interfaces,
    ) -> Sent {
        let packet = &Packet { hops: packet.hops.saturating_add(self.config.local_hops_delta), ..*packet };
        self.see(packet.hash());
        if attached.is_some() {
            return send_on(attached, packet, out);
        }
        let mut ids = out.ids();
        ids.retain(|id| {
            out.properties(*id)
                .is_some_and(|to| to.online && to.outgoing && may_pass_announce(AnnounceSource::Local, to))
        });
        send_on_all(ids, packet, out)
    }

    fn send_along_path(
        &mut self,
        env: &Env<'_>,
        packet: &Packet<'_>,
        out: &mut dyn Interfaces,
    ) -> Option<Sent> {
        let path = self.paths.get(&packet.destination)?;
        let interface = path.interface;
        let kind = out.properties(interface)?.kind;
        // Behind a shared instance even neighbours are reached through the instance.
        let through_node = path.hops > 1 || (path.hops == 1 && kind == InterfaceKind::SharedInstance);
        let addressed = if through_node {
            Packet {
                context_flag: false,
                transport_type: TransportType::Transport,
                transport_id: Some(path.next_hop_id(packet.destination)),
                ..*packet
            }
        } else {
            *packet
        };
        self.paths.touch(env.now, &packet.destination);
        Some(send_on(Some(interface), &addressed, out))
    }
}

fn send_on(interface: Option<InterfaceId>, packet: &Packet<'_>, out: &mut dyn Interfaces) -> Sent {
    match interface {
        Some(id) if out.properties(id).is_some_and(|to| to.online && to.outgoing) => {
            out.send(id, packet);
            Sent::On(id)
        }
        Some(_) | None => Sent::Nowhere,
    }
}

fn broadcast(packet: &Packet<'_>, out: &mut dyn Interfaces) -> Sent {
    let mut ids = out.ids();
    ids.retain(|id| out.properties(*id).is_some_and(|to| to.online && to.outgoing));
    send_on_all(ids, packet, out)
}

fn send_on_all(ids: Vec<InterfaceId>, packet: &Packet<'_>, out: &mut dyn Interfaces) -> Sent {
    ids.iter().for_each(|id| out.send(*id, packet));
    if ids.is_empty() { Sent::Nowhere } else { Sent::Broadcast(ids) }
}
