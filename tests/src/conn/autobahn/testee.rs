//! Our client as Autobahn wants it: it gives messages back until the suite has seen enough.

use runtime_blocking::conn::{
    Code, Connection, Event, Kind, Message, Options,
    ws::{Config, Deflate},
};
use std::{collections::VecDeque, time::Duration};

use super::AGENT;
use crate::peers::patience::PATIENCE;

/// Goes through all cases that the suite at `url` has, and has it write its report.
///
/// # Panics
/// The suite is gone.
pub(super) fn run_all(url: &str) {
    let count = case_count(url);
    for case in 1..=count {
        echo(&format!("{url}/runCase?case={case}&agent={AGENT}"));
    }
    echo(&format!("{url}/updateReports?agent={AGENT}"));
}

fn case_count(url: &str) -> u32 {
    let mut connection = open(&format!("{url}/getCaseCount"));
    connection.connect(Some(PATIENCE)).expect("the suite listens");
    let count = connection.recv(Some(PATIENCE)).expect("a number of cases");
    // The suite closes it, in order.
    while connection.event(Some(PATIENCE)).is_ok_and(|event| event.is_some()) {}
    count.body.as_str().and_then(|text| text.parse().ok()).expect("a number")
}

/// Gives messages back to the end of the connection.
fn echo(url: &str) {
    let mut connection = open(url);
    let mut owed: VecDeque<Message> = VecDeque::new();
    connection.begin().expect("a fresh connection");
    loop {
        let event = connection.event(Some(LONGEST_SILENCE)).expect("a working driver");
        match event.unwrap_or_else(|| panic!("{url}: nothing happens")) {
            Event::Message(message) if matches!(message.kind, Kind::Text | Kind::Binary) => {
                owed.push_back(message);
            }
            Event::Closed(_) => return,
            _ => {}
        }
        send_owed(&mut connection, &mut owed);
    }
}

fn send_owed(connection: &mut Connection, owed: &mut VecDeque<Message>) {
    while let Some(message) = owed.front() {
        match connection.send(message.clone()) {
            Err(error) if error.code == Code::WouldBlock => return,
            // A suite that closes wants no answers any more.
            Ok(_) | Err(_) => connection.recycle(owed.pop_front().unwrap_or_default()),
        }
    }
}

fn open(url: &str) -> Connection {
    let ws = Config {
        deflate: Some(Deflate::default()),
        // The suite cuts four megabytes into pieces of 64 bytes.
        max_fragments: 1 << 17,
        ..Config::default()
    };
    Connection::open(url, Options { ws, ..Options::default() }).expect("a good URL")
}

/// Cases of 16 megabytes take the suite, which is not fast, their time.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
