//! Bare sockets without any protocol: what the kernel's loopback allows.
//!
//! `oneway-park` sends one byte and gets the message back, which is the ceiling that shares refer to; `oneway-spin` does the
//! same without ever sleeping; `echo-park` sends the whole message, which is the honest floor of a round trip. HTTP and
//! WebSocket, with and without TLS, stand for TCP here.

mod pipe;

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Gauge};
use pipe::{Door, Pipe, Wait};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let (trigger, wait) = match command.mode.as_str() {
        "oneway-park" => (1, Wait::Park),
        "oneway-spin" => (1, Wait::Spin),
        "echo-park" => (command.size, Wait::Park),
        mode => return Err(format!("unknown mode `{mode}`: oneway-park, oneway-spin, echo-park").into()),
    };
    let door = Door::open(command.scheme.is_datagram(), (Ipv4Addr::LOCALHOST, 0).into())?;
    let arena = Arena::with(door.address()?, Gauge::default());
    let size = command.size;
    // An error is the end of the answers, which the client notices.
    thread::spawn(move || answer(door, trigger, size, wait));
    let mut pipe = connect(&command, arena.address(), wait)?;
    let mut course = Course::begin(&command, &arena);
    let message = course.message();
    let mut answer = vec![0; size];
    while course.goes_on() {
        pipe.send(message.get(..trigger).unwrap_or(&message))?;
        pipe.receive(&mut answer)?;
        course.accept(&answer)?;
    }
    Ok(course.report().print()?)
}

/// The other end: waits for triggers and answers each with the message.
fn answer(door: Door, trigger: usize, size: usize, wait: Wait) -> Result<(), Fault> {
    let mut trigger = vec![0; trigger];
    let mut pipe = door.first(&mut trigger, wait)?;
    // Whatever the trigger brought is not looked at: the message is known.
    let message = Course::message_of(size);
    loop {
        pipe.send(&message)?;
        pipe.receive(&mut trigger)?;
    }
}

fn connect(command: &Command, peer: SocketAddr, wait: Wait) -> Result<Pipe, Fault> {
    Ok(Pipe::connect(command.scheme.is_datagram(), peer, wait)?)
}
