//! Two ends of a link talk over a path that delays, repeats and loses.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod link_support;

use link_support::{Fate, Pair, destination, identity, with_env};
use proto_core::{Instant, Rng};
use proto_rns::{
    link::{
        ChannelError, CloseReason, DropReason, Event, IdentifyError, Link, LinkConfig, LinkState,
        ProofStrategy, RequestError, RequestFailure, RequestPolicies, RequestPolicy, SendError, StreamRead,
    },
    resource,
    wire::{MessageType, StreamId, msgpack::Value},
};
use std::{sync::Arc, time::Duration};

const DELAY: Duration = Duration::from_millis(20);
const SECOND: Duration = Duration::from_secs(1);

fn config() -> LinkConfig {
    let mut requests = RequestPolicies::default();
    requests.allow("/all", RequestPolicy::All);
    requests.allow("/friend", RequestPolicy::List(vec![identity(0x33, 0x44).hash()]));
    LinkConfig {
        proofs: ProofStrategy::All,
        channel: true,
        requests: Arc::new(requests),
        resources: resource::ResourceConfig {
            strategy: resource::Strategy::All,
            ..resource::ResourceConfig::default()
        },
        ..LinkConfig::default()
    }
}

/// Loses every `n`th frame.
fn every(n: usize) -> impl FnMut(bool, &[u8]) -> Fate {
    let mut count = 0;
    move |_, _| {
        count += 1;
        if count % n == 0 { Fate::Lost } else { Fate::Arrives }
    }
}

fn packed(len: usize) -> Vec<u8> {
    let mut rng = Rng::from_u64(len as u64);
    let mut bytes = vec![0; len];
    rng.fill(&mut bytes);
    Value::Bytes(bytes).to_vec()
}

fn answer(pair: &mut Pair, data: &[u8]) -> usize {
    let requests: Vec<_> = pair
        .responder
        .events
        .iter()
        .filter_map(|event| if let Event::Request { id, .. } = event { Some(*id) } else { None })
        .collect();
    pair.responder.events.clear();
    for id in &requests {
        pair.responder(|link, env, wire| link.respond(env, *id, data, wire)).unwrap();
    }
    requests.len()
}

#[test]
fn data_are_proved_and_what_is_lost_is_told() {
    let mut pair = Pair::established(DELAY, &config());
    let sent: Vec<_> =
        (0..50).map(|n| pair.initiator(|link, env, wire| link.send(env, &[n; 100], wire)).unwrap()).collect();
    pair.run_with(SECOND * 3, every(5));
    let (mut delivered, mut lost) = (Vec::new(), Vec::new());
    for event in &pair.initiator.events {
        if let Event::Delivered { hash, rtt } = event {
            assert_eq!(*rtt, DELAY * 2);
            delivered.push(*hash);
        } else if let Event::Undelivered { hash } = event {
            lost.push(*hash);
        }
    }
    assert_eq!(pair.initiator.events.len(), sent.len());
    assert_eq!(delivered.len() + lost.len(), sent.len());
    assert!(lost.len() >= 10 && delivered.len() >= 25, "{} lost", lost.len());
}

#[test]
fn data_too_long_for_a_packet_are_refused() {
    let mut pair = Pair::established(DELAY, &config());
    let mut send = |len| pair.initiator(|link, env, wire| link.send(env, &vec![0; len], wire).map(|_| ()));
    assert_eq!(send(431), Ok(()));
    assert_eq!(send(432), Err(SendError::TooLong { limit: 431 }));
    assert_eq!(send(0), Err(SendError::Empty));
}

#[test]
fn packets_beyond_the_receipts_that_are_kept_are_refused() {
    let mut pair = Pair::established(DELAY, &LinkConfig { max_receipts: 2, ..config() });
    let mut send = || pair.initiator(|link, env, wire| link.send(env, b"data", wire).map(|_| ()));
    assert_eq!([send(), send(), send()], [Ok(()), Ok(()), Err(SendError::Full)]);
}

