//! What a node heard.

use bytes::Bytes;
use proto_rns::{DestinationHash, LinkHash, PacketHash, link, node::Event};

/// The events of one node.
#[derive(Debug, Default)]
pub struct Heard {
    /// All of them.
    pub events: Vec<Event>,
}

impl Heard {
    /// Returns how far away the last announce of a destination came from.
    pub fn announced(&self, destination: DestinationHash) -> Option<u8> {
        self.events.iter().rev().find_map(|event| match event {
            Event::Announce(announced) if announced.destination == destination => Some(announced.hops),
            _ => None,
        })
    }

    /// Returns how often a destination was announced.
    pub fn announces(&self, destination: DestinationHash) -> usize {
        let is_it = |event: &&Event| matches!(event, Event::Announce(announced) if announced.destination == destination);
        self.events.iter().filter(is_it).count()
    }

    /// Returns the packets that came for a destination.
    pub fn packets(&self, destination: DestinationHash) -> Vec<Bytes> {
        let data = |event: &Event| match event {
            Event::Packet { destination: to, data, .. } if *to == destination => Some(data.clone()),
            _ => None,
        };
        self.events.iter().filter_map(data).collect()
    }

    /// Says whether a packet was proved.
    pub fn delivered(&self, packet: PacketHash) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Delivered { hash, .. } if *hash == packet))
    }

    /// Returns the links that others opened.
    pub fn accepted(&self) -> Vec<LinkHash> {
        let link = |event: &Event| match event {
            Event::LinkAccepted { link, .. } => Some(*link),
            _ => None,
        };
        self.events.iter().filter_map(link).collect()
    }

    /// Returns what happened on a link.
    pub fn link(&self, link: LinkHash) -> impl Iterator<Item = &link::Event> {
        self.events.iter().filter_map(move |event| match event {
            Event::Link { link: on, event } if *on == link => Some(event),
            _ => None,
        })
    }
}
