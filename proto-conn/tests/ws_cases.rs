//! The cases of the Autobahn test suite, groups 1 to 7, 9 and 10, as a table of our own: both roles, in pieces of any
//! size.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use proto_conn::ws::{Config, Event, Role, handshake::Agreed};
use ws_support::{
    BINARY, CLOSE, FEEDS, FIN, Frame, Outcome, PING, PONG, TEXT, config, echo, frame_to, sample,
};

/// What a case ends with.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The connection is still open.
    Open,
    /// Our close frame has this code, and the application hears of a failure.
    Fails(u16),
    /// A close frame is answered with its own code (0: with none).
    Closes(u16),
}

/// Sends `input`, each a first byte and a payload, to an echo in both roles; expects these frames back, and this end.
#[track_caller]
fn case(name: &str, input: &[(u8, &[u8])], output: &[(u8, &[u8])], end: End) {
    for role in [Role::Client, Role::Server] {
        let bytes: Vec<u8> =
            input.iter().flat_map(|(first, payload)| frame_to(role, *first, payload)).collect();
        raw_case(name, role, &bytes, output, end);
    }
}

#[track_caller]
fn raw_case(name: &str, role: Role, bytes: &[u8], output: &[(u8, &[u8])], end: End) {
    let mut expected: Vec<Frame> =
        output.iter().map(|(first, payload)| Frame::new(role, FIN | first, payload)).collect();
    match end {
        End::Open | End::Closes(0) => {}
        End::Fails(code) | End::Closes(code) => {
            expected.push(Frame::new(role, FIN | CLOSE, &code.to_be_bytes()))
        }
    }
    if let End::Closes(0) = end {
        expected.push(Frame::new(role, FIN | CLOSE, b""));
    }
    for feed in FEEDS {
        let Outcome { events, sent, over } = echo(role, &config(), &Agreed::default(), bytes, feed);
        let label = format!("case {name}, {role:?}, {feed:?}");
        assert!(sent == expected, "{label}: sent {sent:?}, expected {expected:?}");
        match (end, events.last()) {
            (End::Open, _) => assert!(!over, "{label}"),
            (End::Fails(_), Some(Event::Closed { clean: false, .. })) => {
                assert!(over && matches!(events[events.len() - 2], Event::Failed(_)), "{label}: {events:?}");
            }
            (End::Closes(code), Some(Event::Closed { code: told, clean: true, .. })) => {
                assert_eq!(*told, if code == 0 { 1005 } else { code }, "{label}");
                assert_eq!(over, role == Role::Server, "{label}: the server closes the stream first");
            }
            (_, last) => panic!("{label}: {last:?}"),
        }
    }
}

#[test]
fn messages_of_all_sizes_come_back_groups_1_and_9() {
    for len in [0, 125, 126, 127, 128, 65_535, 65_536, 65_537, 200_000] {
        let text = vec![b'*'; len];
        case("1.1", &[(FIN | TEXT, &text)], &[(TEXT, &text)], End::Open);
        let bytes = sample(1, len);
        case("1.2", &[(FIN | BINARY, &bytes)], &[(BINARY, &bytes)], End::Open);
    }
    let long = sample(2, 4 << 20);
    for role in [Role::Client, Role::Server] {
        for feed in [ws_support::Feed::Whole, ws_support::Feed::Random(3), ws_support::Feed::Lent(4)] {
            let bytes = frame_to(role, FIN | BINARY, &long);
            let outcome = echo(role, &config(), &Agreed::default(), &bytes, feed);
            assert!(outcome.sent == [Frame::new(role, FIN | BINARY, &long)], "{role:?} {feed:?}");
        }
    }
}

#[test]
fn long_messages_in_short_frames_come_back_groups_9_3_and_9_4() {
    let bytes = sample(3, 256 << 10);
    for len in [64, 4_096, 65_536] {
        let mut input = vec![];
        for (n, part) in bytes.chunks(len).enumerate() {
            let opcode = if n == 0 { BINARY } else { 0 };
            let fin = if (n + 1) * len >= bytes.len() { FIN } else { 0 };
            input.push((fin | opcode, part));
        }
        case("9.4", &input, &[(BINARY, &bytes)], End::Open);
    }
}

