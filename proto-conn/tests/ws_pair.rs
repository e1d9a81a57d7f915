//! Two sessions that talk to each other.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use proptest::prelude::*;
use proto_conn::{
    Flags, Kind, Message, Payload, Talk as _,
    ws::{Config, Deflate, Event, Receive, Role, Session, State, handshake::Agreed},
};
use proto_core::{Instant, Rng};
use ws_support::{agreed_deflate, config, drained, sample, session};

const NOW: Instant = Instant::ZERO;

/// Moves bytes one way in pieces of random sizes, and returns what was received.
fn carry(from: &mut Session, to: &mut Session, rng: &mut Rng) -> Vec<Event> {
    let mut events = vec![];
    loop {
        let bytes = drained(from, NOW);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let most = 1 << rng.below(18);
            let len = usize::try_from(1 + rng.below(most)).unwrap().min(rest.len());
            let place = if rng.chance(0.5) { to.spare() } else { None };
            let taken = match place {
                Some(place) => {
                    let len = len.min(place.len());
                    place[..len].copy_from_slice(&rest[..len]);
                    to.advance(NOW, len);
                    len
                }
                None => to.handle_input(NOW, &rest[..len]),
            };
            rest = &rest[taken..];
            events.extend(core::iter::from_fn(|| to.poll_event()).map(ws_support::without_time));
        }
        if from.outgoing().is_empty() {
            return events;
        }
    }
}

fn any_message() -> impl Strategy<Value = Message> {
    let text = "[a-z\u{e9}\u{1f600}]{0,200}";
    prop_oneof![
        text.prop_map(Message::text),
        text.prop_map(|text| Message::text(text.repeat(500))),
        (any::<u64>(), 0..300_usize).prop_map(|(seed, len)| Message::binary(sample(seed, len))),
        (any::<u64>(), 0..300_000_usize).prop_map(|(seed, len)| Message::binary(sample(seed, len))),
    ]
}

fn any_agreement() -> impl Strategy<Value = Agreed> {
    if cfg!(feature = "deflate") {
        let compressed = (8..=15_u8, any::<bool>()).prop_map(|(bits, forgets)| agreed_deflate(bits, forgets));
        prop_oneof![Just(Agreed::default()), compressed].boxed()
    } else {
        Just(Agreed::default()).boxed()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn messages_arrive_whole_and_in_order(
        messages in prop::collection::vec((any::<bool>(), any_message()), 1..10),
        agreed in any_agreement(),
        fragment_above in prop::option::of(1..5_000_usize),
        seed: u64,
    ) {
        let fragments = u32::MAX;
        let config = Config { fragment_above, max_fragments: fragments, deflate: Some(Deflate::default()), ..config() };
        let mut sides = [session(Role::Client, &config, &agreed), session(Role::Server, &config, &agreed)];
        let mut rng = Rng::from_u64(seed);
        let (mut sent, mut received) = ([vec![], vec![]], [vec![], vec![]]);
        for (by_client, message) in messages {
            let from = usize::from(!by_client);
            sides[from].send(NOW, &message).unwrap();
            sent[from].push((message.kind, message.body));
            if rng.chance(0.5) {
                exchange(&mut sides, &mut received, &mut rng);
            }
        }
        exchange(&mut sides, &mut received, &mut rng);
        prop_assert!(sent == received);
        let [client, server] = &mut sides;
        client.close(NOW, 1000, "enough").unwrap();
        let closed = |reason: &str| Event::Closed { code: 1000, reason: reason.into(), clean: true };
        prop_assert_eq!(carry(client, server, &mut rng), [closed("enough")]);
        prop_assert!(server.is_over());
        prop_assert_eq!(carry(server, client, &mut rng), [closed("")]);
        prop_assert_eq!(client.state(), State::Closed);
    }

    #[test]
    fn parts_make_the_message_that_was_sent_in_fragments(
        parts in prop::collection::vec(0..20_000_usize, 1..6),
        part in 1..30_000_usize,
        agreed in any_agreement(),
        seed: u64,
    ) {
        let config = Config { receive: Receive::Streamed { part }, ..config() };
        let mut client = session(Role::Client, &config, &agreed);
        let mut server = session(Role::Server, &config, &agreed);
        let (mut rng, mut whole, mut received) = (Rng::from_u64(seed), vec![], vec![]);
        let mut events = vec![];
        for (n, len) in parts.iter().enumerate() {
            let bytes = sample(seed, *len);
            whole.extend(&bytes);
            client.send_fragment(NOW, Kind::Binary, Payload::from(bytes), n + 1 == parts.len()).unwrap();
            events.extend(carry(&mut client, &mut server, &mut rng));
            // What was sent so far is there, though the message is not finished.
            received.extend(bodies(events.drain(..), part, n + 1 == parts.len()));
            prop_assert!(received == whole);
        }
    }
}

fn exchange(sides: &mut [Session; 2], received: &mut [Vec<(Kind, Payload)>; 2], rng: &mut Rng) {
    let [client, server] = sides;
    let messages = |events: Vec<Event>| {
        events.into_iter().map(|event| match event {
            Event::Message(message) => (message.kind, message.body),
            other => panic!("{other:?}"),
        })
    };
    received[0].extend(messages(carry(client, server, rng)));
    received[1].extend(messages(carry(server, client, rng)));
}

/// Joins the parts, after a look at their lengths and flags.
fn bodies(events: impl Iterator<Item = Event>, most: usize, finished: bool) -> Vec<u8> {
    let (mut bytes, mut fins) = (vec![], vec![]);
    for event in events {
        let Event::Message(message) = event else { panic!("{event:?}") };
        assert!(message.body.len() <= most && message.flags.has(Flags::STREAMED));
        bytes.extend_from_slice(&message.body);
        fins.push(message.flags.has(Flags::FIN));
    }
    assert_eq!(fins.iter().position(|&fin| fin), finished.then(|| fins.len() - 1));
    bytes
}