#[test]
fn only_what_the_application_proves_is_proved() {
    let mut pair = Pair::established(DELAY, &LinkConfig { proofs: ProofStrategy::App, ..config() });
    let first = pair.initiator(|link, env, wire| link.send(env, b"first", wire)).unwrap();
    let second = pair.initiator(|link, env, wire| link.send(env, b"second", wire)).unwrap();
    pair.run(DELAY);
    pair.responder(|link, env, wire| link.prove(env, second, wire)).unwrap();
    pair.run(SECOND * 2);
    let [Event::Delivered { hash: delivered, .. }, Event::Undelivered { hash: lost }] =
        pair.initiator.events[..]
    else {
        panic!("{:?}", pair.initiator.events);
    };
    assert_eq!((delivered, lost), (second, first));
}

#[test]
fn an_initiator_is_let_in_once_it_says_who_it_is() {
    let mut pair = Pair::established(DELAY, &config());
    let ask = |pair: &mut Pair| {
        pair.initiator(|link, env, wire| link.request(env, "/friend", &[], None, None, wire)).unwrap();
        pair.run(DELAY);
        answer(pair, &[])
    };
    assert_eq!(ask(&mut pair), 0);
    assert_eq!(pair.responder.link.stats().dropped(DropReason::NotAllowed), 1);
    let who = identity(0x33, 0x44);
    pair.initiator(|link, env, wire| link.identify(env, &who, wire)).unwrap();
    assert_eq!(ask(&mut pair), 1);
    assert_eq!(pair.responder.link.identity(), Some(who.public()));
    let refused = pair.responder(|link, env, wire| link.identify(env, &who, wire));
    assert_eq!(refused, Err(IdentifyError::NotInitiator));
}

#[test]
fn the_first_identity_stays() {
    let mut pair = Pair::established(DELAY, &config());
    for who in [identity(0x33, 0x44), identity(0x55, 0x66)] {
        pair.initiator(|link, env, wire| link.identify(env, &who, wire)).unwrap();
    }
    pair.run(SECOND);
    assert_eq!(pair.responder.link.identity(), Some(identity(0x33, 0x44).public()));
    assert_eq!(pair.responder.link.stats().dropped(DropReason::Role), 1);
}

#[test]
fn requests_and_responses_of_any_length_find_each_other() {
    for (question, reply) in [(10, 10), (10, 5_000), (5_000, 10), (20_000, 200_000)] {
        let mut pair = Pair::established(DELAY, &config());
        let (question, reply) = (packed(question), packed(reply));
        let id =
            pair.initiator(|link, env, wire| link.request(env, "/all", &question, None, None, wire)).unwrap();
        pair.run(SECOND * 5);
        let asked = pair.responder.events.iter().any(
            |event| matches!(event, Event::Request { data, path, .. } if data == &question && path == "/all"),
        );
        assert!(asked, "{:?}", pair.responder.events);
        assert_eq!(answer(&mut pair, &reply), 1);
        pair.run(SECOND * 30);
        let events = &pair.initiator.events;
        assert_eq!(events.last(), Some(&Event::Response { id, data: reply.into() }));
        let rest = &events[..events.len() - 1];
        assert!(rest.iter().all(|event| matches!(event, Event::ResponseProgress { .. })), "{rest:?}");
    }
}

#[test]
fn a_file_may_answer_a_request() {
    let mut pair = Pair::established(DELAY, &config());
    let id = pair.initiator(|link, env, wire| link.request(env, "/all", &[], None, None, wire)).unwrap();
    pair.run(DELAY);
    let Some(Event::Request { id: asked, .. }) = pair.responder.events.pop() else { panic!("no request") };
    let (file, metadata) = (vec![7; 10_000], Value::Map(vec![("name".into(), "file".into())]).to_vec());
    pair.responder(|link, env, wire| {
        link.respond_with_file(env, asked, file.clone().into(), metadata.clone(), wire)
    })
    .unwrap();
    pair.run(SECOND * 5);
    let expected = Event::ResponseFile { id, data: file.into(), metadata: metadata.into() };
    assert_eq!(pair.initiator.events.last(), Some(&expected));
}

