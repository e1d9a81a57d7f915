//! The echo server: one endpoint, one socket.

use bench_peer::{Command, Fault, announce};
use proto_core::Instant;
use proto_raknet::{Endpoint, Event, Message};

use super::node::{Application, Node, now, seed, start_clock};
use super::socket::{Batch, Scratch, Socket};
use super::waiter::Waiter;
use crate::settings::{Side, config};

pub(crate) fn run(command: &Command) -> Result<(), Fault> {
    let mut waiter = Waiter::new()?;
    let socket = Socket::bind(command.address)?;
    waiter.watch(socket.inner(), 0)?;
    let address = socket.inner().local_addr()?;
    let clock = start_clock();
    let endpoint = Endpoint::new(config(&command.load, Side::Server), seed()?)?;
    let mut node = Node::new(endpoint, socket, now(&clock))?;
    let mut scratch = Scratch::new();
    announce(address)?;
    loop {
        let time = now(&clock);
        let (batch, due) = node.turn(time, &mut scratch, &mut Echo)?;
        if batch == Batch::Last {
            let _ = waiter.wait(due.map(|due| due.saturating_since(time)))?;
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
