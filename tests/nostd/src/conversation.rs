//! Two endpoints and the wire between them, driven as a microcontroller's main loop would.

use alloc::{vec, vec::Vec};
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Datagram, Instant, Machine};
use proto_raknet::{Config, ConnectOptions, Endpoint, Event, PeerId, SOCKET};

/// Rounds of the loop, a millisecond each, before it is given up.
const PATIENCE: u32 = 100_000;

/// A server that echoes and a client.
pub struct Conversation {
    ends: [Endpoint; 2],
    addresses: [SocketAddr; 2],
    session: Option<PeerId>,
    returned: u32,
    now: Instant,
    scratch: Vec<u8>,
}

impl Conversation {
    /// Begins to connect; `None` if a configuration is invalid.
    pub fn new() -> Option<Self> {
        let addresses = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 19_132)));
        let server = Endpoint::new(Config::default(), [1; 32]).ok()?;
        let mut client = Endpoint::new(Config::client(), [2; 32]).ok()?;
        let now = Instant::from_millis(1);
        client.connect(now, addresses[0], ConnectOptions::default()).ok()?;
        let ends = [server, client];
        Some(Self { ends, addresses, session: None, returned: 0, now, scratch: Vec::new() })
    }

    /// Sends messages one after the other and returns how many came back unchanged.
    pub fn echo(&mut self, messages: u32) -> u32 {
        let mut sent = 0;
        for _ in 0..PATIENCE {
            if self.returned == messages {
                break;
            }
            if let Some(session) = self.session.filter(|_| sent == self.returned)
                && self.ends[1].send(self.now, session, message(sent)).is_ok()
            {
                sent += 1;
            }
            self.turn();
        }
        self.returned
    }

    fn turn(&mut self) {
        for end in 0..2 {
            if self.ends[end].poll_timeout().is_some_and(|due| due <= self.now) {
                self.ends[end].handle_timeout(self.now);
            }
            self.answer(end);
            self.carry(end);
        }
        self.now += Duration::from_millis(1);
    }

    fn answer(&mut self, end: usize) {
        while let Some(event) = self.ends[end].poll_event() {
            match event {
                Event::Connected { peer, .. } if end == 1 => self.session = Some(peer),
                Event::Readable { peer } => self.read(end, peer),
                _ => {}
            }
        }
    }

    fn read(&mut self, end: usize, peer: PeerId) {
        while let Some(received) = self.ends[end].recv(peer) {
            if end == 0 {
                // A refused echo shows in the count of those that returned.
                let _ = self.ends[end].send(self.now, peer, received.payload);
            } else if received.payload == message(self.returned) {
                self.returned += 1;
            }
        }
    }

    fn carry(&mut self, from: usize) {
        loop {
            self.scratch.clear();
            let transmit = self.ends[from].poll_transmit(self.now, NonZeroUsize::MIN, &mut self.scratch);
            if transmit.is_none() {
                return;
            }
            let datagram = Datagram::new(SOCKET, self.addresses[from], &mut self.scratch);
            self.ends[1 - from].handle_datagram(self.now, datagram);
        }
    }
}

fn message(number: u32) -> Vec<u8> {
    let mut payload = vec![0xfe; 100];
    payload.extend(number.to_be_bytes());
    payload
}
