//! Whole machines on the virtual network, with every decision read from the fuzzer's bytes.

use netsim::{ByteEntropy, Conditions, Entropy, Network, NodeId, Op};
use proto_raknet::{Channel, Config, ConnectOptions, Endpoint, Event, Message, PeerId, Reliability, SOCKET};
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

const MAX_OPS: usize = 200;
/// Steps of up to 16 seconds, in microseconds: longer than the timeout of a session, short enough to run many.
const LONGEST_STEP_BITS: u8 = 24;
const STRANGER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9)), 9);

/// An endpoint with a session, fed datagrams from its peer's address and from a stranger's. However hostile they
/// are, it neither panics nor grows, and its peer's true messages still arrive unless the session ended.
pub fn endpoint(data: &[u8]) {
    let mut bytes = ByteEntropy::new(data);
    let mut scene = Scene::connected(ByteEntropy::new([]));
    let from = scene.net.address(scene.nodes[0]);
    for _ in 0..MAX_OPS {
        if bytes.is_exhausted() {
            break;
        }
        let choice = bytes.byte();
        if choice >= 0xe0 {
            scene
                .net
                .run_for(Duration::from_micros(bytes.below(1 << (choice & 0x1f).min(LONGEST_STEP_BITS))));
        } else {
            let len = usize::from(bytes.byte()) + 1;
            let mut datagram = vec![0; len];
            bytes.fill(&mut datagram);
            if choice & 1 == 0 {
                datagram[0] = [0x84, 0x8c, 0xc0, 0xa0][usize::from(choice >> 1 & 3)];
            }
            let from = if choice & 0x18 == 0x18 { STRANGER } else { from };
            scene.net.inject(scene.nodes[1], SOCKET, from, datagram);
            scene.net.run_for(Duration::ZERO);
        }
        scene.read();
    }
    let stats = scene.net.node(scene.nodes[1]).machine.stats();
    assert!(stats.peers <= 2, "no state is kept for whom did not prove an address");
}

/// Two endpoints with a session that talk over a bad network. No message arrives twice, changed or out of order, and
/// if the session lives to the end, all that must arrive does.
pub fn pair(data: &[u8]) {
    let (ops, chance) = data.split_at(data.len() / 2);
    let mut scene = Scene::connected(ByteEntropy::new(chance));
    scene.net.set_paths(&Conditions {
        duplication: 0.1,
        reorder: 0.1,
        ..Conditions::lossy(Duration::from_millis(20), 0.1)
    });
    let addresses = scene.nodes.map(|node| scene.net.address(node));
    let ops = Op::decode(&mut ByteEntropy::new(ops), &addresses, MAX_OPS, Say::decode);
    let mut said = Vec::new();
    let mut forged = false;
    for op in &ops {
        forged |= matches!(op, Op::Inject { .. });
        let peers = scene.peers;
        scene.net.apply(op, |net, node, say| {
            let number = u32::try_from(said.len()).unwrap();
            let peer = peers[node.0];
            if net.command(node, |machine, now| machine.send(now, peer, say.message(number))).is_ok() {
                said.push((node, *say));
            }
        });
        scene.read();
    }
    scene.net.apply(&Op::<Say>::HealAll, |_, _, _| {});
    for _ in 0..120 {
        scene.net.run_for(Duration::from_millis(500));
        scene.read();
    }
    // Whoever can forge datagrams from the peer's address can forge messages as well.
    if !forged {
        scene.check(&said);
    }
}

/// A message that somebody says.
#[derive(Clone, Copy, Debug)]
struct Say {
    reliability: Reliability,
    channel: u8,
    len: usize,
}

impl Say {
    fn decode(bytes: &mut ByteEntropy) -> Option<Self> {
        let kind = bytes.byte();
        let len = usize::from(bytes.byte()) << (kind >> 5);
        Some(Self { reliability: Reliability::ALL[usize::from(kind & 7)], channel: kind >> 3 & 3, len })
    }

    fn message(self, number: u32) -> Message {
        let mut payload = vec![0xfe];
        payload.extend(number.to_be_bytes());
        payload.resize(5 + self.len, number.to_le_bytes()[0]);
        let channel = Channel::new(self.channel).unwrap();
        Message::new(payload).reliability(self.reliability).channel(channel)
    }
}

/// Two nodes with a session between them, and what each has received.
struct Scene {
    net: Network<Endpoint>,
    nodes: [NodeId; 2],
    peers: [PeerId; 2],
    received: [Vec<Vec<u8>>; 2],
    ended: bool,
}

impl Scene {
    fn connected(chance: ByteEntropy) -> Self {
        let mut net = Network::with_entropy(chance);
        let client = net.add_node(Endpoint::new(Config::client(), [1; 32]).unwrap());
        let server = net.add_node(Endpoint::new(Config::default(), [2; 32]).unwrap());
        net.trace_mut().set_limit(0);
        let to = net.address(server);
        net.command(client, |client, now| client.connect(now, to, ConnectOptions::default())).unwrap();
        net.run_for(Duration::from_millis(10));
        let peers = [client, server].map(|node| {
            let connected = net.take_events(node).into_iter().find_map(|event| match event {
                Event::Connected { peer, .. } => Some(peer),
                _ => None,
            });
            connected.expect("the session is established")
        });
        Self { net, nodes: [client, server], peers, received: Default::default(), ended: false }
    }

    fn read(&mut self) {
        for at in 0..2 {
            for event in self.net.take_events(self.nodes[at]) {
                if let Event::Disconnected { unread, .. } = event {
                    self.ended = true;
                    self.received[at].extend(unread.into_iter().map(|message| message.payload.to_vec()));
                }
            }
            let machine = &mut self.net.node_mut(self.nodes[at]).machine;
            while let Some(message) = machine.recv(self.peers[at]) {
                self.received[at].push(message.payload.to_vec());
            }
            self.net.service(self.nodes[at]);
        }
    }

    fn check(&self, said: &[(NodeId, Say)]) {
        for (at, received) in self.received.iter().enumerate() {
            let numbers: Vec<u32> = received
                .iter()
                .map(|payload| {
                    let number = u32::from_be_bytes(payload[1..5].try_into().unwrap());
                    let (from, say) = said[number as usize];
                    assert!(from != self.nodes[at], "message {number} came back to its sender");
                    assert_eq!(payload, &say.message(number).payload, "message {number} arrived changed");
                    number
                })
                .collect();
            let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
            assert_eq!(distinct.len(), numbers.len(), "a message arrived twice: {numbers:?}");
            for channel in 0..4 {
                let of_channel = numbers.iter().filter(|&&n| {
                    let say = said[n as usize].1;
                    say.reliability.has_channel() && say.channel == channel
                });
                assert!(of_channel.is_sorted(), "channel {channel} is out of order: {numbers:?}");
            }
            for (number, (from, say)) in (0..).zip(said) {
                let must = say.reliability.is_reliable() && !say.reliability.is_sequenced();
                let here = *from == self.nodes[at] || distinct.contains(&number);
                assert!(self.ended || !must || here, "message {number} is missing");
            }
        }
    }
}
