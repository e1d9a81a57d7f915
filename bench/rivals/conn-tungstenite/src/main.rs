//! tungstenite on a blocking socket, with rustls where the scheme is secure.

use std::io::{Read, Write};
use std::net::TcpStream;

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use rustls::{ClientConnection, StreamOwned};
use tungstenite::{Bytes, Message};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let arena = Arena::open(&command)?;
    let socket = TcpStream::connect(arena.address())?;
    socket.set_nodelay(true)?;
    if command.scheme.is_secure() {
        let session = ClientConnection::new(Identity::of(&command)?.client()?, Identity::server_name()?)?;
        run(StreamOwned::new(session, socket), &command, &arena)
    } else {
        run(socket, &command, &arena)
    }
}

fn run<S: Read + Write>(stream: S, command: &Command, arena: &Arena) -> Result<(), Fault> {
    let url = format!("{}://{}/echo", command.scheme, Identity::HOST);
    let (mut socket, _) = tungstenite::client(url, stream).map_err(|error| error.to_string())?;
    let mut course = Course::begin(command, arena);
    let message = Bytes::from_owner(course.message());
    while course.goes_on() {
        socket.send(Message::Binary(message.clone()))?;
        let Message::Binary(echo) = socket.read()? else { return Err("no binary message came back".into()) };
        course.accept(&echo)?;
    }
    Ok(course.report().print()?)
}
