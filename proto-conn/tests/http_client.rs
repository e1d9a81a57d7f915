//! The client's side: sending, receiving, times and ends.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::{Stage, client, client_with, drained};
use proto_conn::{
    Code, Flags, Message, Method, Payload, Phase, StreamEnd, Talk as _,
    http::{BodyKind, ClientSession, Config, Event, Leniency, Limits, Progress, ResponseMode, SendOptions},
};
use std::time::Duration;

const STREAMED: SendOptions<'static> = SendOptions { response: ResponseMode::Streamed, ..DEFAULT };
const DEFAULT: SendOptions<'static> = SendOptions {
    form: proto_conn::http::TargetForm::Origin,
    target: "/",
    host: "a",
    keep_alive: true,
    body: BodyKind::Whole,
    response: ResponseMode::Buffered,
    decode: false,
    expect_continue: false,
    is_retry: false,
};

fn get() -> Stage<ClientSession> {
    client(Config::default(), 1)
}

fn streaming() -> Stage<ClientSession> {
    client_with(Config::default(), &Message::get(), &STREAMED)
}

fn again(stage: &mut Stage<ClientSession>) {
    stage.session.send(stage.now, &Message::get(), &DEFAULT).unwrap();
    stage.settle();
}

fn numbers(len: usize) -> Vec<u8> {
    (0..251).cycle().take(len).collect()
}

#[test]
fn an_exchange_is_a_request_and_its_answer() {
    let post = Message::request(Method::Post, "/x", "hello").with_header("A", "b").unwrap();
    let mut stage = client_with(Config::default(), &post, &DEFAULT);
    assert_eq!(stage.sent, "POST /x HTTP/1.1\r\nHost: a\r\nA: b\r\nContent-Length: 5\r\n\r\nhello");
    stage.feed("HTTP/1.1 201 Created\r\nX: y\r\nContent-Length: 3\r\n\r\nabc");
    let [Event::Response(answer)] = &stage.events[..] else { panic!("{:?}", stage.events) };
    assert_eq!((answer.status, &*answer.body, answer.headers.get_str("x")), (201, &b"abc"[..], Some("y")));
    assert_eq!(answer.received, Some(stage.now));
    assert!(stage.session.is_idle() && stage.session.is_reusable() && stage.session.can_send());
}

#[test]
fn a_long_body_may_be_read_in_place() {
    let body = numbers(300_000);
    for mode in [ResponseMode::Buffered, ResponseMode::Streamed] {
        for chunked in [false, true] {
            let how = SendOptions { response: mode, ..DEFAULT };
            let mut stage = client_with(Config::default(), &Message::get(), &how).reading_in_place();
            let mut input = if chunked {
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len())
                    .into_bytes()
            } else {
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes()
            };
            input.extend(&body);
            input.extend(if chunked { &b"\r\n0\r\n\r\n"[..] } else { b"" });
            stage.feed(&input);
            let received = match mode {
                ResponseMode::Buffered => stage.messages()[0].body.to_vec(),
                ResponseMode::Streamed => stage.parts(),
            };
            assert!(received == body, "{mode:?} {chunked}");
            assert!(stage.session.is_reusable() && stage.session.is_idle(), "{mode:?} {chunked}");
        }
    }
}

#[test]
fn a_body_that_lasts_until_the_end_is_marked_and_one_that_is_cut_is_an_error() {
    let head = "HTTP/1.1 200 OK\r\n\r\nabc";
    let mut stage = get();
    stage.feed(head).end(StreamEnd::Closed);
    let [answer] = stage.messages()[..] else { panic!() };
    assert!(answer.flags.has(Flags::BODY_BY_CLOSE) && *answer.body == *b"abc");
    assert!(stage.session.is_over() && !stage.session.is_reusable());

    let mut stage = get();
    stage.feed(head).end(StreamEnd::Truncated);
    assert_eq!(stage.failure(), Some(Code::TlsTruncated));
    assert!(stage.messages().is_empty());

    for framing in ["Content-Length: 4\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"] {
        for end in [StreamEnd::Closed, StreamEnd::Truncated] {
            let mut stage = get();
            stage.feed(format!("HTTP/1.1 200 OK\r\n{framing}")).end(end);
            assert_eq!(stage.failure(), Some(Code::IncompleteBody));
            assert!(stage.messages().is_empty());
        }
    }
}

