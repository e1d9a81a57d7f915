//! What users of other libraries reported, as tests. The numbers are those of the specification's list.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::{client, client_with, drained, server};
use proto_conn::{
    Code, Message, Method, Talk as _,
    http::{BodyKind, ClientSession, Config, Event, Leniency, SendOptions},
};

const BOTH: [&str; 2] = [
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
];
const CHUNKED_BODY: &str = "5\r\nhello\r\n0\r\n\r\n";

fn lenient() -> Config {
    let leniency = Leniency { length_beside_chunked: true, ..Leniency::default() };
    Config { leniency, ..Config::default() }
}

/// Feeds a chunked request's body, and returns what the server says.
fn chunked_request(body: &str) -> (Option<Code>, usize) {
    let mut stage = server(Config::default());
    stage.feed(format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
    (stage.failure(), stage.messages().len())
}

/// The same of a response, to a client.
fn chunked_response(body: &str) -> (Option<Code>, usize) {
    let mut stage = client(Config::default(), 1);
    stage.feed(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
    (stage.failure(), stage.messages().len())
}

fn is_refused_by_both(body: &str) -> bool {
    chunked_request(body) == (Some(Code::HttpFraming), 0)
        && chunked_response(body) == (Some(Code::HttpFraming), 0)
}

#[test]
fn report_1_a_request_with_both_length_and_chunked_is_refused_and_the_connection_ends() {
    for fields in BOTH {
        let mut stage = server(lenient());
        stage.feed(format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n{CHUNKED_BODY}"));
        assert!(stage.sent.starts_with("HTTP/1.1 400 ") && stage.session.is_over());
        assert!(stage.messages().is_empty());
    }
}

#[test]
fn report_2_a_length_that_was_overlooked_is_not_handed_on() {
    for fields in BOTH {
        let mut stage = client(lenient(), 1);
        stage.feed(format!("HTTP/1.1 200 OK\r\n{fields}\r\n{CHUNKED_BODY}"));
        let [answer] = stage.messages()[..] else { panic!("{:?}", stage.events) };
        assert_eq!(*answer.body, *b"hello");
        assert_eq!(answer.headers.get("content-length"), None);
        assert!(!stage.session.is_reusable());
    }
}

#[test]
fn report_5_a_body_that_is_expected_is_sent_after_100_or_a_while_and_not_after_a_refusal() {
    let put = Message::request(Method::Put, "/", "hello");
    let how = SendOptions { expect_continue: true, ..SendOptions::default() };
    let begin = || client_with(Config::default(), &put, &how);

    let mut told = begin();
    assert!(told.sent.contains("Expect: 100-continue\r\n") && !told.sent.contains("hello"));
    told.feed("HTTP/1.1 100 Continue\r\n\r\n");
    assert!(told.sent.ends_with("\r\n\r\nhello"));
    told.feed("HTTP/1.1 204 No Content\r\n\r\n");
    assert!(told.session.is_reusable());

    let mut silent = begin();
    silent.wait(999);
    assert!(!silent.sent.contains("hello"));
    silent.wait(1);
    assert!(silent.sent.ends_with("hello"));
    // An interim response that comes late changes nothing.
    silent.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(silent.sent.matches("hello").count(), 1);
    assert!(silent.session.is_reusable());

    for status in [401, 417] {
        let mut refused = begin();
        refused.feed(format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n")).wait(5_000);
        assert!(!refused.sent.contains("hello"));
        assert_eq!(refused.messages()[0].status, status);
        // The server may wait for the body that was announced.
        assert!(refused.session.is_over());
    }

    let streamed = SendOptions { body: BodyKind::Streamed { length: None }, ..how };
    let mut asked = client_with(Config::default(), &put_without_body(), &streamed);
    let early = asked.session.send_part(asked.now, "x".into());
    assert_eq!(early.unwrap_err().code, Code::WouldBlock);
    asked.feed("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(asked.events.last(), Some(&Event::Sent));
    asked.session.send_part(asked.now, "x".into()).unwrap();
}

fn put_without_body() -> Message {
    Message::request(Method::Put, "/", "")
}

#[test]
fn report_7_a_connection_is_discarded_after_a_timeout() {
    let mut stage = client(Config::default(), 1);
    stage.wait(31_000);
    assert_eq!(stage.failure(), Some(Code::FirstByteTimeout));
    assert!(stage.session.is_over() && !stage.session.is_reusable() && !stage.session.can_send());
    let late =
        stage.session.send(stage.now, &Message::get(), &SendOptions { host: "a", ..SendOptions::default() });
    assert_eq!(late.unwrap_err().code, Code::BadState);
    // The late answer is nobody's.
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(stage.messages().is_empty());
}

#[test]
fn report_13_a_chunk_that_is_longer_than_its_size_is_refused() {
    assert!(is_refused_by_both("5\r\nAAAAAXX0\r\n\r\n"));
    assert!(is_refused_by_both("5\r\nAAAAA\rX0\r\n\r\n"));
    assert!(is_refused_by_both("5\r\nAAAAA\n\n0\r\n\r\n"));
    assert_eq!(chunked_request("5\r\nAAAAA\r\n0\r\n\r\n"), (None, 1));
}

#[test]
fn report_14_what_follows_the_last_chunk_is_a_trailer_or_the_end() {
    assert_eq!(chunked_request("0\r\nX:").1, 0);
    let mut stage = server(Config::default());
    stage.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n");
    let [first, second] = stage.messages()[..] else { panic!("{:?}", stage.events) };
    assert_eq!((first.trailers.get_str("x"), second.headers.get_str("host")), (Some("y"), Some("b")));
    assert_eq!(chunked_request("0\r\nXXGET / HTTP/1.1\r\nHost: b\r\n\r\n"), (Some(Code::HttpSyntax), 0));
}

#[test]
fn report_15_a_bare_lf_ends_neither_a_chunk_size_nor_an_extension() {
    for body in [
        "5\nhello\r\n0\r\n\r\n",
        "5;a\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r\n0\n\r\n",
        "2;\n\r\nab\r\n0\r\n\r\n",
        "2;\rx\r\nab\r\n0\r\n\r\n",
    ] {
        assert!(is_refused_by_both(body), "{body:?}");
    }
    let leniency = Leniency { bare_lf: true, ..Leniency::default() };
    let mut stage = client(Config { leniency, ..Config::default() }, 1);
    stage.feed("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\r\n0\r\n\r\n");
    assert_eq!(stage.failure(), Some(Code::HttpFraming));
}

#[test]
fn report_16_a_folded_line_or_a_blank_before_a_colon_hides_no_length() {
    for fields in [
        "X: y\r\n Content-Length: 5\r\n",
        "Content-Length : 5\r\n",
        " Content-Length: 5\r\n",
        "Content-Length\t: 5\r\n",
    ] {
        let mut stage = server(Config::default());
        stage.feed(format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\nhello"));
        assert!(stage.sent.starts_with("HTTP/1.1 400 "), "{fields:?}");
    }
}

#[test]
fn report_17_a_bare_lf_ends_a_line_only_for_a_client_that_says_so() {
    let leniency = Leniency { bare_lf: true, ..Leniency::default() };
    let config = Config { leniency, ..Config::default() };
    let mut stage = server(config);
    stage.feed("GET / HTTP/1.1\nHost: a\n\n");
    assert!(stage.sent.starts_with("HTTP/1.1 400 "));
    let answer = "HTTP/1.1 200 OK\nContent-Length: 2\n\nok";
    let mut strict = client(Config::default(), 1);
    strict.feed(answer);
    assert_eq!(strict.failure(), Some(Code::HttpSyntax));
    let mut lenient = client(config, 1);
    lenient.feed(answer);
    assert_eq!(*lenient.messages()[0].body, *b"ok");
    let mut bare_cr = client(config, 1);
    bare_cr.feed("HTTP/1.1 200 OK\nX: a\rb\n\n");
    assert_eq!(bare_cr.failure(), Some(Code::HttpSyntax));
}

#[test]
fn report_18_nothing_follows_a_chunk_sizes_digits() {
    for size in ["1zz", "1 ", "1\t", "0x1", "+1", "-1", "1_0", "", " 1", "1\0", "8000000000000000"] {
        assert!(is_refused_by_both(&format!("{size}\r\nA\r\n0\r\n\r\n")), "{size:?}");
    }
}

#[test]
fn report_19_a_client_has_both_policies_and_1_0_has_no_chunked() {
    for fields in BOTH {
        let answer = format!("HTTP/1.1 200 OK\r\n{fields}\r\n{CHUNKED_BODY}");
        let mut strict = client(Config::default(), 1);
        strict.feed(&answer);
        assert_eq!(strict.failure(), Some(Code::HttpFraming));
        let mut overlooking = client(lenient(), 1);
        overlooking.feed(&answer);
        assert_eq!(*overlooking.messages()[0].body, *b"hello");
        assert!(overlooking.session.is_over());
    }
    let mut stage = server(Config::default());
    stage.feed(format!("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED_BODY}"));
    assert!(stage.sent.starts_with("HTTP/1.1 400 "));
    let mut stage = client(lenient(), 1);
    stage.feed(format!("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED_BODY}"));
    assert_eq!(stage.failure(), Some(Code::HttpFraming));
}

#[test]
fn report_20_slow_bytes_are_read_as_fast_ones() {
    let body = "1;a=\"b;\\\"\"\r\nA\r\n00c\r\n hello world\r\n0;x\r\nT: u\r\n\r\n";
    let input = format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}").repeat(2);
    let mut whole = server(Config::default());
    whole.feed(&input);
    assert_eq!(*whole.messages()[1].body, *b"A hello world");
    for size in 1..input.len() {
        let mut pieces = server(Config::default());
        pieces.feed_in(size, input.as_bytes());
        assert_eq!(pieces.story(), whole.story(), "{size}");
    }
}

#[test]
fn an_answer_that_was_there_before_the_request_left_is_not_taken_for_its_answer() {
    let mut session = ClientSession::new(Config::default()).unwrap();
    let how = SendOptions { host: "a", ..SendOptions::default() };
    session.send(http_support::START, &Message::get(), &how).unwrap();
    session.handle_input(http_support::START, b"HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(session.poll_event(), Some(Event::Failed(error)) if error.code == Code::Unexpected));
    assert_eq!(drained(session.outgoing()), "");
}

#[cfg(feature = "deflate")]
mod report_11 {
    use super::*;
    use proto_conn::{
        Flags,
        http::{Limits, ResponseMode},
    };
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn answer(coding: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    const DECODING: fn() -> SendOptions<'static> = || SendOptions { decode: true, ..SendOptions::default() };

    #[test]
    fn each_coding_is_undone_whole_and_in_parts_however_it_arrives() {
        let text: Vec<u8> = (0..50_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        for (coding, body) in [
            ("gzip", gzip(&text)),
            ("x-GZip", gzip(&text)),
            ("deflate", zlib(&text)),
            ("deflate", deflate(&text)),
        ] {
            for size in [1, 100, usize::MAX] {
                let mut whole = client_with(Config::default(), &Message::get(), &DECODING());
                assert!(whole.sent.contains("Accept-Encoding: gzip, deflate\r\n"));
                whole.feed_in(size, &answer(coding, &body));
                let [message] = whole.messages()[..] else { panic!("{:?}", whole.events) };
                assert!(*message.body == text && message.flags.has(Flags::COMPRESSED), "{coding} {size}");
                assert_eq!(
                    (message.headers.get("content-encoding"), message.headers.get("content-length")),
                    (None, None)
                );
                let how = SendOptions { response: ResponseMode::Streamed, ..DECODING() };
                let mut parts = client_with(Config::default(), &Message::get(), &how);
                parts.feed_in(size, &answer(coding, &body));
                assert!(parts.parts() == text, "{coding} {size}");
                assert!(matches!(parts.events.last(), Some(Event::BodyEnd(_))));
                assert!(parts.session.is_reusable() && parts.session.is_idle());
            }
        }
    }

    #[test]
    fn what_was_not_asked_for_or_is_not_known_stays_as_it_is() {
        let body = gzip(b"hello");
        let mut unasked = client(Config::default(), 1);
        unasked.feed(answer("gzip", &body));
        assert_eq!(*unasked.messages()[0].body, *body);
        assert!(unasked.messages()[0].headers.get("content-encoding").is_some());
        let mut unknown = client_with(Config::default(), &Message::get(), &DECODING());
        unknown.feed(answer("br", b"xyz"));
        assert_eq!(*unknown.messages()[0].body, *b"xyz");
        let mut identity = client_with(Config::default(), &Message::get(), &DECODING());
        identity.feed(answer("identity", b"xyz"));
        assert_eq!(*identity.messages()[0].body, *b"xyz");
        let head = Message::request(Method::Head, "/", "");
        let mut none = client_with(Config::default(), &head, &DECODING());
        none.feed("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 50\r\n\r\n");
        assert_eq!(none.messages()[0].headers.get_str("content-length"), Some("50"));
    }

    #[test]
    fn report_11_a_bomb_is_stopped_by_its_length_or_its_ratio_and_a_chain_of_codings_at_once() {
        let bomb = gzip(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000);
        let limits = Limits { body: 1 << 20, ..Limits::default() };
        let mut whole = client_with(Config { limits, ..Config::default() }, &Message::get(), &DECODING());
        whole.feed(answer("gzip", &bomb));
        assert_eq!(whole.failure(), Some(Code::Bomb));

        let ratio = Limits { decoding_ratio: 100, ..Limits::default() };
        let how = SendOptions { response: ResponseMode::Streamed, ..DECODING() };
        let mut parts = client_with(Config { limits: ratio, ..Config::default() }, &Message::get(), &how);
        parts.feed(answer("gzip", &bomb));
        assert_eq!(parts.failure(), Some(Code::Bomb));
        assert!(parts.parts().len() < 4 << 20);

        let mut chain = client_with(Config::default(), &Message::get(), &DECODING());
        chain.feed(answer("gzip, gzip", &gzip(&bomb)));
        assert_eq!(chain.failure(), Some(Code::BadEncoding));
    }

    #[test]
    fn report_11_decoding_waits_for_its_reader() {
        let bomb = gzip(&vec![0; 10 << 20]);
        let config = Config { unread: 200_000, ..Config::default() };
        let how = SendOptions { response: ResponseMode::Streamed, ..DECODING() };
        let limits = Limits { decoding_ratio: u64::MAX, ..Limits::default() };
        let mut stage = client_with(Config { limits, ..config }, &Message::get(), &how);
        stage.session.handle_input(stage.now, &answer("gzip", &bomb));
        assert!(!stage.session.wants_input());
        let (mut total, mut most) = (0, 0);
        while let Some(event) = stage.session.poll_event() {
            if let Event::BodyPart(part) = event {
                total += part.len();
                most = most.max(part.len());
            }
        }
        assert_eq!((total, most), (10 << 20, 64 << 10));
        assert!(stage.session.is_idle() && stage.session.wants_input());
    }

    #[test]
    fn report_11_a_redirects_body_is_not_decoded_to_be_dropped() {
        let bomb = gzip(&vec![0; 10 << 20]);
        let how = SendOptions { response: ResponseMode::Streamed, ..DECODING() };
        let mut stage = client_with(Config::default(), &Message::get(), &how);
        let input = answer("gzip", &bomb);
        let head = input.len() - bomb.len();
        stage.feed(&input[..head]);
        stage.session.drop_response();
        stage.feed(&input[head..]);
        assert!(stage.parts().is_empty());
        assert!(stage.session.is_idle() && stage.session.is_reusable());
    }

    #[test]
    fn corrupt_data_is_told_even_when_the_connection_has_ended_before_it_was_read() {
        let mut body = gzip(&vec![0; 1 << 20]);
        let checksum = body.len() - 6;
        body[checksum] ^= 1;
        let limits = Limits { decoding_ratio: u64::MAX, ..Limits::default() };
        let config = Config { unread: 200_000, limits, ..Config::default() };
        let how = SendOptions { response: ResponseMode::Streamed, keep_alive: false, ..DECODING() };
        let mut stage = client_with(config, &Message::get(), &how);
        stage.session.handle_input(stage.now, &answer("gzip", &body));
        assert!(stage.session.is_over());
        stage.settle();
        assert_eq!(stage.failure(), Some(Code::BadEncoding));
        assert!(!stage.events.iter().any(|event| matches!(event, Event::BodyEnd(_))));
        assert_eq!(stage.session.poll_event(), None);
    }

    #[test]
    fn a_coded_body_that_is_corrupt_or_cut_is_an_error() {
        let mut body = gzip(&vec![7; 5_000]);
        let mut cut = client_with(Config::default(), &Message::get(), &DECODING());
        cut.feed(answer("gzip", &body[..body.len() - 9]));
        assert_eq!(cut.failure(), Some(Code::BadEncoding));
        let end = body.len() - 6;
        body[end] ^= 1;
        let mut corrupt = client_with(Config::default(), &Message::get(), &DECODING());
        corrupt.feed(answer("gzip", &body));
        assert_eq!(corrupt.failure(), Some(Code::BadEncoding));
    }
}
