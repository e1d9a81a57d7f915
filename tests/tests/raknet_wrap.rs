//! A session outlives the wrap of its 24-bit counters, which a busy one reaches within hours.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use proto_core::{Datagram, Instant, Machine};
use proto_raknet::{Config, Congestion, ConnectOptions, Endpoint, Event, Message, PeerId, SOCKET};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tests::raknet::{endpoint, ms, segments};

/// More messages than there are numbers, each in a datagram of its own, so that the numbers of datagrams, of reliable
/// frames and of ordered messages wrap together.
const MESSAGES: u32 = (1 << 24) + 10_000;

/// Messages between two looks at the other side.
const BURST: u32 = 64;

#[test]
fn every_counter_wraps_without_a_message_lost_doubled_or_out_of_order() {
    let mut line = Line::connected();
    let mut expected = 0;
    for first in (0..MESSAGES).step_by(BURST as usize) {
        for number in first..first + BURST {
            let message = Message::new(payload_of(number).to_vec());
            line.client.send(line.now, line.session, message).unwrap();
            // One datagram in 1,000 is lost, so that resends cross the wrap as well.
            line.carry_to_server(number % 1_000 == 999);
        }
        line.now += ms(1);
        line.carry_to_client();
        line.wake();
        expected += line.read(expected);
    }
    for _ in 0..1_000 {
        line.now += ms(1);
        line.wake();
        line.carry_to_server(false);
        line.carry_to_client();
        expected += line.read(expected);
    }
    assert_eq!(expected, MESSAGES.next_multiple_of(BURST));
    let totals = line.client.peer_stats(line.session).unwrap().totals;
    assert!(totals.data_datagrams_sent > 1 << 24, "the datagrams' numbers have wrapped too");
}

/// A client and a server next to each other.
struct Line {
    client: Endpoint,
    server: Endpoint,
    session: PeerId,
    reader: PeerId,
    now: Instant,
    buf: Vec<u8>,
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);

impl Line {
    fn connected() -> Self {
        let mut config = Config::client();
        config.session.congestion = Congestion::Fixed(usize::MAX);
        config.session.pacing = false;
        let mut client = endpoint(config, [1; 32]);
        let now = Instant::from_millis(1);
        let session = client.connect(now, SERVER, ConnectOptions::default()).unwrap();
        let server = endpoint(Config::default(), [2; 32]);
        let mut line = Self { client, server, session, reader: session, now, buf: Vec::new() };
        for _ in 0..10 {
            line.carry_to_server(false);
            line.carry_to_client();
            line.now += ms(1);
        }
        let connected = std::iter::from_fn(|| line.server.poll_event()).find_map(|event| match event {
            Event::Connected { peer, .. } => Some(peer),
            _ => None,
        });
        line.reader = connected.expect("the session is established");
        line
    }

    fn carry_to_server(&mut self, loses: bool) {
        carry(&mut self.client, &mut self.server, CLIENT, self.now, &mut self.buf, loses);
    }

    fn carry_to_client(&mut self) {
        carry(&mut self.server, &mut self.client, SERVER, self.now, &mut self.buf, false);
    }

    fn wake(&mut self) {
        for machine in [&mut self.client, &mut self.server] {
            if machine.poll_timeout().is_some_and(|due| due <= self.now) {
                machine.handle_timeout(self.now);
            }
            while machine.poll_event().is_some() {}
        }
    }

    /// Reads what has arrived and returns how many messages that were; each must be the next one.
    fn read(&mut self, mut expected: u32) -> u32 {
        let before = expected;
        while let Some(message) = self.server.recv(self.reader) {
            assert_eq!(message.payload[..], payload_of(expected));
            expected += 1;
        }
        expected - before
    }
}

fn payload_of(number: u32) -> [u8; 5] {
    let [a, b, c, d] = number.to_be_bytes();
    [0xfe, a, b, c, d]
}

fn carry(
    from: &mut Endpoint,
    to: &mut Endpoint,
    address: SocketAddr,
    now: Instant,
    buf: &mut Vec<u8>,
    loses: bool,
) {
    loop {
        buf.clear();
        let Some(transmit) = from.poll_transmit(now, segments(16), buf) else { return };
        if !loses {
            for data in buf.chunks_mut(transmit.segment_len()) {
                to.handle_datagram(now, Datagram::new(SOCKET, address, data));
            }
        }
    }
}
