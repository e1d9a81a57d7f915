//! RakNet in the frame loop of a game: 60 times a second both sides look at their sockets without waiting.
//!
//! The client tells its position in every frame, unreliably and sequenced: an old position is worth nothing once a newer
//! one is there. Now and then it says something, which must arrive, and in order.
//!
//! Run it with `cargo run -p examples --example raknet_frame_loop`.
#![allow(
    clippy::disallowed_methods,
    reason = "a frame loop is where the clock is read and frames are waited for"
)]
#![allow(clippy::wildcard_enum_match_arm, reason = "an application looks at the events that it is about")]

use proto_core::{Datagram, Flow, Instant, LinkRequest, Machine, Sink, StdClock, Transmit, pump};
use proto_raknet::{Channel, Config, ConnectOptions, Endpoint, Event, Message, PeerId, Reliability, SOCKET};
use std::{error::Error, io, net::UdpSocket, thread, time::Duration};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
const FRAMES: u32 = 60;

/// What the first byte of a message says about the rest.
const POSITION: u8 = 0xf0;
const CHAT: u8 = 0xf1;

/// One side's network, looked after once a frame.
struct Net {
    endpoint: Endpoint,
    socket: UdpSocket,
    inbox: Vec<u8>,
    scratch: Vec<u8>,
}

impl Net {
    fn bind(config: Config) -> Result<Self, Box<dyn Error>> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_nonblocking(true)?;
        let endpoint = Endpoint::new(config, seed)?;
        Ok(Self { endpoint, socket, inbox: vec![0; 65_535], scratch: Vec::new() })
    }

    /// Takes in what has arrived since the last frame.
    fn receive(&mut self, now: Instant) -> io::Result<()> {
        loop {
            match self.socket.recv_from(&mut self.inbox) {
                Ok((len, from)) => {
                    let data = self.inbox.get_mut(..len).unwrap_or_default();
                    self.endpoint.handle_datagram(now, Datagram::new(SOCKET, from, data));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The other side has closed its port already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends what this frame has to say, and returns what happened.
    fn send(&mut self, now: Instant) -> Vec<Event> {
        let mut output = Output { socket: &self.socket, events: Vec::new() };
        // The deadline does not matter: the next frame comes soon enough.
        let _ = pump(&mut self.endpoint, now, usize::MAX, &mut self.scratch, &mut output);
        output.events
    }
}

struct Output<'a> {
    socket: &'a UdpSocket,
    events: Vec<Event>,
}

impl Sink<Event> for Output<'_> {
    fn link(&mut self, _: LinkRequest) {
        // RakNet lives on the one socket that it was given.
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        if let Some(to) = transmit.to {
            // A datagram that cannot leave is a lost one: the machine sends again what matters.
            let _ = self.socket.send_to(bytes, to);
        }
        Flow::Sent
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// What the server knows of the player.
#[derive(Default)]
struct World {
    position: f32,
    positions: u32,
    chat: Vec<String>,
    left: bool,
}

impl World {
    fn on_event(&mut self, event: Event, endpoint: &mut Endpoint) {
        match event {
            Event::Readable { peer } => {
                while let Some(message) = endpoint.recv(peer) {
                    self.on_message(&message.payload);
                }
            }
            Event::Disconnected { unread, .. } => {
                unread.iter().for_each(|message| self.on_message(&message.payload));
                self.left = true;
            }
            _ => {}
        }
    }

    fn on_message(&mut self, payload: &[u8]) {
        match payload.split_first() {
            Some((&POSITION, rest)) => {
                if let Ok(bytes) = rest.try_into() {
                    self.position = f32::from_be_bytes(bytes);
                    self.positions += 1;
                }
            }
            Some((&CHAT, text)) => self.chat.push(String::from_utf8_lossy(text).into_owned()),
            Some(_) | None => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut server, mut client) = (Net::bind(Config::default())?, Net::bind(Config::client())?);
    let clock = StdClock::new(std::time::Instant::now());
    let now = || clock.to_machine(std::time::Instant::now());
    client.endpoint.connect(now(), server.socket.local_addr()?, ConnectOptions::default())?;

    let (mut world, mut player, mut frame) = (World::default(), None, 0);
    while !world.left {
        let started = std::time::Instant::now();
        client.receive(now())?;
        if let Some(peer) = player.filter(|_| frame < FRAMES) {
            play(&mut client.endpoint, now(), peer, frame)?;
            frame += 1;
            if frame == FRAMES {
                client.endpoint.disconnect(now(), peer);
            }
        }
        for event in client.send(now()) {
            match event {
                Event::Connected { peer, .. } => player = Some(peer),
                Event::ConnectFailed { reason, .. } => return Err(reason.into()),
                _ => {}
            }
        }

        server.receive(now())?;
        for event in server.send(now()) {
            world.on_event(event, &mut server.endpoint);
        }
        thread::sleep(FRAME.saturating_sub(started.elapsed()));
    }
    println!("{} positions, the last at {}", world.positions, world.position);
    println!("chat: {}", world.chat.join(" "));
    Ok(())
}

/// One frame of the player.
fn play(endpoint: &mut Endpoint, now: Instant, peer: PeerId, frame: u32) -> Result<(), Box<dyn Error>> {
    let mut position = vec![POSITION];
    position.extend((f32::from(u16::try_from(frame)?) * 0.5).to_be_bytes());
    let update = Message::new(position).reliability(Reliability::UnreliableSequenced);
    endpoint.send(now, peer, update)?;
    if frame.is_multiple_of(10) {
        let mut chat = vec![CHAT];
        chat.extend(format!("{}!", frame / 10).bytes());
        let channel = Channel::new(1).unwrap_or_default();
        endpoint.send(now, peer, Message::new(chat).channel(channel))?;
    }
    Ok(())
}
