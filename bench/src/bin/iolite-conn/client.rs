//! The client.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Scheme, groups};
use bytes::Bytes;
use runtime_blocking::conn::{Connection, Message, Method, Payload};

use crate::{echo, settings};

/// Exchanges messages and reports.
pub(crate) fn run(command: &Command) -> Result<(), Fault> {
    let arena = match command.peer {
        None if command.mode != settings::LEAN => echo::spawn(command)?,
        Some(_) | None => Arena::open(command)?,
    };
    let payload = Payload::from(Bytes::from_owner(Course::message_of(command.size)));
    let scheme = command.scheme;
    let message = move || {
        let payload = payload.clone();
        match scheme {
            Scheme::Http | Scheme::Https => Message::request(Method::Post, "", payload),
            Scheme::Ws | Scheme::Wss => Message::binary(payload),
            Scheme::Udp | Scheme::UdpMulticast => Message::datagram(payload),
        }
    };
    if scheme == Scheme::UdpMulticast {
        return exchange_by_groups(command, &arena, message);
    }
    let mut connection = open(command, &format!("{scheme}://{}{}", arena.address(), path(scheme)))?;
    let mut course = Course::begin(command, &arena);
    while course.goes_on() {
        let answer = connection.request(message(), None)?;
        course.accept(&answer.body)?;
        connection.recycle(answer);
    }
    Ok(course.report().print()?)
}

/// A group that one sends to is a group that one hears, oneself included: what comes back is heard in another one.
fn exchange_by_groups(command: &Command, arena: &Arena, message: impl Fn() -> Message) -> Result<(), Fault> {
    let port = arena.address().port();
    let mut requests = open(command, &format!("udp_multicast://{}:{port}", groups::REQUESTS))?;
    let mut answers = open(command, &format!("udp_multicast://{}:{port}", groups::ANSWERS))?;
    let mut course = Course::begin(command, arena);
    while course.goes_on() {
        requests.send(message())?;
        let answer = answers.recv(None)?;
        course.accept(&answer.body)?;
        answers.recycle(answer);
    }
    Ok(course.report().print()?)
}

fn open(command: &Command, url: &str) -> Result<Connection, Fault> {
    let mut connection = Connection::open(url, settings::options(command)?)?;
    connection.set_receive_mode(settings::mode(command)?);
    connection.connect(None)?;
    Ok(connection)
}

fn path(scheme: Scheme) -> &'static str {
    if scheme.is_datagram() { "" } else { "/echo" }
}
