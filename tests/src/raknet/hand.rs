//! A client written by hand, which can do what no machine of ours would.

use netsim::NodeId;
use proto_core::{LinkId, Reader, U24};
use proto_raknet::{
    Channel, Guid, Reliability,
    wire::{
        Connected, ConnectionRequest, DataHeader, DatagramKind, DatagramNumber, Frame, InternalAddresses,
        NewIncomingConnection, Offline, OpenConnectionReply1, OpenConnectionReply2, OpenConnectionRequest1,
        OpenConnectionRequest2, Order, OrderingIndex, ProtocolVersion, ReliableIndex, SequencingIndex,
    },
};
use std::net::SocketAddr;

use super::{Net, ms};

/// A client that sends whatever it is told to, from an address of its own.
#[derive(Debug)]
pub struct Hand {
    /// Where it sends from.
    pub address: SocketAddr,
    /// Whom it speaks to.
    pub server: NodeId,
    /// Its identifier.
    pub guid: Guid,
    /// The number of its next datagram.
    pub next_datagram: u32,
    /// The number of its next reliable frame.
    pub next_reliable: u32,
    /// The order of its next ordered message.
    pub next_order: u32,
}

impl Hand {
    /// The MTU that it asks for.
    pub const MTU: u16 = 1_492;

    /// Creates a client at an address that belongs to no node.
    pub fn new(net: &mut Net, server: NodeId, address: SocketAddr) -> Self {
        net.open_mailbox(address);
        let guid = Guid(u64::from(address.port()) << 32 | 7);
        Self { address, server, guid, next_datagram: 0, next_reliable: 0, next_order: 0 }
    }

    /// Sends bytes.
    pub fn send(&self, net: &mut Net, datagram: impl Into<Vec<u8>>) {
        net.inject(self.server, LinkId(0), self.address, datagram);
        net.run_for(ms(0));
    }

    /// Takes the datagrams that came back after a while for the network.
    pub fn take(&self, net: &mut Net) -> Vec<Vec<u8>> {
        net.run_for(ms(1));
        net.take_mail(self.address).into_iter().map(|(_, data)| data).collect()
    }

    /// Sends an OpenConnectionRequest1 and returns the answer.
    pub fn request1(&self, net: &mut Net) -> Option<OpenConnectionReply1> {
        let datagram_len = usize::from(Self::MTU - 28);
        let mut request = Vec::new();
        OpenConnectionRequest1 { protocol: ProtocolVersion(11), datagram_len }.emit(&mut request);
        self.send(net, request);
        self.take(net).iter().find_map(|data| match Offline::classify(data, false) {
            Some(Ok(Offline::Reply1(reply))) => Some(reply),
            _ => None,
        })
    }

    /// Sends an OpenConnectionRequest2 with a cookie and returns the answer.
    pub fn request2(&self, net: &mut Net, cookie: Option<u32>) -> Option<OpenConnectionReply2> {
        self.send(net, self.request2_bytes(net, cookie));
        self.take(net).iter().find_map(|data| match Offline::classify(data, false) {
            Some(Ok(Offline::Reply2(reply))) => Some(reply),
            _ => None,
        })
    }

    /// Returns the bytes of an OpenConnectionRequest2.
    pub fn request2_bytes(&self, net: &Net, cookie: Option<u32>) -> Vec<u8> {
        let mut request = Vec::new();
        let server = net.address(self.server);
        OpenConnectionRequest2 { cookie, server, mtu: Self::MTU, guid: self.guid }.emit(&mut request);
        request
    }

    /// Goes through the offline handshake.
    ///
    /// # Panics
    /// When the server does not play along.
    pub fn open(&self, net: &mut Net) {
        let reply = self.request1(net).expect("a first reply");
        self.request2(net, reply.cookie).expect("a second reply");
    }

    /// Goes through the whole handshake.
    ///
    /// # Panics
    /// When the server does not play along.
    pub fn connect(&mut self, net: &mut Net) {
        self.open(net);
        let request = Connected::Request(ConnectionRequest { guid: self.guid, time: 1, password: b"" });
        self.send_control(net, &request, Reliability::Reliable);
        let accepted_time = self
            .take_messages(net)
            .iter()
            .find_map(|message| match Connected::classify(message) {
                Some(Ok(Connected::Accepted(accepted))) => Some(accepted.accepted_time),
                _ => None,
            })
            .expect("the request is accepted");
        let server = net.address(self.server);
        let internal = InternalAddresses::unassigned(20);
        let confirmation =
            Connected::NewIncoming(NewIncomingConnection { server, internal, accepted_time, time: 2 });
        self.send_control(net, &confirmation, Reliability::ReliableOrdered);
        self.take(net);
    }

    /// Sends a message that runs the session in a datagram of its own.
    pub fn send_control(&mut self, net: &mut Net, message: &Connected<'_>, reliability: Reliability) {
        let mut payload = Vec::new();
        message.emit(&mut payload);
        self.send_message(net, &payload, reliability);
    }

    /// Sends a message in a datagram of its own.
    pub fn send_message(&mut self, net: &mut Net, payload: &[u8], reliability: Reliability) {
        let mut frame = raw_frame(payload, reliability);
        if reliability.is_reliable() {
            frame.reliable = ReliableIndex(U24::new(self.next_reliable));
            self.next_reliable += 1;
        }
        if reliability.is_ordered() {
            frame.order = Order { index: OrderingIndex(U24::new(self.next_order)), channel: Channel::ZERO };
            self.next_order += 1;
        }
        self.send_frames(net, &[frame]);
    }

    /// Sends frames in one datagram with the next number.
    pub fn send_frames(&mut self, net: &mut Net, frames: &[Frame<'_>]) {
        let number = self.next_datagram;
        self.next_datagram += 1;
        self.send_numbered(net, number, frames);
    }

    /// Sends frames in one datagram with a number of choice.
    pub fn send_numbered(&self, net: &mut Net, number: u32, frames: &[Frame<'_>]) {
        let mut datagram = Vec::new();
        DataHeader { continuous_send: false, number: DatagramNumber(U24::new(number)) }.emit(&mut datagram);
        for frame in frames {
            frame.emit(&mut datagram);
        }
        self.send(net, datagram);
    }

    /// Takes the payloads of all unsplit frames that came back.
    pub fn take_messages(&self, net: &mut Net) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for datagram in self.take(net) {
            if datagram.first().copied().and_then(DatagramKind::of) != Some(DatagramKind::Data) {
                continue;
            }
            let mut r = Reader::new(&datagram);
            DataHeader::parse(&mut r).expect("our own datagrams are sound");
            while !r.is_empty() {
                let frame = Frame::parse(&mut r).expect("our own frames are sound");
                messages.push(frame.payload.to_vec());
            }
        }
        messages
    }
}

/// Returns an unsplit frame with every number zero.
pub fn raw_frame(payload: &[u8], reliability: Reliability) -> Frame<'_> {
    Frame {
        reliability,
        reliable: ReliableIndex::default(),
        sequencing: SequencingIndex::default(),
        order: Order { index: OrderingIndex::default(), channel: Channel::ZERO },
        split: None,
        payload,
    }
}
