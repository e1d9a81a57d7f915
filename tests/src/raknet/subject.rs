//! RakNet as a subject of the law suite.

use netsim::laws::{Subject, SubjectLink};
use proto_core::{Instant, LinkEvent, LinkId, Machine, Rng};
use proto_raknet::{
    Channel, Config, ConnectOptions, Endpoint, Message, PeerId, Priority, Reliability, SOCKET, limits,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::{Net, Pair, Party, endpoint, ms, numbered};

/// An endpoint in one of the states that the laws are checked in.
///
/// What its peer sends is captured from a real conversation: [`build`](Subject::build) brings the machine to the
/// state in which the capture begins to make sense, and machines being deterministic, it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointSubject {
    /// A server that has not been spoken to. The datagrams are those of a client from its first ping on.
    Server,
    /// A client that has just begun to connect. The datagrams are the server's from its first reply on.
    Client,
    /// The same, on a socket that it asked for.
    ClientApart,
    /// A server with an established session. The datagrams are the client's after the handshake.
    Connected,
}

impl EndpointSubject {
    const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 19_132);
    const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 19_132);

    /// The first socket that an endpoint asks for.
    const APART: LinkId = LinkId(1);

    fn is_client(self) -> bool {
        matches!(self, Self::Client | Self::ClientApart)
    }

    fn config(self) -> Config {
        let mut config = if self.is_client() { Config::client() } else { Config::default() };
        config.session.split_progress = true;
        config.session.unreliable_queue_bytes = 10_000;
        config.session.reliable_queue_bytes = 100_000;
        config.session.receive_queue_bytes = 100_000;
        config
    }

    /// Builds a network with the machine under test at its place and a peer that `seed` also determines, and lets
    /// them connect and talk.
    fn conversation(self, seed: [u8; 32]) -> Conversation {
        let mut net = Net::with_entropy(Rng::new(seed));
        let tested = endpoint(self.config(), seed);
        let is_client = self.is_client();
        let first = if is_client { endpoint(Config::default(), [7; 32]) } else { tested };
        let server = net.add_bare_node(first);
        net.add_udp(server, SOCKET, Self::SERVER);
        let second =
            if is_client { endpoint(self.config(), seed) } else { endpoint(Config::client(), [8; 32]) };
        let client = net.add_bare_node(second);
        net.add_udp(client, SOCKET, Self::CLIENT);
        let mut pair = Pair { client: Party::new(client), server: Party::new(server) };
        if !is_client {
            let to = Self::SERVER;
            net.command(client, |client, now| client.ping(now, to, false)).expect("there is room");
        }
        pair.establish(&mut net, ConnectOptions::default());
        pair.run_for(&mut net, ms(1));
        Conversation { net, pair }
    }

    fn sent_by_peer(self, net: &Net) -> Vec<Vec<u8>> {
        let datagrams = net.trace().datagrams().filter(|record| record.from == self.peer());
        datagrams.map(|record| record.data.clone()).collect()
    }
}

struct Conversation {
    net: Net,
    pair: Pair,
}

impl Conversation {
    /// Lets both sides say something in every mode.
    fn talk(&mut self) {
        for mode in Reliability::ALL {
            for (number, len) in [(1, 5), (2, 700), (3, 4_000)] {
                let channel = Channel::new(mode as u8).expect("below 32");
                let message = || numbered(number, len).reliability(mode).channel(channel);
                self.pair.client_sends(&mut self.net, [message()]);
                self.pair.server_sends(&mut self.net, [message()]);
            }
        }
        self.pair.run_for(&mut self.net, ms(500));
        let session = self.pair.to_server();
        self.pair.client.disconnect(&mut self.net, session);
        self.pair.run_for(&mut self.net, ms(500));
    }
}

impl Subject for EndpointSubject {
    type Machine = Endpoint;

    fn build(&self, seed: [u8; 32]) -> Endpoint {
        if *self == Self::Connected {
            let Conversation { mut net, pair } = self.conversation(seed);
            let spare = endpoint(Config::client(), [0; 32]);
            return std::mem::replace(&mut net.node_mut(pair.server.node).machine, spare);
        }
        let mut machine = endpoint(self.config(), seed);
        let (now, to, options) = (self.start(), self.peer(), ConnectOptions::default());
        let up = LinkEvent::Up { local: None, peer: None };
        if *self == Self::ClientApart {
            machine.connect_apart(now, to, Self::CLIENT, options).expect("the attempt begins");
            while machine.poll_link().is_some() {}
            machine.handle_link(now, Self::APART, up);
            return machine;
        }
        machine.handle_link(now, SOCKET, up);
        if *self == Self::Client {
            machine.connect(now, to, options).expect("the attempt begins");
        }
        machine
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Datagrams(if *self == Self::ClientApart { Self::APART } else { SOCKET })]
    }

    fn datagrams(&self, seed: [u8; 32]) -> Vec<Vec<u8>> {
        let mut conversation = self.conversation(seed);
        if *self == Self::Connected {
            conversation.net.trace_mut().clear();
        }
        conversation.talk();
        self.sent_by_peer(&conversation.net)
    }

    fn command(&self, machine: &mut Endpoint, now: Instant, rng: &mut Rng) {
        let peer = first_peer();
        // Refusals are expected: the machine may be in any state.
        match rng.below(40) {
            0 if *self == Self::ClientApart => {
                let _ = machine.connect_apart(now, self.peer(), Self::CLIENT, ConnectOptions::default());
            }
            0 => {
                let _ = machine.connect(now, self.peer(), ConnectOptions::default());
            }
            1 => {
                let _ = machine.ping(now, self.peer(), rng.chance(0.5));
            }
            2 => {
                let _ = machine.send_out_of_band(self.peer(), b"hello");
            }
            3 => machine.ban(now, self.peer().ip(), Some(ms(rng.below(1_000)))),
            4 => machine.disconnect(now, peer),
            5 => machine.abort(now, peer),
            6..10 => while machine.recv(peer).is_some() {},
            10..12 => machine.flush(now, peer),
            12..20 => {
                machine.broadcast(now, &some_message(rng), None);
            }
            _ => {
                let _ = machine.send(now, peer, some_message(rng));
            }
        }
    }

    fn event_limit(&self) -> usize {
        // Offline events, and those of sessions: receipts and the few others of each.
        limits::MAX_OFFLINE_EVENTS + 2 * limits::MAX_RECEIPTS
    }

    fn start(&self) -> Instant {
        // Where a network's clock begins, and a moment for the captured handshake.
        Instant::from_millis(1_000_000) + ms(10)
    }

    fn peer(&self) -> SocketAddr {
        if self.is_client() { Self::SERVER } else { Self::CLIENT }
    }

    fn dropped_events(&self, machine: &Endpoint) -> Option<u64> {
        Some(machine.stats().drops.events_full)
    }
}

/// Returns the name that an endpoint gives its first peer, whoever that is.
fn first_peer() -> PeerId {
    let mut other = endpoint(Config::client(), [0; 32]);
    other
        .connect(Instant::ZERO, EndpointSubject::SERVER, ConnectOptions::default())
        .expect("the attempt begins")
}

fn some_message(rng: &mut Rng) -> Message {
    let len = if rng.chance(0.1) { rng.below(20_000) } else { rng.below(1_500) };
    let mode = Reliability::ALL[rng.below(8) as usize];
    let channel = Channel::new(rng.below(32) as u8).expect("below 32");
    let priority = Priority::ALL[rng.below(4) as usize];
    numbered(rng.next_u32(), len as usize).reliability(mode).channel(channel).priority(priority)
}