#[test]
fn a_request_that_nobody_answers_times_out() {
    let mut pair = Pair::established(DELAY, &config());
    let id = pair.initiator(|link, env, wire| link.request(env, "/none", &[], None, None, wire)).unwrap();
    pair.run(Duration::from_millis(11_250 + 6 * 40 - 1));
    assert_eq!(pair.initiator.events, []);
    pair.run(Duration::from_millis(1));
    let timeout = Event::RequestFailed { id, reason: RequestFailure::Timeout };
    assert_eq!(pair.initiator.events, [timeout]);
    assert_eq!(pair.responder.link.stats().dropped(DropReason::UnknownPath), 1);
}

#[test]
fn a_response_longer_than_the_request_allows_is_refused_when_it_is_offered() {
    for reply in [300, 50_000] {
        let mut pair = Pair::established(DELAY, &config());
        let id =
            pair.initiator(|link, env, wire| link.request(env, "/all", &[], None, Some(200), wire)).unwrap();
        pair.run(DELAY);
        answer(&mut pair, &packed(reply));
        let before = pair.initiator.link.stats().received_bytes;
        pair.run(SECOND * 5);
        let refused = Event::RequestFailed { id, reason: RequestFailure::TooLarge };
        assert_eq!(pair.initiator.events, [refused]);
        assert!(pair.initiator.link.stats().received_bytes - before < 1_000);
    }
}

#[test]
fn a_response_to_what_was_not_asked_is_not_sent_and_data_that_are_no_value_neither() {
    let mut pair = Pair::established(DELAY, &config());
    let id = pair.initiator(|link, env, wire| link.request(env, "/all", &[], None, None, wire)).unwrap();
    pair.run(DELAY);
    pair.responder(|link, env, wire| link.respond(env, id, &[0xc0], wire)).unwrap();
    let again = pair.responder(|link, env, wire| link.respond(env, id, &[0xc0], wire));
    assert_eq!(again, Err(RequestError::UnknownRequest));
    for bad in [&[0xc4_u8, 9][..], &[0xc0, 0xc0]] {
        let refused = pair.initiator(|link, env, wire| link.request(env, "/all", bad, None, None, wire));
        assert_eq!(refused, Err(RequestError::Data));
    }
}

#[test]
fn a_resource_arrives_over_a_path_that_loses() {
    let mut pair = Pair::established(DELAY, &config());
    let data: Vec<u8> = packed(100_000);
    let id =
        pair.initiator(|link, env, wire| link.send_resource(env, data.clone(), None, false, wire)).unwrap();
    pair.run_with(SECOND * 60, every(20));
    let sent = Event::Resource(resource::Event::Sent { id, kind: resource::Kind::Plain });
    assert!(pair.initiator.events.contains(&sent), "{:?}", pair.initiator.events);
    let received = pair.responder.events.iter().any(
        |event| matches!(event, Event::Resource(resource::Event::Received { data: got, .. }) if got == &data),
    );
    assert!(received);
}

#[test]
fn channel_messages_arrive_in_order_over_a_path_that_loses() {
    let mut pair = Pair::established(DELAY, &config());
    let mut fate = every(7);
    let mut next = 0_u16;
    for _ in 0..2_000 {
        while next < 300 {
            let data = next.to_be_bytes();
            match pair.initiator(|link, env, wire| link.channel_send(env, MessageType(9), &data, wire)) {
                Ok(()) => next += 1,
                Err(ChannelError::Full) => break,
                Err(error) => panic!("{error}"),
            }
        }
        pair.run_with(Duration::from_millis(10), &mut fate);
    }
    let got: Vec<u16> = pair
        .responder
        .events
        .iter()
        .filter_map(|event| if let Event::Message { data, .. } = event { Some(data) } else { None })
        .map(|data| u16::from_be_bytes(data[..].try_into().unwrap()))
        .collect();
    assert_eq!(got, (0..300).collect::<Vec<_>>());
    assert!(pair.initiator.events.contains(&Event::ChannelReady));
    assert!(pair.initiator.link.stats().resent_messages > 0);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
}

