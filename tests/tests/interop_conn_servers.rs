//! Our client visits servers of others.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use runtime_blocking::conn::{
    Code, Flags, Kind as MessageKind, Message, Method, Options, Phase, Proxy, Url, ws,
};
use std::{thread, time::Duration};
use tests::conn::{Certificates, Client, Echo, Kind, Site};

/// Says with which options our client trusts the sites of an authority.
fn trusting(certificates: &Certificates) -> Options {
    Options { tls: Some(certificates.client()), ..Options::default() }
}

/// Those that compress WebSocket messages too.
fn compressing(certificates: &Certificates) -> Options {
    let ws = ws::Config { deflate: Some(ws::Deflate::default()), ..ws::Config::default() };
    Options { ws, ..trusting(certificates) }
}

fn post(target: &str, body: impl Into<runtime_blocking::conn::Payload>) -> Message {
    Message::request(Method::Post, target, body)
}

/// Gets files from a site in every way that files can be had.
fn serves_files(kind: Kind) {
    if kind.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let site = Site::start(kind, &certificates);
    for scheme in ["http", "https"] {
        let mut plain = Client::open(&site.url(scheme, "/"), trusting(&certificates));
        for _ in 0..10 {
            let hello = plain.get(Site::HELLO);
            assert_eq!((hello.status, hello.body.as_str()), (200, Some(Site::HELLO_TEXT)));
        }
        let large = plain.get(Site::LARGE);
        assert_eq!((large.status, large.body.len()), (200, Site::LARGE_LEN));
        let head = plain.ask(Message::request(Method::Head, Site::LARGE, ""));
        assert_eq!((head.status, head.body.len()), (200, 0));
        let part = Message::request(Method::Get, Site::LARGE, "").with_header("Range", "bytes=26-51");
        let part = plain.ask(part.expect("a good field"));
        assert_eq!((part.status, part.body.as_str()), (206, Some("abcdefghijklmnopqrstuvwxyz")));
        assert_eq!(plain.get("/missing").status, 404);

        let unpacking = Options { decode: true, ..trusting(&certificates) };
        let mut unpacking = Client::open(&site.url(scheme, "/"), unpacking);
        let unpacked = unpacking.get(Site::LARGE);
        assert!(unpacked.flags.has(Flags::COMPRESSED), "{:?}", unpacked.headers);
        assert_eq!(unpacked.body, large.body);

        let hasty = Options { keep_alive: false, ..trusting(&certificates) };
        let mut hasty = Client::open(&site.url(scheme, "/"), hasty);
        for _ in 0..3 {
            assert_eq!(hasty.get(Site::HELLO).status, 200);
        }
    }
}

/// Talks WebSocket with a site, with and without TLS and compression.
fn talks_websocket(kind: Kind, behind: Option<&Echo>, target: &str) {
    if kind.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let site = match behind {
        Some(echo) => Site::before(kind, &certificates, echo),
        None => Site::start(kind, &certificates),
    };
    for scheme in ["ws", "wss"] {
        for (options, wanted) in [(trusting(&certificates), false), (compressing(&certificates), true)] {
            let compressed = Client::open(&site.url(scheme, target), options).talks_websocket();
            assert_eq!(compressed, wanted, "compression over {scheme}");
        }
    }
}

/// Exchanges bodies with a site that gives them back.
fn exchanges_bodies(site: &Site, certificates: &Certificates, target: &str) {
    for scheme in ["http", "https"] {
        let mut client = Client::open(&site.url(scheme, target), trusting(certificates));
        for len in [1, 1_000, 70_000, 2_000_000] {
            let body = vec![b'y'; len];
            let answer = client.ask(post("", body.clone()));
            assert_eq!(answer.status, 200);
            assert!(answer.body == body[..].to_vec().into(), "{} for {len} bytes", answer.body.len());
        }
    }
}

#[test]
fn nginx_serves_files() {
    serves_files(Kind::Nginx);
}

#[test]
fn apache_serves_files() {
    serves_files(Kind::Apache);
}

#[test]
fn lighttpd_serves_files() {
    serves_files(Kind::Lighttpd);
}

