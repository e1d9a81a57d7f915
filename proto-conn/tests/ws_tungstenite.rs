//! Frames, good and bad, mean the same to tungstenite and to us.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use std::io::{self, Read, Write};

use proptest::prelude::*;
use proto_conn::{
    Kind,
    ws::{Config, Event, Role, handshake::Agreed},
};
use tungstenite::{Message, WebSocket, protocol};
use ws_support::{BINARY, FIN, Feed, PING, PONG, TEXT, frame_to, listen};

/// A stream that has these bytes to read, and loses what is written.
struct Stream<'a>(&'a [u8]);

impl Read for Stream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.read(buf) }
    }
}

impl Write for Stream<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was received, and whether a rule was broken then.
type Understood = (Vec<(Kind, Vec<u8>)>, bool);

fn theirs(role: Role, input: &[u8]) -> Understood {
    let role = match role {
        Role::Client => protocol::Role::Client,
        Role::Server => protocol::Role::Server,
    };
    let mut socket = WebSocket::from_raw_socket(Stream(input), role, None);
    let mut received = vec![];
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => received.push((Kind::Text, text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => received.push((Kind::Binary, bytes.to_vec())),
            Ok(Message::Ping(bytes)) => received.push((Kind::Ping, bytes.to_vec())),
            Ok(Message::Pong(bytes)) => received.push((Kind::Pong, bytes.to_vec())),
            Ok(other) => panic!("{other:?}"),
            Err(tungstenite::Error::Io(_)) => return (received, false),
            Err(_) => return (received, true),
        }
    }
}

fn ours(role: Role, input: &[u8]) -> Understood {
    let config = Config { deliver_control: true, ..ws_support::config() };
    let events = listen(role, &config, &Agreed::default(), input, Feed::Random(1)).events;
    let failed = events.iter().any(|event| matches!(event, Event::Failed(_)));
    let messages = events.into_iter().filter_map(|event| match event {
        Event::Message(message) => Some((message.kind, message.body.to_vec())),
        _ => None,
    });
    (messages.collect(), failed)
}

fn any_frame() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let first = prop_oneof![
        6 => Just(FIN | TEXT),
        6 => Just(FIN | BINARY),
        3 => Just(TEXT),
        3 => Just(BINARY),
        3 => Just(0),
        6 => Just(FIN),
        3 => Just(FIN | PING),
        2 => Just(FIN | PONG),
        // Closing is compared elsewhere: tungstenite takes some codes that RFC 6455 leaves open.
        1 => any::<u8>().prop_map(|first| if first & 0x0f == ws_support::CLOSE { first | 1 } else { first }),
    ];
    let payload = prop_oneof![
        8 => "[a-z\u{e9}\u{20ac}\u{1f600}]{0,60}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..130),
        1 => (0..70_000_usize).prop_map(|len| vec![b'x'; len]),
    ];
    (first, payload)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn both_understand_the_same(frames in prop::collection::vec(any_frame(), 1..10), server: bool) {
        let role = if server { Role::Server } else { Role::Client };
        let input: Vec<u8> = frames.iter().flat_map(|(first, payload)| frame_to(role, *first, payload)).collect();
        let (ours, theirs) = (ours(role, &input), theirs(role, &input));
        prop_assert!(ours == theirs, "{:?} or {:?}", ours, theirs);
    }
}