#[test]
fn a_channel_whose_messages_are_never_proved_ends_the_link() {
    let mut pair = Pair::established(DELAY, &LinkConfig { channel: false, ..config() });
    pair.initiator(|link, env, wire| link.channel_send(env, MessageType(9), b"", wire)).unwrap();
    pair.run(SECOND * 10);
    assert_eq!(pair.initiator.events, [Event::Closed { reason: CloseReason::ChannelTimeout }]);
    assert_eq!(pair.responder.link.stats().dropped(DropReason::ChannelClosed), 5);
    assert_eq!(pair.responder.events.last(), Some(&Event::Closed { reason: CloseReason::InitiatorClosed }));
}

#[test]
fn a_channel_message_has_limits() {
    let mut pair = Pair::established(DELAY, &config());
    let mut send = |kind, len| {
        pair.initiator(|link, env, wire| link.channel_send(env, MessageType(kind), &vec![0; len], wire))
    };
    assert_eq!(send(1, 426), Err(ChannelError::TooLong { limit: 425 }));
    assert_eq!(send(0xf000, 1), Err(ChannelError::ReservedType));
    assert_eq!([send(1, 425), send(1, 1), send(1, 1)], [Ok(()), Ok(()), Err(ChannelError::Full)]);
}

#[test]
fn a_stream_carries_bytes_compressed_or_not_and_ends() {
    let mut pair = Pair::established(DELAY, &config());
    let stream = StreamId::new(3).unwrap();
    let mut data = packed(20_000);
    data.resize(60_000, 7);
    let (mut rest, mut ended, mut fate) = (&data[..], false, every(11));
    let mut got = Vec::new();
    for _ in 0..1_000 {
        if rest.is_empty() {
            ended = ended || pair.initiator(|link, env, wire| link.stream_close(env, stream, wire)).is_ok();
        } else {
            match pair.initiator(|link, env, wire| link.stream_write(env, stream, rest, wire)) {
                Ok(written) => rest = &rest[written..],
                Err(ChannelError::Full) => {}
                Err(error) => panic!("{error}"),
            }
        }
        pair.run_with(Duration::from_millis(20), &mut fate);
        while let StreamRead::Data(piece) = pair.responder.link.stream_read(stream) {
            got.extend_from_slice(&piece);
        }
        if got.len() == data.len() && ended {
            break;
        }
    }
    pair.run(SECOND * 5);
    assert!(got == data);
    assert!(pair.responder.events.contains(&Event::StreamReadable { stream }));
    assert!(pair.initiator.link.stats().sent_bytes < 60_000, "nothing was compressed");
}

#[test]
fn an_unread_stream_holds_its_writer_back_and_nothing_is_lost() {
    let config = LinkConfig { max_stream_bytes: 32 << 10, compress_streams: false, ..config() };
    let mut pair = Pair::established(DELAY, &config);
    let stream = StreamId::new(0).unwrap();
    let data = packed(60_000);
    let (mut rest, mut got) = (&data[..], Vec::new());
    for turn in 0..2_000 {
        if !rest.is_empty()
            && let Ok(written) = pair.initiator(|link, env, wire| link.stream_write(env, stream, rest, wire))
        {
            rest = &rest[written..];
        }
        pair.run(Duration::from_millis(20));
        // The application reads a piece now and then.
        if turn % 2 == 0
            && let StreamRead::Data(piece) = pair.responder.link.stream_read(stream)
        {
            got.extend_from_slice(&piece);
        }
    }
    assert!(got == data, "{} of {}, {:?}", got.len(), data.len(), pair.initiator.link.state());
}

#[test]
fn an_idle_link_is_kept_alive_for_an_hour() {
    let mut pair = Pair::established(DELAY, &config());
    let before = pair.initiator.link.stats().sent_packets;
    pair.run(SECOND * 3_600);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
    assert_eq!(pair.responder.link.state(), LinkState::Active);
    assert_eq!((pair.initiator.events.len(), pair.responder.events.len()), (0, 0));
    let keepalives = pair.initiator.link.stats().sent_packets - before;
    let expected = 3_600.0 / pair.initiator.link.keepalive().unwrap().as_secs_f64();
    assert!((keepalives as f64 - expected).abs() < expected * 0.05, "{keepalives} for {expected}");
}