#[test]
fn pings_are_answered_and_pongs_are_not_group_2() {
    let long = [0xfe; 125];
    case("2.1", &[(FIN | PING, b"")], &[(PONG, b"")], End::Open);
    case("2.2", &[(FIN | PING, b"Hello, world!")], &[(PONG, b"Hello, world!")], End::Open);
    case(
        "2.3",
        &[(FIN | PING, b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")],
        &[(PONG, b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")],
        End::Open,
    );
    case("2.4", &[(FIN | PING, &long)], &[(PONG, &long)], End::Open);
    case("2.5", &[(FIN | PING, &[0xfe; 126])], &[], End::Fails(1002));
    case("2.7", &[(FIN | PONG, b"")], &[], End::Open);
    case("2.8", &[(FIN | PONG, b"unsolicited")], &[], End::Open);
    case("2.9", &[(FIN | PONG, b"unsolicited"), (FIN | PING, b"ping")], &[(PONG, b"ping")], End::Open);
    let payloads: Vec<String> = (0..10).map(|n| format!("payload-{n}")).collect();
    let pings: Vec<(u8, &[u8])> = payloads.iter().map(|payload| (FIN | PING, payload.as_bytes())).collect();
    let pongs: Vec<(u8, &[u8])> = payloads.iter().map(|payload| (PONG, payload.as_bytes())).collect();
    case("2.10", &pings, &pongs, End::Open);
}

#[test]
fn reserved_bits_fail_the_connection_group_3() {
    let hello: (u8, &[u8]) = (FIN | TEXT, b"Hello, world!");
    for bits in 1..8 {
        let reserved = bits << 4;
        let input = [hello, (FIN | reserved | TEXT, b"Hello, world!"), (FIN | PING, b"")];
        case("3", &input, &[(TEXT, b"Hello, world!")], End::Fails(1002));
        case("3.5", &[(FIN | reserved | BINARY, b"\x00\xff\xfe")], &[], End::Fails(1002));
        case("3.6", &[(FIN | reserved | PING, b"Hello, world!")], &[], End::Fails(1002));
        case("3.7", &[(FIN | reserved | CLOSE, b"")], &[], End::Fails(1002));
    }
}

#[test]
fn reserved_opcodes_fail_the_connection_group_4() {
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        case("4", &[(FIN | opcode, b"")], &[], End::Fails(1002));
        case("4", &[(FIN | opcode, b"reserved")], &[], End::Fails(1002));
        let input: [(u8, &[u8]); 3] = [(FIN | TEXT, b"Hello"), (FIN | opcode, b"x"), (FIN | PING, b"")];
        case("4", &input, &[(TEXT, b"Hello")], End::Fails(1002));
    }
}

#[test]
fn fragments_make_messages_with_control_frames_between_group_5() {
    case("5.1", &[(PING, b"frag"), (FIN, b"ment")], &[], End::Fails(1002));
    case("5.2", &[(PONG, b"frag"), (FIN, b"ment")], &[], End::Fails(1002));
    case("5.3", &[(TEXT, b"frag"), (FIN, b"ment")], &[(TEXT, b"fragment")], End::Open);
    let between: [(u8, &[u8]); 3] = [(TEXT, b"frag"), (FIN | PING, b"ping"), (FIN, b"ment")];
    case("5.6", &between, &[(PONG, b"ping"), (TEXT, b"fragment")], End::Open);
    case("5.9", &[(FIN, b"nothing before"), (FIN | TEXT, b"Hello")], &[], End::Fails(1002));
    case("5.12", &[(0, b"nothing before"), (FIN | TEXT, b"Hello")], &[], End::Fails(1002));
    let after: [(u8, &[u8]); 4] = [(TEXT, b"frag"), (FIN, b"ment"), (0, b"more"), (FIN | TEXT, b"Hello")];
    case("5.15", &after, &[(TEXT, b"fragment")], End::Fails(1002));
    case("5.16", &[(0, b"a"), (TEXT, b"b"), (FIN, b"c")], &[], End::Fails(1002));
    case("5.18", &[(TEXT, b"frag"), (FIN | TEXT, b"ment")], &[], End::Fails(1002));
    let mixed: [(u8, &[u8]); 7] =
        [(TEXT, b"1"), (0, b"2"), (FIN | PING, b"a"), (0, b"3"), (0, b""), (FIN | PING, b"b"), (FIN, b"5")];
    case("5.19", &mixed, &[(PONG, b"a"), (PONG, b"b"), (TEXT, b"1235")], End::Open);
}

#[test]
fn text_is_utf_8_group_6() {
    let greek =
        "Hello-\u{b5}@\u{df}\u{f6}\u{e4}\u{fc}\u{e0}\u{e1}-UTF-8!! \u{3ba}\u{1f79}\u{3c3}\u{3bc}\u{3b5}"
            .as_bytes();
    case("6.1.1", &[(FIN | TEXT, b"")], &[(TEXT, b"")], End::Open);
    case("6.1.2", &[(TEXT, b""), (0, b""), (FIN, b"")], &[(TEXT, b"")], End::Open);
    case("6.1.3", &[(TEXT, b""), (0, b"middle"), (FIN, b"")], &[(TEXT, b"middle")], End::Open);
    case("6.2.1", &[(FIN | TEXT, greek)], &[(TEXT, greek)], End::Open);
    case("6.2.2", &[(TEXT, &greek[..9]), (FIN, &greek[9..])], &[(TEXT, greek)], End::Open);
    let mut bytewise: Vec<(u8, &[u8])> = greek.chunks(1).map(|byte| (0, byte)).collect();
    bytewise[0].0 = TEXT;
    bytewise.last_mut().unwrap().0 = FIN;
    case("6.2.3", &bytewise, &[(TEXT, greek)], End::Open);
    let good = [
        "\u{3ba}\u{1f79}\u{3c3}\u{3bc}\u{3b5}",
        "\u{80}",
        "\u{800}",
        "\u{10000}",
        "\0",
        "\u{7f}",
        "\u{7ff}",
        "\u{ffff}",
        "\u{10ffff}",
        "\u{d7ff}",
        "\u{e000}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{1fffe}",
        "\u{10fffe}",
    ];
    for text in good {
        case("6.5 to 6.9, 6.22", &[(FIN | TEXT, text.as_bytes())], &[(TEXT, text.as_bytes())], End::Open);
    }
    let bad: [&[u8]; 30] = [
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
        b"\xce\xba\xe1\xbd",
        b"\xf8\x88\x80\x80\x80",
        b"\xfc\x84\x80\x80\x80\x80",
        b"\xf7\xbf\xbf\xbf",
        b"\xfb\xbf\xbf\xbf\xbf",
        b"\xfd\xbf\xbf\xbf\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\x80",
        b"\xbf",
        b"\x80\xbf\x80\xbf\x80\xbf",
        b"\xc0 \xc1 \xc2 ",
        b"\xe0 \xe1 ",
        b"\xf0 \xf1 ",
        b"\xc0",
        b"\xe0\x80",
        b"\xf0\x80\x80",
        b"\xdf",
        b"\xef\xbf",
        b"\xf7\xbf\xbf",
        b"\xfe",
        b"\xff",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",
        b"\xc1\xbf",
        b"\xe0\x9f\xbf",
        b"\xf0\x8f\xbf\xbf",
        b"\xed\xa0\x80",
        b"\xed\xad\xbf\xed\xb0\x80",
    ];
    for bytes in bad {
        case("6.3, 6.10 to 6.21", &[(FIN | TEXT, bytes)], &[], End::Fails(1007));
        case("6.3.2", &[(TEXT, &bytes[..1]), (FIN, &bytes[1..])], &[], End::Fails(1007));
    }
}

#[test]
fn bad_text_fails_before_its_message_is_complete_group_6_4() {
    let start = "\u{3ba}\u{1f79}\u{3c3}\u{3bc}\u{3b5}".as_bytes();
    // The message is never finished, and the last of these bytes is the first bad one.
    for bad in [&b"\xf4\x90"[..], b"\xed\xa0", b"\xff", b"\xc0"] {
        case("6.4.1", &[(TEXT, start), (0, bad)], &[], End::Fails(1007));
        for role in [Role::Client, Role::Server] {
            let mut bytes = frame_to(role, TEXT, start);
            let rest = frame_to(role, 0, &[bad, &[b'x'; 100]].concat());
            bytes.extend(&rest[..rest.len() - 100]);
            raw_case("6.4.3", role, &bytes, &[], End::Fails(1007));
            // One byte less is not enough to tell.
            raw_case("6.4.4", role, &bytes[..bytes.len() - 1], &[], End::Open);
        }
    }
}

#[test]
fn close_frames_are_answered_and_checked_group_7() {
    let hello: (u8, &[u8]) = (FIN | TEXT, b"Hello");
    case("7.1.1", &[hello, (FIN | CLOSE, b"\x03\xe8")], &[(TEXT, b"Hello")], End::Closes(1000));
    case("7.1.2", &[(FIN | CLOSE, b"\x03\xe8"), (FIN | CLOSE, b"\x03\xe8")], &[], End::Closes(1000));
    case("7.1.3", &[(FIN | CLOSE, b"\x03\xe8"), (FIN | PING, b"")], &[], End::Closes(1000));
    case("7.1.4", &[(FIN | CLOSE, b"\x03\xe8"), hello], &[], End::Closes(1000));
    let within: [(u8, &[u8]); 3] = [(TEXT, b"frag"), (FIN | CLOSE, b"\x03\xe8"), (FIN, b"ment")];
    case("7.1.5", &within, &[], End::Closes(1000));
    case("7.3.1", &[(FIN | CLOSE, b"")], &[], End::Closes(0));
    case("7.3.2", &[(FIN | CLOSE, b"a")], &[], End::Fails(1002));
    case("7.3.4", &[(FIN | CLOSE, b"\x03\xe8Hello, world!")], &[], End::Closes(1000));
    let longest = [&b"\x03\xe8"[..], &[b'*'; 123]].concat();
    case("7.3.5", &[(FIN | CLOSE, &longest)], &[], End::Closes(1000));
    case("7.3.6", &[(FIN | CLOSE, &[&longest[..], b"*"].concat())], &[], End::Fails(1002));
    case("7.5.1", &[(FIN | CLOSE, b"\x03\xe8\xce\xba\xed\xa0\x80")], &[], End::Fails(1007));
    for code in
        [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999_u16]
    {
        case("7.7", &[(FIN | CLOSE, &code.to_be_bytes())], &[], End::Closes(code));
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535_u16] {
        case("7.9, 7.13", &[(FIN | CLOSE, &code.to_be_bytes())], &[], End::Fails(1002));
    }
}

#[test]
fn messages_are_sent_in_fragments_where_asked_group_10() {
    let bytes = sample(4, 65_536);
    for role in [Role::Client, Role::Server] {
        let config = Config { fragment_above: Some(1_300), ..config() };
        let input = frame_to(role, FIN | BINARY, &bytes);
        for feed in FEEDS {
            let sent = echo(role, &config, &Agreed::default(), &input, feed).sent;
            assert_eq!(sent.len(), 65_536_usize.div_ceil(1_300));
            assert!(sent[..50].iter().all(|frame| frame.payload.len() == 1_300));
            assert_eq!((sent[0].first, sent[1].first, sent[50].first), (BINARY, 0, FIN));
            assert!(sent.iter().flat_map(|frame| &frame.payload).eq(&bytes));
        }
    }
}
