//! Clients of others visit our server, in the clear and by TLS.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::Path};
use tests::{
    conn::{Certificates, Echo, Visitor},
    peers::Scratch,
};

/// Has a visitor come to a server in the clear and to one with TLS, and tells it where the authority's certificate is.
fn receive(visitor: Visitor, visit: impl Fn(&Echo, &str)) {
    if visitor.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let folder = Scratch::new();
    let authority = certificates.write_authority(folder.path());
    for tls in [None, Some(certificates.server())] {
        visit(&Echo::start(tls), text(&authority));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn curl_gets_posts_and_puts_and_keeps_its_connection() {
    receive(Visitor::Curl, |echo, authority| {
        let curl = |args: &[&str]| {
            Visitor::Curl.run(&[&["--silent", "--show-error", "--cacert", authority], args].concat())
        };
        assert_eq!(curl(&[&echo.http("/where?a=b")]), "GET /where?a=b");
        assert_eq!(curl(&["--data", "some text", &echo.http("/")]), "some text");
        assert_eq!(curl(&["--http1.0", &echo.http("/old")]), "GET /old");
        assert_eq!(curl(&["-X", "OPTIONS", "--request-target", "*", &echo.http("/")]), "OPTIONS *");
        let head = curl(&["--head", &echo.http("/thing")]);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        // The second and third ask on the connection of the first.
        let urls = [echo.http("/1"), echo.http("/2"), echo.http("/3")];
        let count = ["--write-out", "%{num_connects}", "--output", "/dev/null"];
        let many = urls.iter().flat_map(|url| [count[2], count[3], url.as_str()]);
        let counts = curl(&count[..2].iter().copied().chain(many).collect::<Vec<_>>());
        assert_eq!(counts, "100");
    });
}

#[test]
fn curl_waits_for_100_continue_and_sees_hints_chunks_and_trailers() {
    receive(Visitor::Curl, |echo, authority| {
        let folder = Scratch::new();
        let file = folder.path().join("body");
        fs::write(&file, "x".repeat(2_000_000)).expect("a fresh folder");
        let curl = |args: &[&str]| {
            Visitor::Curl.run(&[&["--silent", "--include", "--cacert", authority], args].concat())
        };
        let expecting = ["--header", "Expect: 100-continue", "--expect100-timeout", "20"];
        let uploaded = curl(&[&expecting[..], &["--upload-file", text(&file), &echo.http("/")]].concat());
        assert!(uploaded.starts_with("HTTP/1.1 100"), "{:?}", uploaded.get(..100));
        assert_eq!(uploaded.matches('x').count(), 2_000_000);
        let chunked = ["--header", "Transfer-Encoding: chunked", "--upload-file"];
        let uploaded = curl(&[&chunked[..], &[text(&file), &echo.http("/")]].concat());
        assert_eq!(uploaded.matches('x').count(), 2_000_000);
        let hinted = curl(&[&echo.http("/early")]);
        assert!(hinted.starts_with("HTTP/1.1 103"), "{hinted}");
        assert!(hinted.ends_with("after the hints"), "{hinted}");
        let chunks = curl(&["--raw", &echo.http("/chunked")]);
        assert!(chunks.ends_with("0\r\nX-Sum: 6\r\n\r\n"), "{chunks:?}");
        assert!(curl(&[&echo.http("/chunked")]).contains("onetwosix"));
    });
}

#[test]
fn requests_keeps_a_session() {
    receive(Visitor::Requests, |echo, authority| {
        Visitor::Requests.run(&[&echo.http("/"), authority]);
    });
}

#[test]
fn websocket_client_talks_pings_and_closes() {
    receive(Visitor::WebsocketClient, |echo, authority| {
        Visitor::WebsocketClient.run(&[&echo.ws(), authority]);
    });
}

#[test]
fn websockets_talks_with_and_without_compression() {
    receive(Visitor::Websockets, |echo, authority| {
        Visitor::Websockets.run(&[&echo.ws(), authority]);
    });
}

#[test]
fn undici_talks_http_and_websocket() {
    receive(Visitor::Undici, |echo, authority| {
        Visitor::Undici.run(&[&echo.http("/"), authority]);
    });
}

#[test]
fn ws_of_node_talks_with_and_without_compression() {
    receive(Visitor::Ws, |echo, authority| {
        Visitor::Ws.run(&[&echo.ws(), authority]);
    });
}

#[test]
fn a_short_load_of_wrk_has_no_errors() {
    receive(Visitor::Wrk, |echo, _| {
        let told = Visitor::Wrk.run(&["-t1", "-c8", "-d1s", &echo.http("/")]);
        assert!(told.contains("Requests/sec"), "{told}");
        assert!(!told.contains("Socket errors") && !told.contains("Non-2xx"), "{told}");
    });
}

#[test]
fn a_short_load_of_h2load_by_http_1_has_no_errors() {
    receive(Visitor::H2load, |echo, _| {
        let told = Visitor::H2load.run(&["--h1", "-n1000", "-c8", &echo.http("/")]);
        assert!(told.contains("1000 succeeded, 0 failed"), "{told}");
    });
}