#[test]
fn nginx_and_apache_know_clients_by_their_certificates() {
    let certificates = Certificates::new();
    for kind in [Kind::Nginx, Kind::Apache].into_iter().filter(|kind| !kind.is_skipped()) {
        let site = Site::start(kind, &certificates);
        let known = Options { tls: Some(certificates.known_client()), ..Options::default() };
        let answer = Client::open(&site.mutual_url("/"), known).get(Site::HELLO);
        assert_eq!(answer.body.as_str(), Some(Site::HELLO_TEXT), "{kind:?}");
        let unknown = Client::open(&site.mutual_url("/"), trusting(&certificates)).try_ask(Message::get());
        // nginx tells it in HTTP, Apache in TLS.
        match unknown {
            Ok(answer) => assert_eq!((kind, answer.status), (Kind::Nginx, 400)),
            Err(error) => assert_eq!((kind, error.code), (Kind::Apache, Code::ClientCertRequired), "{error}"),
        }
    }
}

#[test]
fn a_site_of_an_unknown_authority_is_not_believed() {
    let certificates = Certificates::new();
    for kind in [Kind::Nginx, Kind::Haproxy, Kind::Node].into_iter().filter(|kind| !kind.is_skipped()) {
        let site = Site::start(kind, &certificates);
        let strangers = Certificates::by("strangers");
        let mut client = Client::open(&site.url("https", "/"), trusting(&strangers));
        let error = client.try_ask(Message::get()).expect_err("an unknown authority");
        assert_eq!((error.phase, error.code), (Phase::Tls, Code::CertUnknownIssuer), "{kind:?}: {error}");
    }
}

#[test]
fn nginx_answers_without_content_and_with_redirects() {
    if Kind::Nginx.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let echo = Echo::start(None);
    let site = Site::before(Kind::Nginx, &certificates, &echo);
    let mut client = Client::open(&site.url("http", "/"), Options::default());
    assert_eq!(client.get("/nothing").status, 204);
    assert_eq!(client.get("/moved").status, 301);
    let following = Options { max_redirects: 3, ..Options::default() };
    let mut client = Client::open(&site.url("http", "/"), following);
    let moved = client.get("/moved");
    assert_eq!(moved.body.as_str(), Some(Site::HELLO_TEXT));
    assert!(moved.flags.has(Flags::REDIRECTED));
    // A 307 keeps method and body.
    let kept = client.ask(post("/kept", "again"));
    assert_eq!((kept.status, kept.body.as_str()), (200, Some("again")));
}

#[test]
fn a_connection_that_nginx_closed_meanwhile_is_replaced() {
    if Kind::Nginx.is_skipped() {
        return;
    }
    let site = Site::start(Kind::Nginx, &Certificates::new());
    let mut client = Client::open(&site.url("http", "/"), Options::default());
    for _ in 0..2 {
        // Not a request that may be tried twice; files take no content.
        assert_eq!(client.ask(post(Site::HELLO, "content")).status, 405);
        pause(Duration::from_millis(1_500));
    }
}

#[test]
fn nginx_passes_requests_and_websockets_on_to_our_server() {
    if Kind::Nginx.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let echo = Echo::start(None);
    exchanges_bodies(&Site::before(Kind::Nginx, &certificates, &echo), &certificates, "/behind");
    talks_websocket(Kind::Nginx, Some(&echo), "/behind");
}

#[test]
fn haproxy_passes_requests_and_websockets_on_to_our_server() {
    if Kind::Haproxy.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let echo = Echo::start(None);
    exchanges_bodies(&Site::before(Kind::Haproxy, &certificates, &echo), &certificates, "/");
    talks_websocket(Kind::Haproxy, Some(&echo), "/");
}

#[test]
fn tinyproxy_passes_whole_requests_on_and_opens_tunnels() {
    if Kind::Tinyproxy.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let proxy = Site::start(Kind::Tinyproxy, &certificates);
    let through = |user: &str| {
        let url = proxy.url("http", "").replace("//", &format!("//{user}@"));
        let proxy = Proxy { url: Url::parse(&url).expect("a good URL"), except: Vec::new() };
        Options { proxy: Some(proxy), ..trusting(&certificates) }
    };
    let (plain, secret) = (Echo::start(None), Echo::start(Some(certificates.server())));
    for echo in [&plain, &secret] {
        let mut client = Client::open(&echo.http("/"), through("user:secret"));
        assert_eq!(client.get("/where?a=b").body.as_str(), Some("GET /where?a=b"));
        let body = vec![b'z'; 500_000];
        // It closes without a word after each answer, so that only what may be tried twice can follow at once.
        assert!(client.ask(Message::request(Method::Put, "/", body.clone())).body == body.into());
        Client::open(&echo.ws(), through("user:secret")).talks_websocket();
    }
    let refused = Client::open(&plain.http("/"), through("user:wrong")).get("/");
    assert!([401, 407].contains(&refused.status), "{}", refused.status);
    let error = Client::open(&secret.http("/"), through("user:wrong")).try_ask(Message::get());
    let error = error.expect_err("a wrong password");
    assert_eq!(error.phase, Phase::Proxy, "{error}");
    assert!(matches!(error.status, Some(401 | 407)), "{error}");
}