#[test]
fn progress_tells_how_far_the_request_has_come_even_after_a_failure() {
    let mut session = ClientSession::new(Config::default()).unwrap();
    let now = http_support::START;
    session.send(now, &Message::request(Method::Post, "/", vec![0; 40_000]), &DEFAULT).unwrap();
    assert_eq!(session.progress(), Progress::NothingSent);
    session.outgoing().copy(5, &mut Vec::new());
    assert_eq!(session.progress(), Progress::HeadSent);
    session.outgoing().copy(1_000, &mut Vec::new());
    assert_eq!(session.progress(), Progress::Sending);
    let _ = drained(session.outgoing());
    session.handle_sent(now);
    assert_eq!(session.progress(), Progress::Sent);
    session.handle_input(now, b"H");
    assert_eq!(session.progress(), Progress::Answering);

    for (sent, end, progress, code) in [
        (0, StreamEnd::Closed, Progress::NothingSent, Code::NotSent),
        (5, StreamEnd::Reset, Progress::HeadSent, Code::Reset),
        (usize::MAX, StreamEnd::Closed, Progress::Sent, Code::ClosedEarly),
    ] {
        let mut session = ClientSession::new(Config::default()).unwrap();
        session.send(now, &Message::get(), &DEFAULT).unwrap();
        session.outgoing().copy(sent, &mut Vec::new());
        session.handle_end(now, end);
        assert_eq!(session.progress(), progress);
        assert!(matches!(session.poll_event(), Some(Event::Failed(error)) if error.code == code), "{code:?}");
    }
}

