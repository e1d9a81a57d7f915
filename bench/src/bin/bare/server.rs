//! The echo server: one endpoint, one socket.

use bench_peer::{Command, Fault, announce};
use mio::{Events, Poll, Token};
use proto_core::Instant;
use proto_raknet::{Endpoint, Event, Message};

use super::node::{Application, Node, now, seed, start_clock};
use super::socket::{Batch, Scratch, Socket};
use crate::settings::{Side, config};

pub(crate) fn run(command: &Command) -> Result<(), Fault> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1);
    let socket = Socket::bind(command.address, poll.registry(), Token(0))?;
    let address = socket.local_addr()?;
    let clock = start_clock();
    let endpoint = Endpoint::new(config(&command.load, Side::Server), seed()?)?;
    let mut node = Node::new(endpoint, socket, now(&clock))?;
    let mut scratch = Scratch::new();
    announce(address)?;
    loop {
        let time = now(&clock);
        let (batch, due) = node.turn(time, &mut scratch, &mut Echo)?;
        // Readiness is edge-triggered: waiting is safe only when the socket was emptied.
        if batch == Batch::Last {
            poll.poll(&mut events, due.map(|due| due.saturating_since(time)))?;
        }
    }
}

struct Echo;

impl Application for Echo {
    fn on_event(&mut self, endpoint: &mut Endpoint, now: Instant, event: Event) -> Result<(), Fault> {
        if let Event::Readable { peer } = event {
            while let Some(received) = endpoint.recv(peer) {
                endpoint.send(now, peer, Message::new(received.payload))?;
            }
        }
        Ok(())
    }
}
