//! Peers that break rules, announce what they do not send, or fall silent.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use core::time::Duration;
use proto_conn::{
    Code, Kind, Message, Payload, StreamEnd, Talk as _,
    ws::{ABNORMAL, Config, Event, Keepalive, Role, Session, State, handshake::Agreed},
};
use proto_core::{Instant, Rng};
use ws_support::{
    BINARY, CLOSE, FEEDS, FIN, Feed, Frame, PING, PONG, TEXT, config, drained, frame_to, frames, listen,
    session,
};

const ROLES: [Role; 2] = [Role::Client, Role::Server];

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn events(session: &mut Session) -> Vec<Event> {
    core::iter::from_fn(|| session.poll_event()).map(ws_support::without_time).collect()
}

/// The code of the failure and of the end.
fn end(events: &[Event]) -> (Option<Code>, u16) {
    let failed = events.iter().find_map(|event| match event {
        Event::Failed(error) => Some(error.code),
        Event::Message(_) | Event::Closed { .. } | Event::Writable => None,
    });
    match events.last() {
        Some(Event::Closed { code, .. }) => (failed, *code),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fails(config: &Config, input: &[u8], role: Role, expected: (Code, u16)) {
    for feed in FEEDS {
        let outcome = listen(role, config, &Agreed::default(), input, feed);
        assert_eq!(end(&outcome.events), (Some(expected.0), expected.1), "{role:?} {feed:?}");
        let close = Frame::new(role, FIN | CLOSE, &expected.1.to_be_bytes());
        assert_eq!((outcome.sent.last(), outcome.over), (Some(&close), true));
    }
}

#[test]
fn a_message_within_another_a_fragmented_ping_and_a_close_of_one_byte_are_protocol_errors() {
    for role in ROLES {
        let within = [frame_to(role, BINARY, b"a"), frame_to(role, FIN | BINARY, b"b")].concat();
        for input in [within, frame_to(role, PING, b"p"), frame_to(role, FIN | CLOSE, b"x")] {
            fails(&config(), &input, role, (Code::WsProtocol, 1002));
        }
    }
}

#[test]
fn a_close_without_a_code_is_told_as_1005_and_answered_without_one() {
    for role in ROLES {
        let outcome =
            listen(role, &config(), &Agreed::default(), &frame_to(role, FIN | CLOSE, b""), Feed::Bytes(1));
        assert_eq!(outcome.events, [Event::Closed { code: 1005, reason: String::new(), clean: true }]);
        assert_eq!(outcome.sent, [Frame::new(role, FIN | CLOSE, b"")]);
    }
}

#[test]
fn frames_must_be_masked_towards_servers_only() {
    for role in ROLES {
        let wrong = frame_to(ws_support::other(role), FIN | TEXT, b"Hello");
        fails(&config(), &wrong, role, (Code::WsProtocol, 1002));
    }
}

#[test]
fn memory_follows_what_arrives_not_what_is_announced() {
    // 16 MiB announced, nothing sent: the place that is lent is no larger than the first piece of memory.
    let mut header = vec![FIN | BINARY, 127];
    header.extend((16_u64 << 20).to_be_bytes());
    let mut client = session(Role::Client, &config(), &Agreed::default());
    assert_eq!(client.handle_input(at(0), &header), header.len());
    assert!(client.spare().unwrap().len() <= 1 << 20);
}

#[test]
fn frames_messages_and_fragments_beyond_their_limits_are_too_big_at_the_first_byte_that_shows_it() {
    let config = Config { max_frame: 1_000, max_message: 1_500, max_fragments: 3, ..config() };
    for role in ROLES {
        let long = frame_to(role, FIN | BINARY, &[0; 1_001]);
        let header = long.len() - 1_001;
        fails(&config, &long[..header], role, (Code::WsTooBig, 1009));
        let long = [frame_to(role, BINARY, &[0; 1_000]), frame_to(role, FIN, &[0; 501])].concat();
        fails(&config, &long[..long.len() - 501], role, (Code::WsTooBig, 1009));
        let many = [
            frame_to(role, BINARY, b""),
            frame_to(role, 0, b""),
            frame_to(role, 0, b""),
            frame_to(role, FIN, b""),
        ];
        fails(&config, &many.concat(), role, (Code::WsTooBig, 1009));
        // And at their limits, all are taken.
        let most =
            [frame_to(role, BINARY, &[0; 1_000]), frame_to(role, 0, &[0; 500]), frame_to(role, FIN, b"")];
        let outcome = listen(role, &config, &Agreed::default(), &most.concat(), Feed::Bytes(1));
        assert!(matches!(&outcome.events[..], [Event::Message(message)] if message.body.len() == 1_500));
    }
}

#[test]
fn a_flood_of_pings_that_nobody_reads_the_answers_of_is_answered_in_part_and_the_last_one_always() {
    let mut server = session(Role::Server, &config(), &Agreed::default());
    for n in 0..10_000_u32 {
        server.handle_input(at(0), &frame_to(Role::Server, FIN | PING, &n.to_be_bytes()));
    }
    assert!(server.outgoing().len() < 1_000);
    let pongs = frames(&drained(&mut server, at(0)));
    assert_eq!(pongs.last(), Some(&Frame::new(Role::Server, FIN | PONG, &9_999_u32.to_be_bytes())));
}

#[test]
fn pings_are_left_alone_where_asked() {
    let config = Config { auto_pong: false, deliver_control: true, ..config() };
    let input = frame_to(Role::Server, FIN | PING, b"p");
    let outcome = listen(Role::Server, &config, &Agreed::default(), &input, Feed::Whole);
    assert_eq!(outcome.events, [Event::Message(Message::ping("p"))]);
    assert!(outcome.sent.is_empty());
}

#[test]
fn a_close_frame_behind_data_in_one_piece_ends_closing() {
    for role in ROLES {
        let mut session = session(role, &config(), &Agreed::default());
        session.close(at(0), 1000, "done").unwrap();
        let input = [frame_to(role, FIN | TEXT, b"late"), frame_to(role, FIN | CLOSE, b"\x03\xe8")].concat();
        assert_eq!(session.handle_input(at(1), &input), input.len());
        assert_eq!(events(&mut session), [Event::Closed { code: 1000, reason: String::new(), clean: true }]);
        assert_eq!(session.state(), State::Closed);
    }
}

#[test]
fn what_comes_while_closing_is_delivered_where_asked() {
    let config = Config { deliver_while_closing: true, ..config() };
    let mut client = session(Role::Client, &config, &Agreed::default());
    client.close(at(0), 1000, "").unwrap();
    let input =
        [frame_to(Role::Client, FIN | TEXT, b"late"), frame_to(Role::Client, FIN | CLOSE, b"\x03\xe8")]
            .concat();
    client.handle_input(at(1), &input);
    let events = events(&mut client);
    assert!(
        matches!(&events[..], [Event::Message(late), Event::Closed { code: 1000, clean: true, .. }] if *late == Message::text("late"))
    );
}

#[test]
fn a_peer_that_never_answers_a_close_is_given_up_at_the_deadline() {
    for role in ROLES {
        let mut session = session(role, &config(), &Agreed::default());
        session.close(at(5), 1000, "").unwrap();
        // Neither data nor a second call puts it off.
        session.handle_input(at(500), &frame_to(role, FIN | TEXT, b"still here"));
        session.close(at(900), 1001, "").unwrap();
        assert_eq!(session.poll_timeout(), Some(at(1_005)));
        session.handle_timeout(at(1_004));
        assert!(!session.is_over());
        session.handle_timeout(at(1_005));
        assert!(session.is_over() && session.outgoing().is_empty());
        assert_eq!(end(&events(&mut session)), (Some(Code::CloseTimeout), ABNORMAL));
        assert_eq!(session.poll_timeout(), None);
    }
}

#[test]
fn a_client_waits_for_the_server_to_close_the_stream_until_the_deadline() {
    for ends in [true, false] {
        let mut client = session(Role::Client, &config(), &Agreed::default());
        client.handle_input(at(0), &frame_to(Role::Client, FIN | CLOSE, b"\x03\xe8"));
        assert_eq!(end(&events(&mut client)), (None, 1000));
        drained(&mut client, at(0));
        assert!(!client.is_over());
        if ends {
            client.handle_end(at(1), StreamEnd::Closed);
        } else {
            client.handle_timeout(at(1_000));
        }
        assert!(client.is_over());
        assert_eq!(events(&mut client), []);
    }
}

#[test]
fn a_close_in_the_middle_of_a_message_that_is_being_sent_goes_out() {
    for role in ROLES {
        let mut session = session(role, &config(), &Agreed::default());
        session.send_fragment(at(0), Kind::Text, "half".into(), false).unwrap();
        session.close(at(0), 1001, "bye").unwrap();
        let error = session.send_fragment(at(0), Kind::Text, "rest".into(), true).unwrap_err();
        assert_eq!(error.code, Code::BadState);
        let sent = frames(&drained(&mut session, at(0)));
        assert_eq!(sent, [Frame::new(role, TEXT, b"half"), Frame::new(role, FIN | CLOSE, b"\x03\xe9bye")]);
    }
}

#[test]
fn the_end_of_the_stream_without_a_close_frame_is_1006() {
    for (how, code) in [
        (StreamEnd::Closed, Code::AbnormalClosure),
        (StreamEnd::Truncated, Code::TlsTruncated),
        (StreamEnd::Reset, Code::Reset),
    ] {
        let mut client = session(Role::Client, &config(), &Agreed::default());
        client.handle_input(at(0), &[FIN | BINARY, 5, 1, 2]);
        client.handle_end(at(0), how);
        client.handle_end(at(0), how);
        assert_eq!(end(&events(&mut client)), (Some(code), ABNORMAL));
        assert!(client.is_over());
    }
}

#[test]
fn a_message_and_a_close_and_the_end_in_one_go_lose_nothing() {
    let mut server = session(Role::Server, &config(), &Agreed::default());
    let input =
        [frame_to(Role::Server, FIN | TEXT, b"last"), frame_to(Role::Server, FIN | CLOSE, b"\x03\xe8")]
            .concat();
    server.handle_input(at(0), &input);
    server.handle_end(at(0), StreamEnd::Closed);
    let events = events(&mut server);
    assert!(
        matches!(&events[..], [Event::Message(_), Event::Closed { code: 1000, clean: true, .. }]),
        "{events:?}"
    );
    assert!(server.is_over());
}

#[test]
fn a_dead_link_is_noticed_without_traffic() {
    let keepalive = Keepalive { interval: Duration::from_secs(20), timeout: Duration::from_secs(5) };
    let config = Config { keepalive: Some(keepalive), ..config() };
    let mut client = session(Role::Client, &config, &Agreed::default());
    let mut now = at(1_000);
    client.handle_timeout(now);
    let mut pings = 0;
    while !client.is_over() {
        now = client.poll_timeout().unwrap();
        client.handle_timeout(now);
        pings += frames(&drained(&mut client, now)).len();
    }
    assert_eq!((now, pings), (at(26_000), 1));
    assert_eq!(end(&events(&mut client)), (Some(Code::PongTimeout), ABNORMAL));
}

#[test]
fn pings_measure_the_round_trip_and_any_byte_is_a_sign_of_life() {
    let config = Config { keepalive: Some(Keepalive::default()), ..config() };
    let mut client = session(Role::Client, &config, &Agreed::default());
    client.handle_timeout(at(0));
    client.handle_timeout(at(20_000));
    let ping = frames(&drained(&mut client, at(20_000))).remove(0);
    assert_eq!(ping.first, FIN | PING);
    client.handle_input(at(20_007), &frame_to(Role::Client, FIN | PONG, &ping.payload));
    assert_eq!(client.rtt(), Some(Duration::from_millis(7)));
    // The next ones stay without an answer, but something arrives: a header, byte by byte.
    client.handle_timeout(at(40_000));
    client.handle_input(at(59_000), &[FIN | BINARY]);
    client.handle_timeout(at(60_000));
    client.handle_input(at(79_000), &[1]);
    client.handle_timeout(at(80_000));
    assert_eq!(client.state(), State::Open);
    client.handle_timeout(at(100_000));
    assert!(client.is_over());
}

#[test]
fn timers_of_a_new_session_start_anew() {
    let config = Config { keepalive: Some(Keepalive::default()), ..config() };
    for n in 0..100 {
        // A late start: the first ping is due an interval after it, not at once.
        let mut client = session(Role::Client, &config, &Agreed::default());
        let start = at(1_000_000 * n);
        client.handle_timeout(start);
        assert_eq!(client.poll_timeout(), Some(start + Duration::from_secs(20)));
        assert!(client.outgoing().is_empty());
    }
}

#[test]
fn a_write_side_above_its_mark_refuses_and_tells_when_it_has_room() {
    for role in ROLES {
        let config = Config { high_water: 100_000, ..Config::default() };
        let mut session = session(role, &config, &Agreed::default());
        let message = Message::binary(vec![1; 300_000]);
        session.send(at(0), &message).unwrap();
        assert_eq!(session.send(at(0), &message).unwrap_err().code, Code::WouldBlock);
        assert_eq!(session.send(at(0), &Message::ping("x")).unwrap_err().code, Code::WouldBlock);
        session.close(at(0), 1000, "").unwrap();
        let sent = frames(&drained(&mut session, at(0)));
        assert_eq!(
            sent,
            [Frame::new(role, FIN | BINARY, &[1; 300_000]), Frame::new(role, FIN | CLOSE, b"\x03\xe8")]
        );
    }
    let mut client =
        session(Role::Client, &Config { high_water: 0, ..Config::default() }, &Agreed::default());
    client.send(at(0), &Message::text("a")).unwrap();
    assert_eq!(client.send(at(0), &Message::text("b")).unwrap_err().code, Code::WouldBlock);
    assert_eq!(client.poll_event(), None);
    drained(&mut client, at(0));
    assert_eq!(events(&mut client), [Event::Writable]);
    client.send(at(0), &Message::text("b")).unwrap();
}

#[test]
fn an_application_that_falls_behind_holds_input_back() {
    let mut server = session(Role::Server, &config(), &Agreed::default());
    let one = frame_to(Role::Server, FIN | BINARY, b"x");
    let input = one.repeat(100);
    let mut rest = &input[..];
    let mut count = 0;
    while !rest.is_empty() {
        let taken = server.handle_input(at(0), rest);
        rest = &rest[taken..];
        assert!(taken <= Session::MAX_EVENTS * one.len());
        assert!(rest.is_empty() || !server.wants_input());
        assert_eq!(server.handle_input(at(0), &[]), 0);
        count += events(&mut server).len();
        assert!(server.wants_input());
    }
    assert_eq!(count, 100);
}

#[test]
fn what_cannot_be_sent_is_refused_and_changes_nothing() {
    let mut client = session(Role::Client, &config(), &Agreed::default());
    let bad_text = Message { body: Payload::from_static(b"\xff"), ..Message::text("") };
    assert_eq!(client.send(at(0), &bad_text).unwrap_err().code, Code::BadMessage);
    assert_eq!(client.send(at(0), &Message::get()).unwrap_err().code, Code::BadMessage);
    assert_eq!(client.send(at(0), &Message::ping(vec![0; 126])).unwrap_err().code, Code::TooLong);
    assert_eq!(client.close(at(0), 1006, "").unwrap_err().code, Code::BadMessage);
    assert_eq!(client.close(at(0), 1000, &"x".repeat(124)).unwrap_err().code, Code::TooLong);
    let fragment = |client: &mut Session, kind, part: &'static [u8], fin| {
        client.send_fragment(at(0), kind, Payload::from_static(part), fin).map_err(|error| error.code)
    };
    assert_eq!(fragment(&mut client, Kind::Ping, b"", true), Err(Code::BadMessage));
    // A character over two fragments is text; the end within one is not.
    assert_eq!(fragment(&mut client, Kind::Text, b"\xc3", false), Ok(()));
    assert_eq!(client.send(at(0), &Message::text("other")).unwrap_err().code, Code::BadState);
    assert_eq!(fragment(&mut client, Kind::Binary, b"", false), Err(Code::BadMessage));
    assert_eq!(fragment(&mut client, Kind::Text, b"\xff", false), Err(Code::BadMessage));
    assert_eq!(fragment(&mut client, Kind::Text, b"", true), Err(Code::BadMessage));
    client.send(at(0), &Message::ping("between")).unwrap();
    assert_eq!(fragment(&mut client, Kind::Text, b"\xa9", true), Ok(()));
    client.send(at(0), &Message::text("other")).unwrap();
    let expected = [(TEXT, &b"\xc3"[..]), (FIN | PING, b"between"), (FIN, b"\xa9"), (FIN | TEXT, b"other")];
    let expected = expected.map(|(first, payload)| Frame::new(Role::Client, first, payload));
    assert_eq!(frames(&drained(&mut client, at(0))), expected);
    let close = Message { kind: Kind::Close, status: 1001, ..Message::binary("bye") };
    client.send(at(0), &close).unwrap();
    assert_eq!(frames(&drained(&mut client, at(0))), [Frame::new(Role::Client, FIN | CLOSE, b"\x03\xe9bye")]);
    assert_eq!(client.send(at(0), &Message::text("late")).unwrap_err().code, Code::BadState);
}

#[test]
fn control_frames_do_not_tear_a_long_payload_apart() {
    let mut client = session(Role::Client, &config(), &Agreed::default());
    let long = ws_support::sample(1, 500_000);
    client.send(at(0), &Message::binary(long.clone())).unwrap();
    let mut sent = vec![];
    client.outgoing().copy(usize::MAX, &mut sent);
    client.handle_input(at(0), &frame_to(Role::Client, FIN | PING, b"p"));
    client.send(at(0), &Message::ping("mine")).unwrap();
    client.outgoing().copy(100, &mut sent);
    client.send(at(0), &Message::text("next")).unwrap();
    sent.extend(drained(&mut client, at(0)));
    let expected =
        [(FIN | BINARY, &long[..]), (FIN | PONG, b"p"), (FIN | PING, b"mine"), (FIN | TEXT, b"next")];
    assert!(frames(&sent) == expected.map(|(first, payload)| Frame::new(Role::Client, first, payload)));
}

#[test]
fn keys_differ_from_frame_to_frame_and_a_null_mask_is_only_for_those_who_ask() {
    let keys = |config: &Config| {
        let mut client = Session::new(Role::Client, config, &Agreed::default(), Rng::from_u64(1)).unwrap();
        (0..100)
            .map(|_| {
                client.send(at(0), &Message::binary("x")).unwrap();
                drained(&mut client, at(0))[2..6].to_vec()
            })
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(keys(&config()).len(), 100);
    assert_eq!(keys(&Config { unsafe_null_mask: true, ..config() }).len(), 1);
}

#[test]
fn the_write_side_does_not_grow_to_the_largest_message() {
    let mut client = session(Role::Client, &config(), &Agreed::default());
    client.send(at(0), &Message::binary(vec![1; 64 << 20])).unwrap();
    let (mut total, mut buf) = (0, vec![]);
    while !client.outgoing().is_empty() {
        assert!(client.outgoing().len() <= 60_000);
        buf.clear();
        total += client.outgoing().copy(usize::MAX, &mut buf);
    }
    // A header with a length of 8 bytes and a key.
    assert_eq!(total, 14 + (64 << 20));
}