#[test]
fn node_sends_hints_chunks_and_trailers_and_gives_bodies_back() {
    if Kind::Node.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let site = Site::start(Kind::Node, &certificates);
    exchanges_bodies(&site, &certificates, "/");
    for scheme in ["http", "https"] {
        let mut client = Client::open(&site.url(scheme, "/"), trusting(&certificates));
        let chunked = client.get("/chunked");
        assert_eq!(chunked.body.as_str(), Some("onetwosix"));
        assert_eq!(chunked.trailers.get_str("X-Sum"), Some("6"));
        let (hints, answer) = client.get_with_hints("/early");
        let [hint] = &hints[..] else { panic!("{hints:?}") };
        assert_eq!((hint.kind, hint.status), (MessageKind::Informational, 103));
        assert_eq!(hint.headers.get_str("Link"), Some("</style.css>; rel=preload"));
        assert_eq!(answer.body.as_str(), Some("after the hints"));
        for method in [Method::Put, Method::Delete, Method::Patch, Method::Options] {
            let answer = client.ask(Message::request(method.clone(), "/", "what"));
            assert_eq!(answer.headers.get_str("X-Method"), Some(method.name()));
        }
        let error = client.try_ask(Message::request(Method::Get, "/reset", "")).expect_err("half an answer");
        assert_eq!((error.phase, error.code), (Phase::Receive, Code::IncompleteBody), "{error}");
        assert_eq!(client.get("/").status, 200);
    }
}

#[test]
fn node_is_asked_whether_it_wants_a_long_body() {
    if Kind::Node.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let site = Site::start(Kind::Node, &certificates);
    for scheme in ["http", "https"] {
        let asking = Options { expect_continue_from: Some(1_000), ..trusting(&certificates) };
        let mut client = Client::open(&site.url(scheme, "/"), asking);
        let answer = client.ask(post("/", vec![b'w'; 100_000]));
        assert_eq!(answer.body.len(), 100_000);
        assert_eq!(answer.headers.get_str("X-Continued"), Some("yes"));
        let refused = client.ask(post("/refused", vec![b'w'; 100_000]));
        assert_eq!((refused.status, refused.body.as_str()), (403, Some("no such bodies")));
        assert_eq!(client.get("/").status, 200);
    }
}

#[test]
fn ws_of_node_gives_messages_back() {
    talks_websocket(Kind::Node, None, "/");
}

#[test]
fn websockets_of_python_gives_messages_back() {
    talks_websocket(Kind::Websockets, None, "/");
}

#[test]
fn aiohttp_gives_messages_and_bodies_back() {
    gives_bodies_back_and_chunks(Kind::Aiohttp);
    talks_websocket(Kind::Aiohttp, None, "/ws");
}

#[test]
fn uvicorn_gives_messages_and_bodies_back() {
    gives_bodies_back_and_chunks(Kind::Uvicorn);
    talks_websocket(Kind::Uvicorn, None, "/");
}

fn gives_bodies_back_and_chunks(kind: Kind) {
    if kind.is_skipped() {
        return;
    }
    let certificates = Certificates::new();
    let site = Site::start(kind, &certificates);
    exchanges_bodies(&site, &certificates, "/");
    let mut client = Client::open(&site.url("http", "/"), Options::default());
    assert_eq!(client.get("/chunked").body.as_str(), Some("onetwosix"));
    assert_eq!(client.get("/chunked").body.as_str(), Some("onetwosix"));
}

#[allow(clippy::disallowed_methods, reason = "real peers live in real time")]
fn pause(duration: Duration) {
    thread::sleep(duration);
}