#[test]
fn a_silent_peer_makes_the_link_stale_and_then_closed() {
    let mut pair = Pair::established(DELAY, &config());
    let keepalive = pair.initiator.link.keepalive().unwrap();
    pair.run_with(keepalive * 2 - SECOND, |_, _| Fate::Lost);
    assert_eq!(pair.initiator.events.len() + pair.responder.events.len(), 0);
    pair.run_with(SECOND * 2, |_, _| Fate::Lost);
    assert_eq!(
        (&pair.initiator.events[..], &pair.responder.events[..]),
        (&[Event::Stale][..], &[Event::Stale][..])
    );
    pair.run_with(SECOND * 6, |_, _| Fate::Lost);
    let expected = [Event::Stale, Event::Closed { reason: CloseReason::Timeout }];
    assert_eq!(pair.initiator.events, expected);
    assert_eq!(pair.responder.events, expected);
    assert_eq!(pair.initiator.link.poll_timeout(), None);
    let refused = pair.initiator(|link, env, wire| link.send(env, b"late", wire));
    assert_eq!(refused, Err(SendError::NotEstablished));
}

#[test]
fn a_stale_link_revives_when_the_path_does() {
    let mut pair = Pair::established(DELAY, &config());
    let keepalive = pair.initiator.link.keepalive().unwrap();
    pair.run_with(keepalive * 2 + SECOND, |_, _| Fate::Lost);
    assert_eq!(pair.initiator.events, [Event::Stale]);
    assert_eq!(pair.initiator.link.state(), LinkState::Stale);
    pair.responder(|link, env, wire| link.send(env, b"still here", wire)).unwrap();
    pair.run(SECOND);
    assert!(pair.initiator.events.contains(&Event::Revived));
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
}

#[test]
fn each_end_learns_who_closed() {
    let mut pair = Pair::established(DELAY, &config());
    let hash = pair.responder(|link, env, wire| link.send(env, b"unproved", wire)).unwrap();
    let id = pair.responder(|link, env, wire| link.request(env, "/all", &[], None, None, wire)).unwrap();
    pair.responder(|link, env, wire| link.close(env, wire));
    pair.run(SECOND);
    let closed = Event::Closed { reason: CloseReason::DestinationClosed };
    let failed = Event::RequestFailed { id, reason: RequestFailure::LinkClosed };
    assert_eq!(pair.responder.events, [Event::Undelivered { hash }, failed, closed.clone()]);
    assert_eq!(pair.initiator.events.last(), Some(&closed));
    assert_eq!(pair.initiator.link.state(), LinkState::Closed);
}

#[test]
fn a_request_for_a_link_that_is_not_answered_is_given_up() {
    let (mut rng, mut wire) = (Rng::from_u64(1), link_support::Wire::default());
    let mut link = with_env(Instant::ZERO, &mut rng, |env| {
        let owner = identity(0x11, 0x22);
        let timeout = Duration::from_secs(6);
        Link::initiate(env, destination(), *owner.public(), 3, None, timeout, &config(), &mut wire).unwrap()
    });
    let deadline = Instant::from_millis(24_000);
    assert_eq!(link.poll_timeout(), Some(deadline));
    with_env(deadline, &mut rng, |env| link.handle_timeout(env, &mut wire));
    assert_eq!(link.poll_event(), Some(Event::Closed { reason: CloseReason::NotEstablished }));
    assert_eq!(link.state(), LinkState::Closed);
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let frames = || {
        let mut pair = Pair::established(DELAY, &config());
        pair.initiator(|link, env, wire| link.request(env, "/all", &packed(5_000), None, None, wire))
            .unwrap();
        let mut frames = Vec::new();
        pair.run_with(SECOND, |_, frame| {
            frames.push(frame.to_vec());
            Fate::Arrives
        });
        frames
    };
    assert_eq!(frames(), frames());
}
