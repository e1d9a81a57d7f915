//! The kinds of case that the h1spec suite asks of a server: what is a request and what is not.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::server;
use proto_conn::{Talk as _, http::Config};

/// What a server makes of an input.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// So many requests, and the connection stays.
    Requests(usize),
    /// It answers with an error, and closes.
    Refused(u16),
    /// It waits for more.
    Waits,
}
use Outcome::{Refused, Requests, Waits};

fn outcome(pieces: &[&str]) -> Outcome {
    let mut stage = server(Config::default());
    for piece in pieces {
        stage.feed(piece);
    }
    let refusal = stage.sent.rfind("Connection: close").and_then(|_| stage.sent.rsplit("HTTP/1.1 ").next());
    match (stage.failure(), stage.messages().len()) {
        (Some(_), _) => Refused(refusal.unwrap()[..3].parse().unwrap()),
        (None, 0) => Waits,
        (None, requests) => {
            assert!(!stage.session.is_over());
            Requests(requests)
        }
    }
}

#[test]
fn a_request_in_fragments_is_one_request() {
    for fragments in [
        &["G", "ET / HTTP/1.1\r\nHost: a\r\n\r\n"][..],
        &["GET ", "/ HTTP/1.1\r\nHost: a\r\n\r\n"],
        &["GET /hello", " HTTP/1.1\r\nHost: a\r\n\r\n"],
        &["GET /hello ", "HTTP/1.1\r\nHost: a\r\n\r\n"],
        &["GET / HT", "TP/1.1\r\nHost: a\r\n\r\n"],
        &["GET / HTTP/1.1", "\r\nHost: a\r\n\r\n"],
        &["GET / HTTP/1.1\r", "\nHost: a\r\n\r\n"],
        &["GET / HTTP/1.1\r\n", "Host: a\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHos", "t: a\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHost", ": a\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHost:", " a\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHost: ", "a\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHost: a", "\r\n\r\n"],
        &["GET / HTTP/1.1\r\nHost: a\r", "\n\r\n"],
        &["GET / HTTP/1.1\r\nHost: a\r\n", "\r\n"],
        &["GET / HTTP/1.1\r\nHost: a\r\n\r", "\n"],
    ] {
        assert_eq!(outcome(fragments), Requests(1), "{fragments:?}");
        assert_eq!(outcome(&fragments[..1]), Waits);
    }
}

#[test]
fn each_kind_of_request_is_accepted_or_refused() {
    let cases: &[(&str, Outcome)] = &[
        ("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", Requests(1)),
        ("GET / HTTP/1.1\r\nhoSt:\texample.com\r\nempty:\r\n\r\n", Requests(1)),
        ("GET / HTTP/1.1\r\nHost: a\r\nX-Empty-Header: \r\n\r\n", Requests(1)),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", Requests(1)),
        ("GET /\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nX-Invalid[]: test\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -123456789123456789123456789\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1234\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nX-Bad-Control-Char: test\u{7}\r\n\r\n", Refused(400)),
        ("GET / HTTP/9.9\r\nHost: a\r\n\r\n", Refused(505)),
        ("Extra lineGET / HTTP/1.1\r\nHost: a\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\n\rSome-Header: Test\r\n\r\n", Refused(400)),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", Requests(1)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", Requests(1)),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            Refused(400),
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            Requests(1),
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhello\r\n0\r\n\r\n",
            Refused(400),
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
            Refused(400),
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
            Requests(1),
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Requests(2)),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", Refused(400)),
        ("GET / HTTP/1.1\nHost: a\n\n", Refused(400)),
        ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Requests(1)),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", Refused(400)),
    ];
    for (input, expected) in cases {
        assert_eq!(outcome(&[input]), *expected, "{input:?}");
        let bytes: Vec<String> = input.chars().map(String::from).collect();
        assert_eq!(outcome(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), *expected, "{input:?}");
    }
}
