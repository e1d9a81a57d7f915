//! An HTTP client and a server, and a WebSocket between them, joined by hand.

use alloc::vec::Vec;
use core::{net::SocketAddr, num::NonZeroUsize};
use proto_conn::{
    Message, Method, Url,
    client::{self, Connection, Options},
    http::BodyKind,
    server::{self, Config, Server},
};
use proto_core::{Instant, LinkEvent, LinkId, Machine};

/// A client and a server whose links are one stream.
pub(crate) struct Exchange {
    client: Connection,
    server: Server,
}

const NOW: Instant = Instant::from_millis(1);
const CLIENTS: LinkId = LinkId(0);
const SERVERS: LinkId = LinkId::FIRST_ACCEPTED;

impl Exchange {
    pub(crate) fn new(url: &str) -> Option<Self> {
        let mut client = Connection::new(Url::parse(url).ok()?, Options::default(), [1; 32]).ok()?;
        let mut server = Server::new(Config::default(), [2; 32]).ok()?;
        let listener = server.listen(SocketAddr::from(([0, 0, 0, 0], 80)));
        client.open(NOW).ok()?;
        client.handle_link(NOW, CLIENTS, LinkEvent::Up { local: None, peer: None });
        server.handle_link(NOW, listener, LinkEvent::Up { local: None, peer: None });
        server.handle_link(NOW, SERVERS, LinkEvent::Accepted { listener, peer: None });
        Some(Self { client, server })
    }

    /// Sends messages of so many bytes, and says how many came back as they were.
    pub(crate) fn echo(&mut self, count: u32, len: usize) -> u32 {
        let is_http = self.client.url().scheme.is_http();
        let mut back = 0;
        for n in 0..count {
            let body = alloc::vec![n.to_le_bytes()[0]; len];
            let message =
                if is_http { Message::request(Method::Post, "/", body) } else { Message::binary(body) };
            if self.client.send(NOW, message).is_err() {
                break;
            }
            self.settle(|message| {
                let is_same =
                    message.body.len() == len && message.body.iter().all(|byte| *byte == n.to_le_bytes()[0]);
                back += u32::from(is_same);
            });
        }
        back
    }

    /// Carries bytes until nobody has more.
    fn settle(&mut self, mut heard: impl FnMut(&Message)) {
        loop {
            let to_server = sent(&mut self.client);
            let to_client = sent(&mut self.server);
            if to_server.is_empty() && to_client.is_empty() {
                break;
            }
            give(&mut self.server, SERVERS, to_server);
            give(&mut self.client, CLIENTS, to_client);
            while let Some(event) = self.server.poll_event() {
                match event {
                    server::Event::Request { peer, message } => {
                        let answer = Message::response(200, message.body.clone());
                        // The peer is there: it has just asked.
                        let _ = self.server.respond(NOW, peer, &answer, BodyKind::Whole);
                        self.server.recycle(peer, message);
                    }
                    server::Event::Message { peer, message } => {
                        let _ = self.server.send(NOW, peer, &message);
                    }
                    _ => {}
                }
            }
            while let Some(event) = self.client.poll_event() {
                if let client::Event::Message(message) = event {
                    heard(&message);
                    self.client.recycle(message);
                }
            }
        }
    }
}

fn sent(machine: &mut impl Machine) -> Vec<u8> {
    let (mut bytes, mut pieces) = (Vec::new(), Vec::new());
    while machine.poll_link().is_some() {}
    while machine.poll_transmit(NOW, NonZeroUsize::MIN, &mut bytes).is_some() {
        machine.poll_gather(&mut pieces);
        pieces.drain(..).for_each(|piece| bytes.extend_from_slice(&piece));
    }
    bytes
}

fn give(machine: &mut impl Machine, link: LinkId, mut bytes: Vec<u8>) {
    if !bytes.is_empty() {
        machine.handle_stream(NOW, link, &mut bytes);
    }
}
