//! The link's packets, byte for byte as the reference made them from the same random draws.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod link_support;
mod vectors;

use link_support::{Wire, destination, identity, with_env};
use proto_core::Instant;
use proto_rns::{
    Env, RequestId,
    identity::Identity,
    link::{Event, Link, LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    wire::{LinkMode, MessageType, Packet, Signalling, StreamData, StreamId, msgpack::Value},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use vectors::{Draws, Vector, vector};

/// Runs `step` with the draws of one vector, and makes sure that it takes them all.
fn with_draws<T>(now: Instant, vector: &Vector, step: impl FnOnce(&mut Env<'_>) -> T) -> T {
    let mut draws = vector.draws();
    let result = with_env(now, &mut draws, step);
    draws.assert_used();
    result
}

/// Runs `step`, which draws nothing.
fn without_draws<T>(now: Instant, step: impl FnOnce(&mut Env<'_>) -> T) -> T {
    with_env(now, &mut Draws(VecDeque::new()), step)
}

struct Recorded {
    owner: Identity,
    initiator: Link,
    responder: Link,
    wire: Wire,
}

/// The start of the recorded clock, and when the recorded initiator has its proof.
const START: Instant = Instant::ZERO;
const PROVED: Instant = Instant::from_millis(250);

impl Recorded {
    /// Repeats the recorded handshake of this name.
    fn new(name: &str, mtu: Option<usize>) -> Self {
        let (owner, mut wire) = (identity(0x11, 0x22), Wire::default());
        let of = |part| vector(&format!("link/{name}_{part}"));
        let mut requests = RequestPolicies::default();
        requests.allow("/echo", RequestPolicy::All);
        let config = LinkConfig {
            proofs: ProofStrategy::All,
            channel: true,
            requests: Arc::new(requests),
            ..LinkConfig::default()
        };

        let mut initiator = with_draws(START, &of("request"), |env| {
            let timeout = Duration::from_secs(6);
            Link::initiate(env, destination(), *owner.public(), 1, mtu, timeout, &config, &mut wire).unwrap()
        });
        let request = wire.one();
        assert_eq!(request, of("request").bytes("raw"));
        assert_eq!(initiator.id().as_bytes()[..], of("request").bytes("link_id"));

        let mut responder = with_draws(START, &of("proof"), |env| {
            let request = Packet::parse(&request).unwrap();
            Link::accept(env, &request, &owner, mtu, &config, &mut wire).unwrap()
        });
        let proof = wire.one();
        assert_eq!(proof, of("proof").bytes("raw"));
        assert_eq!(responder.mtu() as u64, of("proof").number("negotiated_mtu"));
        assert_eq!(responder.mdu() as u64, of("proof").number("mdu"));

        with_draws(PROVED, &of("rtt"), |env| {
            let proof = Packet { hops: 1, ..Packet::parse(&proof).unwrap() };
            initiator.handle_packet(env, &proof, &mut wire);
        });
        let rtt = wire.one();
        assert_eq!(rtt, of("rtt").bytes("raw"));
        assert_eq!(initiator.poll_event(), Some(Event::Established { rtt: Duration::from_millis(250) }));
        let keepalive = of("rtt").0["keepalive"].as_f64().unwrap();
        assert!((initiator.keepalive().unwrap().as_secs_f64() - keepalive).abs() < 1e-6);

        without_draws(START, |env| {
            responder.handle_packet(env, &Packet::parse(&rtt).unwrap(), &mut wire);
        });
        assert_eq!(responder.rtt(), Some(Duration::from_millis(250)));
        assert_eq!(responder.poll_event(), Some(Event::Established { rtt: Duration::from_millis(250) }));
        Self { owner, initiator, responder, wire }
    }

    /// Makes sure that a step of the initiator sends the recorded frame, and returns that.
    fn initiator(&mut self, name: &str, step: impl FnOnce(&mut Link, &mut Env<'_>, &mut Wire)) -> Vec<u8> {
        let vector = vector(&format!("link/{name}"));
        with_draws(START, &vector, |env| step(&mut self.initiator, env, &mut self.wire));
        let frame = self.wire.one();
        assert_eq!(frame, vector.bytes("raw"), "{name}");
        frame
    }

    fn responder(
        &mut self,
        name: &str,
        now: Instant,
        step: impl FnOnce(&mut Link, &mut Env<'_>, &mut Wire),
    ) -> Vec<u8> {
        let vector = vector(&format!("link/{name}"));
        with_draws(now, &vector, |env| step(&mut self.responder, env, &mut self.wire));
        let frame = self.wire.one();
        assert_eq!(frame, vector.bytes("raw"), "{name}");
        frame
    }
}

#[test]
fn both_recorded_handshakes_are_reproduced() {
    Recorded::new("mtu500", None);
    Recorded::new("mtu8192", Some(8_192));
}

#[test]
fn recorded_data_and_their_proof_are_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    let mut sent = None;
    let data = recorded.initiator("data", |link, env, wire| {
        sent = Some(link.send(env, b"over the link", wire).unwrap());
    });
    assert_eq!(sent.unwrap().as_bytes()[..], vector("link/data").bytes("packet_hash"));
    let proof = recorded.responder("data_proof", START, |link, env, wire| {
        link.handle_packet(env, &Packet::parse(&data).unwrap(), wire);
    });
    assert!(
        matches!(recorded.responder.poll_event(), Some(Event::Data { data, .. }) if data == "over the link")
    );
    without_draws(START, |env| {
        recorded.initiator.handle_packet(env, &Packet::parse(&proof).unwrap(), &mut recorded.wire);
        assert_eq!(recorded.initiator.poll_event(), None);
        recorded.initiator.settle(env);
    });
    assert!(
        matches!(recorded.initiator.poll_event(), Some(Event::Delivered { hash, .. }) if Some(hash) == sent)
    );
}

#[test]
fn the_recorded_identification_is_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    let who = identity(0x33, 0x44);
    let frame = recorded.initiator("identify", |link, env, wire| link.identify(env, &who, wire).unwrap());
    without_draws(START, |env| {
        recorded.responder.handle_packet(env, &Packet::parse(&frame).unwrap(), &mut recorded.wire);
    });
    assert_eq!(recorded.responder.identity(), Some(who.public()));
    assert_eq!(recorded.responder.poll_event(), Some(Event::Identified { identity: *who.public() }));
    assert_ne!(who.hash(), recorded.owner.hash());
}

#[test]
fn the_recorded_keepalives_are_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    let due = recorded.initiator.poll_timeout().unwrap();
    let vector = vector("link/keepalive_initiator");
    with_draws(due, &vector, |env| recorded.initiator.handle_timeout(env, &mut recorded.wire));
    let frame = recorded.wire.one();
    assert_eq!(frame, vector.bytes("raw"));
    recorded.responder("keepalive_responder", due, |link, env, wire| {
        link.handle_packet(env, &Packet::parse(&frame).unwrap(), wire);
    });
}

#[test]
fn the_recorded_request_and_response_are_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    let payload = |bytes: &[u8]| Value::Bytes(bytes.into()).to_vec();
    let mut id = None;
    let request = recorded.initiator("request", |link, env, wire| {
        id = Some(link.request(env, "/echo", &payload(b"payload"), None, None, wire).unwrap());
    });
    assert_eq!(id, RequestId::from_slice(&vector("link/request_id").bytes("request_id")));
    let response = recorded.responder("response", START, |link, env, wire| {
        link.handle_packet(env, &Packet::parse(&request).unwrap(), wire);
        let Some(Event::Request { id, path, data, requested_at, .. }) = link.poll_event() else {
            panic!("no request");
        };
        assert_eq!((&path[..], &data[..]), ("/echo", &payload(b"payload")[..]));
        assert_eq!(requested_at, 1_700_000_000.0);
        link.respond(env, id, &payload(b"reply"), wire).unwrap();
    });
    without_draws(START, |env| {
        recorded.initiator.handle_packet(env, &Packet::parse(&response).unwrap(), &mut recorded.wire);
    });
    let data = payload(b"reply").into();
    assert_eq!(recorded.initiator.poll_event(), Some(Event::Response { id: id.unwrap(), data }));
}

#[test]
fn the_recorded_channel_message_is_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    let frame = recorded.initiator("channel_envelope", |link, env, wire| {
        link.channel_send(env, MessageType(0x0101), b"chan!", wire).unwrap();
    });
    without_draws(START, |env| {
        recorded.responder.handle_packet(env, &Packet::parse(&frame).unwrap(), &mut recorded.wire);
    });
    let message = Event::Message { message_type: MessageType(0x0101), data: "chan!".into() };
    assert_eq!(recorded.responder.poll_event(), Some(message));
}

#[test]
fn the_recorded_teardown_is_reproduced() {
    let mut recorded = Recorded::new("mtu500", None);
    recorded.initiator("close_from_initiator", |link, env, wire| link.close(env, wire));
}

#[test]
fn the_recorded_signalling_is_reproduced() {
    for mtu in [500, 1_024, 8_192, 16_384, 32_768, 131_072, 262_144, 524_288] {
        let signalling = Signalling { mode: LinkMode::Aes256Cbc, mtu };
        assert_eq!(signalling.to_bytes()[..], vector(&format!("link_signalling/mtu_{mtu}")).bytes("bytes"));
    }
}

#[test]
fn the_recorded_pieces_of_streams_are_reproduced() {
    for (name, end, compressed) in
        [("stream_data", false, false), ("stream_eof", true, false), ("stream_compressed", false, true)]
    {
        let packed = vector(&format!("channel/{name}")).bytes("packed");
        let piece = StreamData::parse(&packed).unwrap();
        assert_eq!((piece.stream, piece.end, piece.compressed), (StreamId::new(3).unwrap(), end, compressed));
        let mut emitted = Vec::new();
        piece.emit(&mut emitted);
        assert_eq!(emitted, packed);
    }
}
