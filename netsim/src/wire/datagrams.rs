//! Datagrams: from a transmit over NAT and path to the receiver's link.

use super::{Hiccups, Landing, Link, Packet, Wire};
use crate::{
    node::{LinkEnd, NodeId},
    path::{Path, Verdict, happens},
    stats::Loss,
    trace::Fate,
};
use proto_core::{Flow, LinkEvent, Transmit};
use std::net::SocketAddr;

impl Wire {
    /// Opens a datagram link at an address.
    pub(crate) fn open_udp(&mut self, end: LinkEnd, local: SocketAddr) {
        assert!(!self.addresses.contains_key(&local), "{local} is taken");
        self.addresses.insert(local, end);
        self.links.insert(end, Link::Udp { local, hiccups: None });
    }

    pub(crate) fn set_hiccups(&mut self, end: LinkEnd, new: Option<Hiccups>) {
        match self.links.get_mut(&end) {
            Some(Link::Udp { hiccups, .. }) => *hiccups = new,
            Some(Link::Listener { .. } | Link::Stream { .. }) | None => {
                panic!("{} has no datagram link {:?}", end.node, end.link)
            }
        }
    }

    /// Sends a batch as the datagrams that it holds.
    pub(crate) fn send_batch(
        &mut self,
        end: LinkEnd,
        to: SocketAddr,
        transmit: &Transmit,
        bytes: &[u8],
    ) -> Flow {
        let Some(&Link::Udp { local, hiccups }) = self.links.get(&end) else {
            self.unrouted.count(bytes.len());
            return Flow::Sent;
        };
        // An empty payload is a datagram too, though it has no chunks.
        let empty = bytes.is_empty().then_some(bytes);
        for datagram in bytes.chunks(transmit.segment_len().max(1)).chain(empty) {
            let packet = Packet { from: local, to, ecn: transmit.ecn, data: datagram.to_vec() };
            self.send_datagram(end, packet);
        }
        let Some(hiccups) = hiccups.filter(|hiccups| happens(&mut *self.entropy, hiccups.chance)) else {
            return Flow::Sent;
        };
        self.launch(self.now + hiccups.pause, Landing::Event { end, event: LinkEvent::Writable });
        Flow::Blocked
    }

    /// Brings a forged datagram to a link at once, past paths, partitions and NATs.
    pub(crate) fn inject(&mut self, end: LinkEnd, packet: Packet) {
        self.trace.record(self.now, &packet, Fate::Forged);
        self.launch(self.now, Landing::Datagram { sender: None, end, packet });
    }

    /// Counts a datagram that reached its receiver's node.
    pub(crate) fn note_arrival(
        &mut self,
        sender: Option<NodeId>,
        receiver: NodeId,
        packet: &Packet,
        loss: Option<Loss>,
    ) {
        if let Some(loss) = loss {
            self.trace.record(self.now, packet, Fate::Lost(loss));
        }
        let Some(sender) = sender else { return };
        let stats = self.count(sender, receiver);
        let traffic = if loss.is_some() { &mut stats.lost } else { &mut stats.delivered };
        traffic.count(packet.data.len());
    }

    /// Says whether a datagram link is there to receive.
    pub(crate) fn is_udp(&self, end: LinkEnd) -> bool {
        matches!(self.links.get(&end), Some(Link::Udp { .. }))
    }

    fn send_datagram(&mut self, sender: LinkEnd, mut packet: Packet) {
        if let Some(nat) = self.nats.get_mut(&sender.node) {
            packet.from = nat.translate_out(packet.from, packet.to);
        }
        if let Some(mailbox) = self.mailboxes.get_mut(&packet.to) {
            self.trace.record(self.now, &packet, Fate::Sent);
            mailbox.push((packet.from, packet.data));
            return;
        }
        let end = match self.route(&packet) {
            Ok(end) => end,
            Err(loss) => {
                self.trace.record(self.now, &packet, Fate::Lost(loss));
                self.unrouted.count(packet.data.len());
                return;
            }
        };
        let len = packet.data.len();
        self.count(sender.node, end.node).sent.count(len);
        let verdict = self.travel(sender.node, end.node, &packet.data);
        let fate = match verdict {
            Verdict::Arrives(_) => Fate::Sent,
            Verdict::ArrivesTwice(..) => Fate::SentTwice,
            Verdict::Lost(loss) => Fate::Lost(loss),
        };
        self.trace.record(self.now, &packet, fate);
        self.dispatch(sender, end, packet, verdict);
    }

    /// Finds the link that a datagram is addressed to, translating an address outside a NAT.
    fn route(&mut self, packet: &Packet) -> Result<LinkEnd, Loss> {
        let outside = self.nats.values().find(|nat| nat.outside() == packet.to.ip());
        let to = match outside {
            Some(nat) => nat.translate_in(packet.from, packet.to.port()).ok_or(Loss::Nat)?,
            None => packet.to,
        };
        self.addresses.get(&to).copied().ok_or(Loss::NoRoute)
    }

    fn travel(&mut self, from: NodeId, to: NodeId, data: &[u8]) -> Verdict {
        if self.is_cut(from, to) {
            return Verdict::Lost(Loss::Partition);
        }
        if self.picker.as_mut().is_some_and(|picker| picker.picks(from, to, data)) {
            return Verdict::Lost(Loss::Picked);
        }
        let conditions = &self.default_conditions;
        let path = self.paths.entry((from, to)).or_insert_with(|| Path::new(conditions.clone()));
        path.send(self.now, data.len(), &mut *self.entropy)
    }

    fn dispatch(&mut self, sender: LinkEnd, end: LinkEnd, packet: Packet, verdict: Verdict) {
        let len = packet.data.len();
        let landing = |packet| Landing::Datagram { sender: Some(sender.node), end, packet };
        match verdict {
            Verdict::Arrives(at) => self.launch(at, landing(packet)),
            Verdict::ArrivesTwice(at, again) => {
                self.count(sender.node, end.node).duplicated.count(len);
                self.launch(at, landing(packet.clone()));
                self.launch(again, landing(packet));
            }
            Verdict::Lost(loss) => {
                self.count(sender.node, end.node).lost.count(len);
                if loss == Loss::TooBig && self.path(sender.node, end.node).conditions.report_too_big {
                    self.notify(sender, LinkEvent::TooBig { to: packet.to, len });
                }
            }
        }
    }
}