#[test]
fn bytes_that_nobody_asked_for_make_the_connection_unusable() {
    let mut stage = get();
    stage.feed("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_eq!(stage.messages()[0].status, 204);
    assert_eq!(stage.failure(), Some(Code::Unexpected));
    assert!(stage.session.is_over() && !stage.session.can_send());

    // An answer that was there before the request left belongs to no request.
    let mut session = ClientSession::new(Config::default()).unwrap();
    session.send(http_support::START, &Message::get(), &DEFAULT).unwrap();
    session.handle_input(http_support::START, b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(session.poll_event(), Some(Event::Failed(error)) if error.code == Code::Unexpected));
    assert_eq!(session.progress(), Progress::NothingSent);
}

#[test]
fn the_connection_is_reusable_as_version_and_options_say() {
    for (head, reusable) in [
        ("HTTP/1.1 200 OK\r\n", true),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n", false),
        ("HTTP/1.0 200 OK\r\n", false),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n", true),
    ] {
        let mut stage = get();
        stage.feed(format!("{head}Content-Length: 0\r\n\r\n"));
        assert_eq!((stage.messages().len(), stage.session.is_reusable()), (1, reusable), "{head}");
        assert_eq!(stage.session.is_over(), !reusable);
    }
    let how = SendOptions { keep_alive: false, ..DEFAULT };
    let mut stage = client_with(Config::default(), &Message::get(), &how);
    assert!(stage.sent.contains("Connection: close\r\n"));
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(stage.session.is_over());
}

#[test]
fn the_servers_idle_limit_counts_a_second_less() {
    let mut stage = get();
    stage.feed("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(stage.session.idle_limit(), Some(Duration::from_secs(4)));
}

#[test]
fn a_streamed_body_waits_for_its_reader() {
    let config = Config { unread: 100_000, ..Config::default() };
    let mut stage = client_with(config, &Message::get(), &STREAMED);
    let now = stage.now;
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");
    assert!(stage.messages()[0].flags.has(Flags::STREAMED));
    let (mut taken, piece) = (0, [7; 30_000]);
    while stage.session.wants_input() {
        taken += stage.session.handle_input(now, &piece);
    }
    assert!((100_000..=130_000).contains(&taken));
    assert_eq!(stage.session.handle_input(now, &piece), 0);
    assert!(stage.session.spare().is_none());
    // While the application is slow, the server is not blamed.
    assert_eq!(stage.session.poll_timeout(), None);
    stage.wait(60_000);
    assert_eq!(stage.parts().len(), taken);
    assert!(stage.session.wants_input());
    assert_eq!(stage.failure(), None);
    stage.wait(29_000);
    assert_eq!(stage.failure(), None);
    stage.wait(2_000);
    assert_eq!(stage.failure(), Some(Code::BetweenBytesTimeout));
}

#[test]
fn a_dropped_streamed_body_costs_the_connection_only_if_it_is_long() {
    let mut short = streaming();
    short.feed("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\nabc");
    short.session.drop_response();
    short.feed(vec![0; 59_997]);
    assert!(short.session.is_idle() && short.session.is_reusable());
    again(&mut short);
    short.feed("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(short.messages()[1].status, 204);

    let mut long = streaming();
    long.feed("HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\nabc");
    long.session.drop_response();
    assert!(long.session.is_over());

    let mut endless = streaming();
    endless.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    endless.session.drop_response();
    for _ in 0..10 {
        endless.feed(format!("2000\r\n{}\r\n", "x".repeat(0x2000)));
    }
    assert!(endless.session.is_over());
    assert_eq!(endless.failure(), None);
}

#[test]
fn a_buffered_body_has_a_limit_and_a_streamed_one_has_none() {
    let limits = Limits { body: 10, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    for body in [
        "Content-Length: 11\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n",
        "\r\nabcdefghijk",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{body}");
        let mut whole = client(config, 1);
        whole.feed(&answer);
        assert_eq!(whole.failure(), Some(Code::BodyTooLong), "{body}");
        let mut parts = client_with(config, &Message::get(), &STREAMED);
        parts.feed(&answer);
        assert_eq!(parts.failure(), None, "{body}");
    }
    let mut exact = client(config, 1);
    exact.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabcdefghij\r\n0\r\n\r\n");
    assert_eq!(exact.messages()[0].body.len(), 10);
}

#[test]
fn a_request_body_may_be_streamed_with_and_without_a_length() {
    let post = Message::request(Method::Post, "/", "");
    for (length, head, body) in [
        (None, "Transfer-Encoding: chunked", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
        (Some(11), "Content-Length: 11", "hello world"),
    ] {
        let how = SendOptions { body: BodyKind::Streamed { length }, ..DEFAULT };
        let mut stage = client_with(Config::default(), &post, &how);
        assert!(stage.sent.contains(head));
        assert_eq!(stage.events, [Event::Sent]);
        assert!(!stage.session.can_send());
        stage.sent.clear();
        stage.session.send_part(stage.now, "hello".into()).unwrap();
        stage.settle();
        stage.session.send_part(stage.now, " world".into()).unwrap();
        stage.session.finish_body(stage.now, &Default::default()).unwrap();
        stage.settle();
        assert_eq!(stage.sent, body);
        assert_eq!(stage.events, [Event::Sent, Event::Sent]);
        assert_eq!(stage.session.send_part(stage.now, "x".into()).unwrap_err().code, Code::BadState);
    }
}

#[test]
fn too_much_of_a_streamed_body_has_to_wait() {
    let how = SendOptions { body: BodyKind::Streamed { length: None }, ..DEFAULT };
    let mut stage = client_with(Config::default(), &Message::request(Method::Put, "/", ""), &how);
    let part = Payload::from(vec![0; 100_000]);
    let sent = (0..10).take_while(|_| stage.session.send_part(stage.now, part.clone()).is_ok()).count();
    assert_eq!(sent, 3);
    assert_eq!(stage.session.send_part(stage.now, part.clone()).unwrap_err().code, Code::WouldBlock);
    stage.settle();
    assert!(stage.session.send_part(stage.now, part).is_ok());
}

#[test]
fn times_run_from_the_requests_end_and_between_bytes() {
    let mut stage = get();
    stage.wait(29_999);
    assert_eq!(stage.failure(), None);
    stage.wait(1);
    assert_eq!(stage.failure(), Some(Code::FirstByteTimeout));
    assert!(matches!(stage.events.last(), Some(Event::Failed(error)) if error.phase == Phase::FirstByte));

    let mut stage = get();
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\na").wait(29_999).feed("b").wait(29_999);
    assert_eq!(stage.failure(), None);
    stage.wait(1);
    assert_eq!(stage.failure(), Some(Code::BetweenBytesTimeout));
    assert!(!stage.session.is_reusable());

    let mut idle = get();
    idle.feed("HTTP/1.1 204 No Content\r\n\r\n").wait(1_000_000);
    assert_eq!(idle.failure(), None);
}

#[test]
fn interim_responses_are_told_and_counted() {
    let mut stage = get();
    stage.feed("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".repeat(16));
    assert_eq!(stage.events.len(), 16);
    assert!(
        matches!(&stage.events[0], Event::Informational(hint) if hint.headers.get_str("link") == Some("x"))
    );
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(stage.messages().len(), 1);
    let mut stage = get();
    stage.feed("HTTP/1.1 102 Processing\r\n\r\n".repeat(17));
    assert_eq!(stage.failure(), Some(Code::TooManyInformational));
}

#[test]
fn after_a_switch_the_bytes_behind_the_head_are_untouched() {
    let upgrade = Message::get().with_header("Upgrade", "x").unwrap();
    for size in [1, 20, usize::MAX] {
        let mut stage = client_with(Config::default(), &upgrade, &DEFAULT);
        assert!(stage.sent.contains("Connection: Upgrade\r\n"));
        stage.session.handle_input(
            stage.now,
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r",
        );
        for piece in b"\n\x81\x00GET \r\n\r\n".chunks(size) {
            stage.session.handle_input(stage.now, piece);
        }
        stage.settle();
        assert!(matches!(&stage.events[..], [Event::Upgraded(answer)] if answer.status == 101));
        assert!(!stage.session.wants_input() && !stage.session.is_over());
        let (outgoing, behind) = stage.session.into_upgraded();
        assert!(outgoing.is_empty());
        assert_eq!(behind, b"\x81\x00GET \r\n\r\n");
    }
    let mut unasked = get();
    unasked.feed("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
    assert_eq!(unasked.failure(), Some(Code::HttpSyntax));
}

#[test]
fn a_tunnel_is_open_with_2xx_and_a_refusal_is_an_answer() {
    let connect = Message::request(Method::Connect, "b:443", "");
    let how = SendOptions { form: proto_conn::http::TargetForm::Authority, ..DEFAULT };
    let mut stage = client_with(Config::default(), &connect, &how);
    assert_eq!(stage.sent, "CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n");
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert!(matches!(&stage.events[..], [Event::Upgraded(_)]));

    let mut refused = client_with(Config::default(), &connect, &how);
    refused.feed("HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno");
    assert_eq!((refused.messages()[0].status, &*refused.messages()[0].body), (407, &b"no"[..]));
    assert!(refused.session.is_reusable());
}

#[test]
fn pipelined_answers_come_in_order_and_only_idempotent_requests_share() {
    let mut stage = client(Config::default(), 3);
    assert!(!stage.session.can_send());
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb");
    assert_eq!(stage.messages().iter().map(|answer| answer.body[0]).collect::<Vec<_>>(), b"ab");
    let post = Message::request(Method::Post, "/", "x");
    assert_eq!(stage.session.send(stage.now, &post, &DEFAULT).unwrap_err().code, Code::WouldBlock);
    stage.feed("HTTP/1.1 204 No Content\r\n\r\n");
    stage.session.send(stage.now, &post, &DEFAULT).unwrap();
    assert!(!stage.session.can_send());
}

#[test]
fn nothing_is_sent_of_a_request_that_cannot_be() {
    let mut session = ClientSession::new(Config::default()).unwrap();
    let now = http_support::START;
    let smuggled = Message::get().with_header("Transfer-Encoding", "chunked").unwrap();
    assert_eq!(session.send(now, &smuggled, &DEFAULT).unwrap_err().code, Code::BadHeader);
    assert_eq!(session.send(now, &Message::text("x"), &DEFAULT).unwrap_err().code, Code::BadMessage);
    assert!(session.outgoing().is_empty() && session.can_send());
    session.send(now, &Message::get(), &DEFAULT).unwrap();
    assert_eq!(drained(session.outgoing()), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

#[test]
fn trailers_are_apart_from_headers_in_both_directions() {
    let mut post = Message::request(Method::Post, "/", "abc");
    post.trailers.append("Digest", "x").unwrap();
    let mut stage = client_with(Config::default(), &post, &DEFAULT);
    assert!(stage.sent.ends_with("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nDigest: x\r\n\r\n"));
    stage.feed(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: u\r\nSet-Cookie: v\r\n\r\n",
    );
    let answer = stage.messages()[0];
    assert_eq!(
        (answer.trailers.get_str("t"), answer.headers.len(), answer.trailers.len()),
        (Some("u"), 1, 1)
    );
    let mut stage = streaming();
    stage.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: u\r\n\r\n");
    assert!(
        matches!(&stage.events[..], [Event::Response(_), Event::BodyPart(_), Event::BodyEnd(trailers)] if trailers.len() == 1)
    );
}

#[test]
fn equal_lengths_count_as_one_only_if_a_client_says_so() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc";
    let mut strict = get();
    strict.feed(answer);
    assert_eq!(strict.failure(), Some(Code::HttpFraming));
    let leniency = Leniency { equal_lengths: true, ..Leniency::default() };
    let mut lenient = client(Config { leniency, ..Config::default() }, 1);
    lenient.feed(answer);
    let lengths =
        lenient.messages()[0].headers.get_all("content-length").map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!(lengths, [b"3"]);
}

#[test]
fn an_answer_that_comes_before_the_body_ends_the_connection_if_it_says_so() {
    let how = SendOptions { body: BodyKind::Streamed { length: None }, ..DEFAULT };
    let mut stage = client_with(Config::default(), &Message::request(Method::Put, "/", ""), &how);
    stage.feed("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(stage.messages()[0].status, 413);
    assert!(stage.session.is_over());

    let mut stage = client_with(Config::default(), &Message::request(Method::Put, "/", ""), &how);
    stage.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(!stage.session.is_idle() && !stage.session.can_send());
    stage.session.finish_body(stage.now, &Default::default()).unwrap();
    stage.settle();
    assert!(stage.session.is_idle() && stage.session.can_send());
}
