//! Heads, read by us and by httparse: what we accept it accepts, with the same fields. What it accepts and we do not,
//! is one of the explained differences.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::{client, server};
use proptest::prelude::*;
use proto_conn::{Message, http::Config};

/// A head as either of the two reads it.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    start: (String, String, u16),
    fields: Vec<(String, Vec<u8>)>,
}

fn ours(message: &Message) -> Head {
    let fields = message.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
    Head { start: (message.method.name().to_owned(), message.target.clone(), message.status), fields }
}

fn fields(headers: &[httparse::Header<'_>]) -> Vec<(String, Vec<u8>)> {
    // httparse leaves blanks at a value's end.
    let value = |header: &httparse::Header<'_>| header.value.trim_ascii_end().to_vec();
    headers.iter().map(|header| (header.name.to_owned(), value(header))).collect()
}

/// How httparse reads a request; `None` unless it is complete.
fn their_request(input: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(input).ok().filter(httparse::Status::is_complete)?;
    let start = (request.method?.to_owned(), request.path?.to_owned(), 0);
    Some(Head { start, fields: fields(request.headers) })
}

fn their_response(input: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut response = httparse::Response::new(&mut headers);
    response.parse(input).ok().filter(httparse::Status::is_complete)?;
    Some(Head { start: ("GET".into(), String::new(), response.code?), fields: fields(response.headers) })
}

fn our_request(input: &[u8]) -> Option<Head> {
    let mut stage = server(Config::default());
    stage.feed(input);
    stage.messages().first().map(|message| ours(message))
}

fn our_response(input: &[u8]) -> Option<Head> {
    let mut stage = client(Config::default(), 1);
    stage.feed(input);
    stage.messages().first().map(|message| ours(message))
}

/// Makes a later minor version 1.1: httparse refuses those (RFC 9110 §2.5 does not).
fn with_known_version(input: &[u8]) -> Vec<u8> {
    let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    let (start, rest) = input.split_at(end);
    let mut start = start.to_vec();
    if let Some(place) = start.windows(7).rposition(|window| window == b"HTTP/1.")
        && let Some(minor @ b'2'..=b'9') = start.get_mut(place + 7)
    {
        *minor = b'1';
    }
    [&start, rest].concat()
}

/// Mutates one byte of a head, or inserts one.
fn mutated(head: String, place: prop::sample::Index, byte: u8, inserts: bool) -> Vec<u8> {
    let mut bytes = head.into_bytes();
    let place = place.index(bytes.len());
    if inserts {
        bytes.insert(place, byte);
    } else {
        bytes[place] = byte;
    }
    bytes
}

fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), prop::sample::select(b"\r\n\t :;,\0\x7f/[".to_vec())]
}

fn field_lines() -> impl Strategy<Value = String> {
    let line = "[A-Za-z!#$%&'*+.^_`|~0-9-]{1,12}:[ \t]{0,2}([!-~]([ -~\t]{0,20}[!-~])?)?[ \t]{0,2}\r\n";
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_request_that_we_accept_is_the_same_to_httparse(
        target in "/[!-~]{0,20}",
        lines in field_lines(),
        place: prop::sample::Index,
        byte in byte(),
        inserts: bool,
        is_mutated: bool,
    ) {
        let head = format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        let input = if is_mutated { mutated(head, place, byte, inserts) } else { head.into_bytes() };
        if let Some(ours) = our_request(&input) {
            prop_assert_eq!(Some(ours), their_request(&with_known_version(&input)));
        } else if their_request(&input).is_some() {
            prop_assert!(is_explained(&input), "{:?}", input.escape_ascii().to_string());
        }
    }

    #[test]
    fn a_response_that_we_accept_is_the_same_to_httparse(
        reason in "[ -~]{0,20}",
        lines in field_lines(),
        place: prop::sample::Index,
        byte in byte(),
        inserts: bool,
        is_mutated: bool,
    ) {
        let head = format!("HTTP/1.1 200 {reason}\r\nContent-Length: 0\r\n{lines}\r\n");
        let input = if is_mutated { mutated(head, place, byte, inserts) } else { head.into_bytes() };
        if let Some(ours) = our_response(&input) {
            prop_assert_eq!(Some(ours), their_response(&with_known_version(&input)));
        } else if their_response(&input).is_some() {
            prop_assert!(is_explained(&input), "{:?}", input.escape_ascii().to_string());
        }
    }
}

/// Says whether a head that httparse accepts has something for which we refuse it, or wait.
fn is_explained(input: &[u8]) -> bool {
    let head = String::from_utf8_lossy(input).into_owned();
    let lower = head.to_ascii_lowercase();
    let framing = ["host", "content-length", "transfer-encoding", "connection", "upgrade"];
    let frames: usize = framing.iter().map(|name| lower.matches(&format!("\n{name}:")).count()).sum();
    let has_bare = |byte: u8| {
        input.iter().enumerate().any(|(n, &found)| {
            let is_pair =
                if byte == b'\n' { n > 0 && input[n - 1] == b'\r' } else { input.get(n + 1) == Some(&b'\n') };
            found == byte && !is_pair
        })
    };
    // Bare line ends, and more than one empty line before, are refused.
    has_bare(b'\n') || has_bare(b'\r') || head.starts_with("\r\n")
        // httparse knows nothing of what these fields mean.
        || frames != 1 || !(lower.contains("\nhost: a\r") || lower.contains("\ncontent-length: 0\r"))
        // Nor of the forms of a target, or that it is ASCII.
        || !head.contains(" /") || !input.is_ascii()
        // A method other than ours may switch protocols; a status may have no body, or be none.
        || !(head.starts_with("GET ") || head.starts_with("HTTP/1.1 200"))
}

#[test]
fn usual_heads_are_read_alike() {
    let request =
        b"GET /a?b HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nUser-Agent: x (y; z)\r\nCookie: a=b; c=d\r\n\r\n";
    assert_eq!(our_request(request), their_request(request));
    assert!(our_request(request).is_some());
    let response = b"HTTP/1.1 404 Not Found\r\nServer: x\r\nContent-Length: 0\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
    assert_eq!(our_response(response), their_response(response));
    assert!(our_response(response).is_some());
}
