//! What the tests of the WebSocket share: frames made and read without the code under test, and a driver that feeds
//! bytes in pieces of chosen sizes.

#![allow(dead_code, reason = "each test uses a part of it")]

use proto_conn::{
    Message, Talk as _,
    ws::{
        Config, Event, Role, Session,
        handshake::{Agreed, DeflateParams},
    },
};
use proto_core::{Instant, Rng};

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;
pub(crate) const FIN: u8 = 0x80;
pub(crate) const RSV1: u8 = 0x40;

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A frame as the peer of `role` sends it: `first` has the flags and the opcode.
pub(crate) fn frame_to(role: Role, first: u8, payload: &[u8]) -> Vec<u8> {
    let masked = role == Role::Server;
    let mut bytes = vec![first];
    let mask_bit = if masked { 0x80 } else { 0 };
    match payload.len() {
        len @ 0..=125 => bytes.push(mask_bit | u8::try_from(len).unwrap()),
        len @ 126..=65_535 => {
            bytes.push(mask_bit | 126);
            bytes.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
        len => {
            bytes.push(mask_bit | 127);
            bytes.extend((len as u64).to_be_bytes());
        }
    }
    if masked {
        bytes.extend(KEY);
        bytes.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    } else {
        bytes.extend(payload);
    }
    bytes
}

/// A frame that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) first: u8,
    pub(crate) masked: bool,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn new(role: Role, first: u8, payload: &[u8]) -> Self {
        Self { first, masked: role == Role::Client, payload: payload.to_vec() }
    }
}

/// Reads whole frames.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = vec![];
    while let [first, second, rest @ ..] = bytes {
        let (len, rest) = match second & 0x7f {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => (usize::try_from(u64::from_be_bytes(rest[..8].try_into().unwrap())).unwrap(), &rest[8..]),
            len => (usize::from(len), rest),
        };
        let masked = second & 0x80 != 0;
        let (key, rest) = if masked { (&rest[..4], &rest[4..]) } else { (&[0, 0, 0, 0][..], rest) };
        let payload = rest[..len].iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
        frames.push(Frame { first: *first, masked, payload });
        bytes = &rest[len..];
    }
    assert!(bytes.is_empty(), "half a frame was sent: {bytes:?}");
    frames
}

/// How bytes are fed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed {
    Whole,
    Bytes(usize),
    /// In pieces of random sizes, with this seed.
    Random(u64),
    /// Straight into the place that is lent, where one is; otherwise in pieces of random sizes.
    Lent(u64),
}

pub(crate) const FEEDS: [Feed; 5] =
    [Feed::Whole, Feed::Bytes(1), Feed::Bytes(997), Feed::Random(1), Feed::Lent(2)];

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<Event>,
    pub(crate) sent: Vec<Frame>,
    pub(crate) over: bool,
}

pub(crate) fn session(role: Role, config: &Config, agreed: &Agreed) -> Session {
    Session::new(role, config, agreed, Rng::from_u64(7)).unwrap()
}

/// Feeds `input` to a session that sends text and binary messages back as they came.
pub(crate) fn echo(role: Role, config: &Config, agreed: &Agreed, input: &[u8], feed: Feed) -> Outcome {
    let mut session = session(role, config, agreed);
    run(&mut session, input, feed, true)
}

/// Feeds `input` to a session.
pub(crate) fn listen(role: Role, config: &Config, agreed: &Agreed, input: &[u8], feed: Feed) -> Outcome {
    let mut session = session(role, config, agreed);
    run(&mut session, input, feed, false)
}

pub(crate) fn run(session: &mut Session, input: &[u8], feed: Feed, echoes: bool) -> Outcome {
    let now = Instant::from_millis(1);
    let mut rng = Rng::from_u64(match feed {
        Feed::Random(seed) | Feed::Lent(seed) => seed,
        Feed::Whole | Feed::Bytes(_) => 0,
    });
    let (mut events, mut sent, mut rest) = (vec![], vec![], input);
    loop {
        while let Some(event) = session.poll_event() {
            if let (true, Event::Message(message)) = (echoes, &event) {
                let echo = Message { received: None, ..message.clone() };
                session.send(now, &echo).unwrap();
            }
            events.push(without_time(event));
        }
        sent.extend(drained(session, now));
        if rest.is_empty() {
            break;
        }
        assert!(session.wants_input());
        let size = match feed {
            Feed::Whole => rest.len(),
            Feed::Bytes(size) => size,
            Feed::Random(_) | Feed::Lent(_) => {
                let most = 1 << rng.below(18);
                usize::try_from(1 + rng.below(most)).unwrap()
            }
        };
        let piece = &rest[..size.min(rest.len())];
        let lent = if matches!(feed, Feed::Lent(_)) { session.spare() } else { None };
        let taken = match lent {
            Some(place) => {
                let len = place.len().min(piece.len());
                place[..len].copy_from_slice(&piece[..len]);
                session.advance(now, len);
                len
            }
            None => session.handle_input(now, piece),
        };
        assert!(taken > 0 || !session.wants_input(), "{taken} {feed:?}");
        rest = &rest[taken..];
    }
    Outcome { events, sent: frames(&sent), over: session.is_over() }
}

/// Takes what is to be sent.
pub(crate) fn drained(session: &mut Session, now: Instant) -> Vec<u8> {
    let mut bytes = vec![];
    loop {
        while session.outgoing().copy(usize::MAX, &mut bytes) > 0 {}
        session.handle_sent(now);
        if session.outgoing().is_empty() {
            return bytes;
        }
    }
}

pub(crate) fn without_time(event: Event) -> Event {
    match event {
        Event::Message(message) => Event::Message(Message { received: None, ..message }),
        event @ (Event::Closed { .. } | Event::Failed(_) | Event::Writable) => event,
    }
}

/// A generous configuration: no test of rules meets a limit.
pub(crate) fn config() -> Config {
    Config { high_water: usize::MAX, ..Config::default() }
}

/// Bytes that look random, with repetitions.
pub(crate) fn sample(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng::from_u64(seed);
    let mut bytes = Vec::with_capacity(len + 64);
    while bytes.len() < len {
        if bytes.len() > 64 && rng.chance(0.7) {
            let from = usize::try_from(rng.below(bytes.len() as u64 - 32)).unwrap();
            bytes.extend_from_within(from..from + 32);
        } else {
            bytes.extend(rng.next_u64().to_le_bytes());
        }
    }
    bytes.truncate(len);
    bytes
}

/// An agreement on compression with the same parameters both ways.
pub(crate) fn agreed_deflate(window_bits: u8, forgets: bool) -> Agreed {
    let deflate = Some(DeflateParams {
        client_max_window_bits: window_bits,
        server_max_window_bits: window_bits,
        client_no_context_takeover: forgets,
        server_no_context_takeover: forgets,
    });
    Agreed { subprotocol: None, deflate }
}

/// What our own other side sends for these binary messages.
pub(crate) fn sent_by_peer_of(
    role: Role,
    config: &Config,
    agreed: &Agreed,
    messages: impl IntoIterator<Item = Vec<u8>>,
) -> Vec<u8> {
    let now = Instant::ZERO;
    let mut peer = session(other(role), config, agreed);
    for message in messages {
        peer.send(now, &Message::binary(message)).unwrap();
    }
    drained(&mut peer, now)
}

pub(crate) fn other(role: Role) -> Role {
    match role {
        Role::Client => Role::Server,
        Role::Server => Role::Client,
    }
}
