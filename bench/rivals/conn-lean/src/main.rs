//! Framing and nothing else on blocking sockets: the lean client, and the lean peer as a process of its own.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Role, lean};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Server => lean::serve(&command),
        Role::Client => client(&command),
    }
}

fn client(command: &Command) -> Result<(), Fault> {
    let arena = Arena::open(command)?;
    let mut client = lean::Client::connect(command, &arena)?;
    let mut course = Course::begin(command, &arena);
    let message = course.message();
    while course.goes_on() {
        course.accept(client.exchange(&message)?)?;
    }
    Ok(course.report().print()?)
}
