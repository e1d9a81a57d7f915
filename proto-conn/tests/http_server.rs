//! The server's side: requests, answers, refusals and times.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::{Stage, server, silent_server};
use proto_conn::{
    Code, Flags, Message, Method, StreamEnd, Talk as _,
    http::{BodyKind, Config, Event, Limits, ServerSession},
};

const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

fn silent() -> Stage<ServerSession> {
    silent_server(Config::default())
}

fn streaming() -> Stage<ServerSession> {
    silent_server(Config { stream_requests: true, ..Config::default() })
}

fn respond(stage: &mut Stage<ServerSession>, status: u16, body: &'static str) {
    stage.session.respond(stage.now, &Message::response(status, body), BodyKind::Whole).unwrap();
    stage.settle();
}

fn body_of(text: &str) -> &str {
    text.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn an_exchange_is_a_request_and_its_answer() {
    let mut stage = silent();
    stage.feed("POST /x?y HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    let [request] = stage.messages()[..] else { panic!("{:?}", stage.events) };
    assert_eq!(
        (&request.method, request.target.as_str(), &*request.body),
        (&Method::Post, "/x?y", &b"hello"[..])
    );
    respond(&mut stage, 200, "hi");
    assert_eq!(stage.sent, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    assert!(stage.session.is_idle() && !stage.session.is_over());
}

#[test]
fn pipelined_requests_are_answered_in_order_and_only_so_many_are_taken_in() {
    let mut stage = silent_server(Config { queued: 3, ..Config::default() });
    let requests: String = (0..5).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: a\r\n\r\n")).collect();
    let taken = stage.session.handle_input(stage.now, requests.as_bytes());
    assert_eq!(taken, requests.len() / 5 * 3);
    assert!(!stage.session.wants_input());
    stage.settle();
    assert_eq!(stage.messages().len(), 3);
    respond(&mut stage, 200, "0");
    assert!(stage.session.wants_input());
    stage.feed(&requests[taken..]);
    for body in ["1", "2", "3", "4"] {
        respond(&mut stage, 200, body);
        stage.feed("");
    }
    let targets: Vec<_> = stage.messages().iter().map(|request| request.target.clone()).collect();
    assert_eq!(targets, ["/0", "/1", "/2", "/3", "/4"]);
    let bodies: Vec<_> = stage.sent.split("HTTP/1.1").skip(1).map(body_of).collect();
    assert_eq!(bodies, ["0", "1", "2", "3", "4"]);
}

#[test]
fn each_kind_of_broken_request_gets_its_status_and_the_connection_ends() {
    let long = "x".repeat(70_000);
    for (input, status) in [
        ("GET /\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n".into(), 413),
        (format!("GET /{long} HTTP/1.1\r\n"), 414),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "X: y\r\n".repeat(200)), 431),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n".into(), 501),
        ("GET / HTTP/2.0\r\n\r\n".into(), 505),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".into(), 400),
    ] {
        let input: String = input;
        for size in [1, 100, usize::MAX] {
            let mut stage = server(Config::default());
            stage.feed_in(size, input.as_bytes());
            let head = format!("HTTP/1.1 {status} ");
            assert!(stage.sent.starts_with(&head), "{status}: {}", stage.sent);
            assert!(stage.sent.ends_with("Content-Length: 0\r\nConnection: close\r\n\r\n"));
            assert!(stage.session.is_over() && stage.failure().is_some());
        }
    }
}

#[test]
fn a_refusal_waits_for_the_answers_before_it() {
    let mut stage = silent();
    stage.feed(format!("{GET}{GET}BAD\r\n\r\n{GET}"));
    assert_eq!((stage.messages().len(), stage.sent.as_str(), stage.failure()), (2, "", None));
    assert!(!stage.session.wants_input());
    respond(&mut stage, 200, "");
    assert!(!stage.sent.contains("400") && !stage.sent.contains("close"));
    respond(&mut stage, 200, "");
    assert!(stage.sent.contains("HTTP/1.1 400 Bad Request\r\n") && stage.session.is_over());
    assert_eq!(stage.failure(), Some(Code::HttpSyntax));
}

#[test]
fn a_request_with_close_is_the_last() {
    let mut stage = silent();
    stage.feed(format!("{GET}GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n{GET}"));
    assert_eq!(stage.messages().len(), 2);
    respond(&mut stage, 200, "");
    assert!(!stage.sent.contains("close") && !stage.session.is_over());
    respond(&mut stage, 200, "");
    assert!(stage.sent.ends_with("Connection: close\r\n\r\n") && stage.session.is_over());
}

#[test]
fn a_client_of_1_0_keeps_the_connection_only_if_it_says_so() {
    let mut stage = silent();
    stage.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    respond(&mut stage, 200, "");
    assert!(stage.sent.contains("Connection: keep-alive\r\n") && !stage.session.is_over());
    stage.feed("GET / HTTP/1.0\r\n\r\n");
    let head = Message::response(200, "");
    stage.session.respond(stage.now, &head, BodyKind::Streamed { length: None }).unwrap();
    stage.session.send_part(stage.now, "abc".into()).unwrap();
    stage.session.finish_body(stage.now, &Default::default()).unwrap();
    stage.settle();
    assert!(stage.sent.ends_with("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"));
    assert!(stage.session.is_over());
}

#[test]
fn an_answer_may_be_streamed_in_chunks_with_trailers() {
    let mut stage = silent();
    stage.feed(GET);
    let head = Message::response(200, "");
    stage.session.respond(stage.now, &head, BodyKind::Streamed { length: None }).unwrap();
    assert!(!stage.session.wants_response());
    for part in ["hello", " world"] {
        stage.session.send_part(stage.now, part.into()).unwrap();
        stage.settle();
    }
    let mut trailers = proto_conn::Headers::new();
    trailers.append("Digest", "x").unwrap();
    stage.session.finish_body(stage.now, &trailers).unwrap();
    stage.settle();
    assert_eq!(body_of(&stage.sent), "5\r\nhello\r\n6\r\n world\r\n0\r\nDigest: x\r\n\r\n");
    assert_eq!(stage.events.iter().filter(|event| **event == Event::Sent).count(), 2);
    assert!(stage.session.is_idle());
}

#[test]
fn head_and_some_statuses_have_no_body() {
    let mut stage = silent();
    stage.feed("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    respond(&mut stage, 200, "hello");
    assert_eq!(stage.sent, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    for status in [204, 304] {
        let mut stage = silent();
        stage.feed(GET);
        let full = Message::response(status, "x");
        assert_eq!(
            stage.session.respond(stage.now, &full, BodyKind::Whole).unwrap_err().code,
            Code::BadMessage
        );
        respond(&mut stage, status, "");
        assert!(stage.sent.ends_with("\r\n\r\n") && !stage.sent.contains("Content-Length"));
    }
}

#[test]
fn a_client_that_waits_is_told_to_go_on_when_its_body_is_wanted() {
    const HEAD: &str = "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    let mut whole = silent();
    whole.feed(HEAD);
    assert_eq!(whole.sent, "HTTP/1.1 100 Continue\r\n\r\n");
    whole.feed("hello");
    assert_eq!(*whole.messages()[0].body, *b"hello");

    let mut asked = streaming();
    asked.feed(HEAD);
    assert_eq!(asked.sent, "");
    asked.session.accept_body(asked.now);
    asked.settle();
    assert_eq!(asked.sent, "HTTP/1.1 100 Continue\r\n\r\n");
    asked.feed("hello");
    assert_eq!(asked.parts(), b"hello");

    // Nobody is told to go on who went on already, or has been answered.
    let mut hasty = silent();
    hasty.feed(format!("{HEAD}hel"));
    assert_eq!(hasty.sent, "");
    let mut refused = streaming();
    refused.feed(HEAD);
    respond(&mut refused, 403, "");
    assert!(refused.sent.starts_with("HTTP/1.1 403") && refused.sent.contains("Connection: close"));
    assert!(refused.session.is_over());

    // And nobody before those before have been answered.
    let mut behind = silent();
    behind.feed(GET).feed(HEAD);
    assert_eq!(behind.sent, "");
    respond(&mut behind, 200, "");
    assert!(behind.sent.ends_with("\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"));
}

#[test]
fn a_body_that_is_longer_than_allowed_is_refused_before_it_is_sent() {
    let limits = Limits { body: 4, ..Limits::default() };
    let mut stage = silent_server(Config { limits, ..Config::default() });
    stage.feed("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assert!(stage.sent.starts_with("HTTP/1.1 413 "));
    assert!(stage.session.is_over());
    let mut chunked = silent_server(Config { limits, ..Config::default() });
    chunked.feed("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n");
    assert!(chunked.sent.starts_with("HTTP/1.1 413 ") && chunked.messages().is_empty());
}

#[test]
fn a_streamed_request_may_be_answered_before_it_is_complete() {
    let mut stage = streaming();
    stage.feed("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
    assert!(stage.messages()[0].flags.has(Flags::STREAMED));
    respond(&mut stage, 200, "");
    assert!(!stage.session.is_over());
    stage.feed(vec![b'x'; 97]).feed(GET);
    assert_eq!(stage.messages().len(), 2);

    let mut long = streaming();
    long.feed("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc");
    respond(&mut long, 200, "");
    assert!(long.sent.contains("Connection: close") && long.session.is_over());

    let mut echo = streaming();
    echo.feed("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    let head = Message::response(200, "");
    echo.session.respond(echo.now, &head, BodyKind::Streamed { length: None }).unwrap();
    echo.feed("3\r\ndef\r\n0\r\n\r\n");
    let parts = echo.parts();
    echo.session.send_part(echo.now, parts.into()).unwrap();
    echo.session.finish_body(echo.now, &Default::default()).unwrap();
    echo.settle();
    assert_eq!(body_of(&echo.sent), "6\r\nabcdef\r\n0\r\n\r\n");
    assert!(echo.session.is_idle());
}

#[test]
fn a_fault_behind_the_head_of_a_streamed_request_is_answered_unless_an_answer_has_begun() {
    const BROKEN: &str = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcXX";
    let mut stage = streaming();
    stage.feed(BROKEN);
    assert!(stage.sent.starts_with("HTTP/1.1 400 ") && stage.session.is_over());

    let mut begun = streaming();
    begun.feed(&BROKEN[..BROKEN.len() - 2]);
    let head = Message::response(200, "");
    begun.session.respond(begun.now, &head, BodyKind::Streamed { length: None }).unwrap();
    begun.feed("XX");
    assert!(!begun.sent.contains("400") && begun.session.is_over());
    assert_eq!(begun.failure(), Some(Code::HttpFraming));
}

#[test]
fn slow_clients_get_408_and_idle_ones_are_left() {
    let mut stage = silent();
    stage.wait(29_999);
    assert!(!stage.session.is_over());
    stage.wait(1);
    assert!(stage.session.is_over() && stage.sent.is_empty() && stage.failure().is_none());

    let mut head = silent();
    head.wait(20_000).feed("GET / HTT");
    for _ in 0..29 {
        head.wait(1_000).feed("X");
    }
    assert_eq!(head.failure(), None);
    head.wait(1_000);
    assert!(head.sent.starts_with("HTTP/1.1 408 ") && head.session.is_over());

    let mut body = silent();
    body.feed("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n").wait(29_000).feed("a").wait(30_000);
    assert!(body.sent.starts_with("HTTP/1.1 408 "));

    let mut kept = silent();
    kept.feed(GET).wait(500_000);
    assert!(!kept.session.is_over());
    respond(&mut kept, 200, "");
    kept.wait(30_000);
    assert!(kept.session.is_over());
}

#[test]
fn a_switch_of_protocols_leaves_the_bytes_behind_the_request_untouched() {
    const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    let switching = Message::response(101, "").with_header("Upgrade", "x").unwrap();
    let mut stage = silent();
    let input = format!("{UPGRADE}\u{1}\u{2}");
    let taken = stage.session.handle_input(stage.now, input.as_bytes());
    assert_eq!(taken, UPGRADE.len());
    assert!(!stage.session.wants_input());
    stage.settle();
    stage.session.accept_upgrade(stage.now, &switching).unwrap();
    stage.settle();
    assert_eq!(stage.sent, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    assert_eq!(stage.session.handle_input(stage.now, &input.as_bytes()[taken..]), 2);
    assert_eq!(stage.session.into_upgraded().1, [1, 2]);

    let mut refused = silent();
    refused.feed(format!("{UPGRADE}{GET}"));
    assert_eq!(refused.messages().len(), 1);
    respond(&mut refused, 426, "");
    refused.feed("");
    assert_eq!(refused.messages().len(), 2);
    assert_eq!(refused.session.accept_upgrade(refused.now, &switching).unwrap_err().code, Code::BadState);

    let mut tunnel = silent();
    tunnel.feed("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n");
    let early = tunnel.session.respond(tunnel.now, &Message::response(200, ""), BodyKind::Whole);
    assert_eq!(early.unwrap_err().code, Code::BadMessage);
    tunnel.session.accept_upgrade(tunnel.now, &Message::response(200, "")).unwrap();
    tunnel.settle();
    assert_eq!(tunnel.sent, "HTTP/1.1 200 OK\r\n\r\n");
}

#[test]
fn a_client_that_closes_its_side_gets_its_answers() {
    let mut stage = silent();
    stage.feed(GET).end(StreamEnd::Closed);
    respond(&mut stage, 200, "x");
    assert!(
        stage.sent.contains("Connection: close")
            && stage.sent.ends_with("\r\n\r\nx")
            && stage.session.is_over()
    );
    let mut cut = silent();
    cut.feed("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc").end(StreamEnd::Closed);
    assert_eq!(cut.failure(), Some(Code::IncompleteBody));
    assert!(cut.messages().is_empty() && cut.session.is_over());
    let mut idle = silent();
    idle.end(StreamEnd::Closed);
    assert!(idle.session.is_over() && idle.failure().is_none() && idle.sent.is_empty());
}

#[test]
fn interim_answers_go_before_the_final_one_and_not_to_1_0() {
    let hints = Message { status: 103, ..Message::response(103, "") }.with_header("Link", "x").unwrap();
    let mut stage = silent();
    stage.feed(GET);
    stage.session.inform(stage.now, &hints).unwrap();
    respond(&mut stage, 200, "");
    assert!(stage.sent.starts_with("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"));
    let mut old = silent();
    old.feed("GET / HTTP/1.0\r\n\r\n");
    old.session.inform(old.now, &hints).unwrap();
    assert!(old.session.outgoing().is_empty());
}

#[test]
fn finishing_ends_an_idle_connection_at_once_and_a_busy_one_after_its_answers() {
    let mut idle = silent();
    idle.session.finish();
    assert!(idle.session.is_over());
    let mut busy = silent();
    busy.feed(format!("{GET}{GET}"));
    busy.session.finish();
    respond(&mut busy, 200, "");
    assert!(!busy.sent.contains("close"));
    respond(&mut busy, 200, "");
    assert!(busy.sent.ends_with("Connection: close\r\n\r\n") && busy.session.is_over());
}

#[test]
fn a_client_that_reads_no_answers_is_not_listened_to() {
    let mut stage = silent();
    let config = Config::default();
    while stage.session.outgoing().len() < config.unsent {
        assert!(stage.session.wants_input());
        stage.session.handle_input(stage.now, GET.as_bytes());
        while stage.session.poll_event().is_some() {}
        stage.session.respond(stage.now, &Message::response(200, vec![0; 10_000]), BodyKind::Whole).unwrap();
    }
    assert!(!stage.session.wants_input());
}
