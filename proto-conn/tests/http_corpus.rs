//! Every case of llhttp's corpus: what it rejects we reject, what it accepts we accept unless RFC 9112 asks for more,
//! and in whatever pieces it arrives, it is the same.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod http_support;

use http_support::{Session, Stage, client, server};
use proto_conn::http::Config;
use serde_json::Value;

/// One case.
struct Case {
    index: usize,
    title: String,
    kind: String,
    is_response: bool,
    input: String,
    rejected: bool,
}

const EMPTY_LINES: &str =
    "an empty line may stand before a request, once, and not before a response (RFC 9112 §2.2)";
const CODINGS: &str = "chunked is the only transfer coding that is supported (RFC 9112 §6.1)";
const OTHER_PROTOCOL: &str = "not HTTP/1";

/// Accepted by llhttp, and not by us.
const STRICTER: &[(usize, &str)] = &[
    (4, EMPTY_LINES),
    (180, EMPTY_LINES),
    (182, EMPTY_LINES),
    (220, EMPTY_LINES),
    (240, EMPTY_LINES),
    (80, "the asterisk is for OPTIONS (RFC 9112 §3.2.4)"),
    (143, CODINGS),
    (144, CODINGS),
    (242, CODINGS),
    (243, CODINGS),
    (244, CODINGS),
    (87, OTHER_PROTOCOL),
    (88, OTHER_PROTOCOL),
    (89, OTHER_PROTOCOL),
    (115, OTHER_PROTOCOL),
    (222, OTHER_PROTOCOL),
    (223, OTHER_PROTOCOL),
    (238, OTHER_PROTOCOL),
];

const BEHIND_THE_LAST: &str = "what follows the last message of a connection is not read (RFC 9112 §9.6)";
const SWITCHING: &str = "llhttp stops at what may not be HTTP; we wait for the application's answer";
const METHODS: &str = "any token is a method (RFC 9110 §9.1)";

/// Rejected by llhttp, and not by us.
const OTHERWISE: &[(usize, &str)] = &[
    (2, BEHIND_THE_LAST),
    (8, BEHIND_THE_LAST),
    (9, BEHIND_THE_LAST),
    (171, BEHIND_THE_LAST),
    (173, BEHIND_THE_LAST),
    (13, SWITCHING),
    (17, SWITCHING),
    (18, SWITCHING),
    (19, SWITCHING),
    (20, SWITCHING),
    (77, SWITCHING),
    (78, SWITCHING),
    (79, SWITCHING),
    (163, SWITCHING),
    (45, METHODS),
    (55, METHODS),
];

fn cases() -> Vec<Case> {
    let all: Value = serde_json::from_str(include_str!("vectors/llhttp_corpus.json")).unwrap();
    let text = |case: &Value, field: &str| case[field].as_str().unwrap().to_owned();
    let cases = all.as_array().unwrap().iter().enumerate().map(|(index, case)| {
        let kind = text(case, "type");
        let is_response = kind.starts_with("response");
        let input = text(case, "input");
        let input = if is_response { input } else { with_hosts(&input) };
        Case {
            index,
            title: text(case, "title"),
            is_response,
            kind,
            input,
            rejected: case["rejected"] == true,
        }
    });
    cases.collect()
}

/// Gives the 1.1 requests that have none a Host, without which we refuse them all for the same reason.
fn with_hosts(input: &str) -> String {
    let has_host = input.to_ascii_lowercase().contains("host:");
    if has_host { input.into() } else { input.replace(" HTTP/1.1\r\n", " HTTP/1.1\r\nHost: a\r\n") }
}

/// Feeds a case, and what its end seems to lack: the corpus leaves out the last empty line.
fn fed<T: Session>(mut stage: Stage<T>, case: &Case, size: usize) -> Stage<T> {
    stage.feed_in(size, case.input.as_bytes());
    let is_open = stage.failure().is_none() && stage.messages().is_empty();
    match (case.input.ends_with("\r\n"), case.rejected || case.kind.contains("lenient")) {
        _ if !is_open => {}
        (true, _) => _ = stage.feed("\r\n"),
        (false, true) => _ = stage.feed("\r\n\r\n"),
        (false, false) => {}
    }
    stage
}

fn is_rejected(case: &Case) -> bool {
    if case.is_response {
        fed(client(Config::default(), 9), case, usize::MAX).failure().is_some()
    } else {
        fed(server(Config::default()), case, usize::MAX).failure().is_some()
    }
}

#[test]
fn what_llhttp_rejects_is_rejected_and_what_it_accepts_is_not_but_for_the_explained() {
    let mut differences = Vec::new();
    for case in cases().iter().filter(|case| !case.kind.contains("lenient")) {
        let is_rejected = is_rejected(case);
        let explained = if case.rejected { OTHERWISE } else { STRICTER };
        let is_explained = explained.iter().any(|(index, _)| *index == case.index);
        if (is_rejected == case.rejected) == is_explained {
            differences.push(format!("{} {} {:?} {:?}", case.index, case.rejected, case.title, case.input));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn what_only_a_lenient_reader_accepts_is_rejected() {
    /// Lenient about what follows the last message of a connection, which is not read.
    const HARMLESS: &[usize] = &[3, 10, 172, 174];
    let mut differences = Vec::new();
    for case in cases().iter().filter(|case| case.kind.contains("lenient")) {
        if is_rejected(case) == HARMLESS.contains(&case.index) {
            differences.push(format!("{} {:?} {:?}", case.index, case.title, case.input));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn pieces_do_not_matter() {
    for case in cases() {
        for size in [1, 2, 3, 7, 64] {
            if case.is_response {
                let whole = fed(client(Config::default(), 9), &case, usize::MAX);
                let pieces = fed(client(Config::default(), 9), &case, size);
                assert_eq!(pieces.story(), whole.story(), "{} in {size}", case.title);
            } else {
                for stream_requests in [false, true] {
                    let config = Config { stream_requests, ..Config::default() };
                    let whole = fed(server(config), &case, usize::MAX);
                    let pieces = fed(server(config), &case, size);
                    assert_eq!(pieces.story(), whole.story(), "{} in {size}", case.title);
                    assert_eq!(pieces.sent, whole.sent, "{} in {size}", case.title);
                }
            }
        }
    }
}
