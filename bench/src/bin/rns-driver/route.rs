//! How frames reach the other shore.

use bench_peer::{Fault, rns::Kind};
use proto_rns::{
    DestinationHash, IdentityHash,
    link::LinkState,
    wire::{Context, DestinationType, Packet, PacketType, TransportType},
};

use crate::shore::{Shore, work};

/// What all frames of one direction have in common.
#[derive(Clone, Copy)]
pub(crate) struct Course {
    /// The address that they carry, which the relay does not change.
    destination: DestinationHash,
    context: Context,
    next_hop: Option<IdentityHash>,
    destination_type: DestinationType,
}

/// The courses of both directions.
pub(crate) struct Route {
    pub(crate) courses: [Course; 2],
    /// The longest frame of the link through the relay, where there is one.
    pub(crate) link_mtu: Option<usize>,
}

impl Course {
    /// The header of the frames, as the sender writes it.
    pub(crate) fn header(&self) -> Packet<'static> {
        let mut packet =
            Packet::new(PacketType::Data, self.destination_type, self.destination, self.context, &[]);
        if self.next_hop.is_some() {
            packet.transport_type = TransportType::Transport;
            packet.transport_id = self.next_hop;
        }
        packet
    }

    /// Says whether a packet that arrived is one of these.
    pub(crate) fn carries(&self, packet: &Packet<'_>) -> bool {
        packet.packet_type == PacketType::Data
            && packet.destination == self.destination
            && packet.context == self.context
    }
}

/// Has both nodes announce themselves and, for parts of resources, opens a link from the first to the second.
pub(crate) fn find(kind: Kind, mut shores: [Shore; 2]) -> Result<(Route, [Shore; 2]), Fault> {
    // The connections come up first: an announce is not sent twice.
    work(&mut shores, "bytes", |shores| {
        shores
            .iter()
            .all(|shore| shore.node.interfaces().all(|(_, interface)| interface.properties().online))
            .then_some(())
    })?;
    for shore in &mut shores {
        let destination = shore.destination;
        shore.with(|node, now| node.announce(now, destination, None))?;
    }
    let ends = [shores[1].destination, shores[0].destination];
    let next_hops = work(&mut shores, "announces", |shores| {
        let path = |at: usize| shores.get(at)?.node.router().path(*ends.get(at)?);
        Some([path(0)?.next_hop, path(1)?.next_hop])
    })?;
    let (courses, link_mtu) = if kind == Kind::RelayedPart {
        let (link, mtu) = open_link(&mut shores, ends[0])?;
        let course = Course {
            destination: link,
            context: Context::Resource,
            next_hop: None,
            destination_type: DestinationType::Link,
        };
        ([course; 2], Some(mtu))
    } else {
        let course = |destination, next_hop| Course {
            destination,
            context: Context::None,
            next_hop,
            destination_type: DestinationType::Single,
        };
        let ([there, back], [first, second]) = (ends, next_hops);
        ([course(there, first), course(back, second)], None)
    };
    Ok((Route { courses, link_mtu }, shores))
}

/// Opens the link; returns its address and the longest frame.
fn open_link(shores: &mut [Shore; 2], to: DestinationHash) -> Result<(DestinationHash, usize), Fault> {
    let link = shores[0].with(|node, now| node.open_link(now, to, None))?;
    let mtu = work(shores, "link", |shores| {
        let mut mtus = shores.iter().map(|shore| {
            let end = shore.node.link(link)?;
            (end.state() == LinkState::Active).then(|| end.mtu())
        });
        mtus.next()??.min(mtus.next()??).into()
    })?;
    Ok((DestinationHash::new(*link.as_bytes()), mtu))
}
