//! The clients of connections against `iolite conn serve`, all on the loopback interface.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the helpers of a test fail it by panicking")]

mod command;

use command::{Finished, Running, iolite, iolite_with_input};
use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Echo peers, and where they are.
struct Peers {
    server: Running,
    urls: Vec<String>,
}

impl Peers {
    /// Starts those that the options ask for, `places` of them.
    fn start(places: usize, options: &[&str]) -> Self {
        let server = Running::start(&[&["conn", "serve"], options].concat());
        let mut urls = Vec::new();
        for _ in 0..places {
            let line = server.line();
            let listening = line.strip_prefix("listening on ").expect(&line).to_owned();
            urls.extend(listening.split(" and ").map(str::to_owned));
        }
        Self { server, urls }
    }

    /// Returns a URL on the peer of that scheme.
    fn url(&self, scheme: &str, target: &str) -> String {
        let start = format!("{scheme}://");
        let url = self.urls.iter().find(|url| url.starts_with(&start)).expect(scheme);
        format!("{url}{target}")
    }
}

fn http() -> Peers {
    Peers::start(1, &["--http", "0"])
}

/// A folder that is removed in the end.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Starts peers with TLS, whose certificate is in the folder.
fn secure(folder: &tempfile::TempDir, more: &[&str]) -> (Peers, String) {
    let cert = path(folder, "echo.pem");
    let peers = Peers::start(1, &[&["--https", "0", "--write-cert", &cert], more].concat());
    (peers, cert)
}

#[track_caller]
fn is_ok(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

/// The exit code, a text that the error has, and that there is advice.
#[track_caller]
fn fails(finished: &Finished, code: i32, with: &str) {
    assert_eq!(finished.code, Some(code), "{finished:?}");
    assert!(finished.stderr.contains(with), "{with:?} is missing: {finished:?}");
    assert!(finished.stderr.contains("help:"), "no advice: {finished:?}");
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
}

#[test]
fn get_writes_the_body_and_the_server_sees_the_fields() {
    let peers = http();
    let got = iolite(&["conn", "get", &peers.url("http", "/a?b=c"), "-H", "X-Robot: arm", "-u", "me:secret"]);
    is_ok(&got);
    has(
        &got.stdout,
        &["GET /a?b=c\n", "X-Robot: arm", "Authorization: Basic bWU6c2VjcmV0", "User-Agent: iolite/"],
    );
    assert_eq!(got.stderr, "", "nothing is said without -v");
}

#[test]
fn verbose_shows_phases_heads_and_times() {
    let peers = http();
    let got = iolite(&["conn", "get", &peers.url("http", "/"), "-v"]);
    is_ok(&got);
    has(
        &got.stderr,
        &[
            "* connecting",
            "* connected after",
            "> GET / HTTP/1.1",
            "> Host: 127.0.0.1:",
            "* first byte after",
        ],
    );
    has(&got.stderr, &["< HTTP 200", "* connect ", ", first byte ", ", total ", "received"]);
}

#[test]
fn post_sends_what_is_given_and_a_file() {
    let peers = http();
    let url = peers.url("http", "/");
    let posted =
        iolite(&["conn", "post", &url, "-d", "{\"x\": 1}", "-H", "Content-Type: application/json", "-i"]);
    is_ok(&posted);
    has(&posted.stdout, &["HTTP 200\n", "Content-Type: application/json\n", "\n\n{\"x\": 1}"]);

    let folder = folder();
    let file = path(&folder, "data");
    std::fs::write(&file, "x".repeat(3_000_000)).unwrap();
    let posted = iolite(&["conn", "post", &url, "-d", &format!("@{file}")]);
    is_ok(&posted);
    assert_eq!(posted.stdout.len(), 3_000_000);

    let posted = iolite_with_input(&["conn", "post", &url, "-X", "PUT", "-d", "@-"], b"from standard input");
    assert_eq!(posted.stdout, "from standard input", "{posted:?}");
    let missing = iolite(&["conn", "post", &url, "-d", "@/nowhere/at/all"]);
    assert_eq!(missing.code, Some(4), "{missing:?}");
}

#[test]
fn head_shows_the_head_and_takes_no_body() {
    let peers = http();
    let head = iolite(&["conn", "head", &peers.url("http", "/bytes/1000")]);
    is_ok(&head);
    has(&head.stdout, &["HTTP 200\n", "Content-Length: 1000\n"]);
    assert!(!head.stdout.contains("xxx"), "{head:?}");
}

#[test]
fn a_body_goes_to_a_file_which_is_there_only_when_it_is_whole() {
    let (peers, folder) = (http(), folder());
    let file = path(&folder, "body");
    let got = iolite(&["conn", "get", &peers.url("http", "/bytes/5000000"), "-o", &file]);
    is_ok(&got);
    assert_eq!((got.stdout.as_str(), std::fs::read(&file).unwrap().len()), ("", 5_000_000));

    let cut = one_answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    let other = path(&folder, "cut");
    let got = iolite(&["conn", "get", &format!("http://{cut}/"), "-o", &other]);
    assert_eq!(got.code, Some(56), "{got:?}");
    has(&got.stderr, &["the body was cut off"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the whole file is there");
}

#[test]
fn redirects_are_followed_when_asked_and_counted() {
    let peers = http();
    let url = peers.url("http", "/redirect/2");
    let as_it_is = iolite(&["conn", "get", &url, "-i"]);
    has(&as_it_is.stdout, &["HTTP 302", "Location: /redirect/1"]);
    let followed = iolite(&["conn", "get", &url, "-L"]);
    is_ok(&followed);
    has(&followed.stdout, &["GET /\n"]);
    fails(&iolite(&["conn", "get", &url, "-L", "--max-redirs", "1"]), 47, "too many redirects");
}

#[test]
fn a_compressed_body_is_unpacked() {
    // Nothing but "hello", packed with gzip.
    let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    let mut answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n".to_vec();
    answer.extend(packed);
    let address = one_answer(answer);
    let got = iolite(&["conn", "get", &format!("http://{address}/"), "--compressed", "-v"]);
    is_ok(&got);
    assert_eq!(got.stdout, "hello");
    has(&got.stderr, &["> Accept-Encoding: "]);
}

#[test]
fn a_status_of_an_error_fails_only_when_asked() {
    let peers = http();
    let url = peers.url("http", "/status/404");
    is_ok(&iolite(&["conn", "get", &url]));
    let failed = iolite(&["conn", "get", &url, "--fail"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(22), "404\n"), "{failed:?}");
}

#[test]
fn each_phase_that_fails_has_its_exit_code_and_advice() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{free}/");
    let refused = iolite(&["conn", "get", &nobody]);
    fails(&refused, 7, "connection refused");
    has(&refused.stderr, &[&nobody]);
    fails(&iolite(&["conn", "get", "http://no.such.host.invalid/"]), 6, "no.such.host.invalid");
    fails(&iolite(&["conn", "ws", &format!("ws://{free}/"), "-d", "x"]), 7, "connection refused");
    fails(&iolite(&["conn", "get", "http://host/", "-x", &free.to_string()]), 7, "connection refused");

    let peers = http();
    fails(&iolite(&["conn", "get", &peers.url("http", "/silence"), "--max-time", "200ms"]), 28, "--max-time");
    let plain = peers.url("http", "/").replace("http:", "https:");
    assert_eq!(iolite(&["conn", "get", &plain]).code, Some(35), "no TLS there");
    let no_websocket = one_answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    fails(&iolite(&["conn", "ws", &format!("ws://{no_websocket}/"), "-d", "x"]), 8, "status 403");
    let no_http = one_answer("SSH-2.0-hello\r\n\r\n");
    fails(&iolite(&["conn", "get", &format!("http://{no_http}/")]), 56, "malformed HTTP");
    let silent = one_answer("");
    assert_eq!(iolite(&["conn", "get", &format!("http://{silent}/")]).code, Some(52));
}

#[test]
fn a_proxy_is_asked_the_whole_way() {
    let proxy = one_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy");
    let got = iolite(&["conn", "get", "http://no.such.host.invalid/x", "-x", &proxy.to_string(), "-v"]);
    is_ok(&got);
    assert_eq!(got.stdout, "proxy");
    has(&got.stderr, &["> GET http://no.such.host.invalid/x HTTP/1.1"]);
    let refusing = one_answer("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
    fails(&iolite(&["conn", "get", "https://host.invalid/", "-x", &refusing.to_string()]), 5, "credentials");
}

#[test]
fn certificates_are_trusted_by_issuer_or_key_or_not_at_all() {
    let folder = folder();
    let (peers, cert) = secure(&folder, &[]);
    let url = peers.url("https", "/");
    fails(&iolite(&["conn", "get", &url]), 60, "--cacert");
    let trusted = iolite(&["conn", "get", &url, "--cacert", &cert, "-v"]);
    is_ok(&trusted);
    has(&trusted.stderr, &["* TLS handshake", "* encrypted after", "* TLS 1.3, TLS13_", "ALPN http/1.1"]);
    has(&trusted.stderr, &["* certificate of CN=", "valid from ", ", TLS "]);
    let pin = trusted.stderr.lines().find_map(|line| line.split("  pin ").nth(1)).expect("a pin").to_owned();
    is_ok(&iolite(&["conn", "get", &url, "-k"]));
    is_ok(&iolite(&["conn", "get", &url, "-k", "--pin", &pin]));
    fails(&iolite(&["conn", "get", &url, "-k", "--pin", &"00".repeat(32)]), 60, "not a pinned one");
    let other = path(&folder, "other");
    std::fs::write(&other, "no certificate").unwrap();
    fails(&iolite(&["conn", "get", &url, "--cacert", &other]), 4, "no certificates in");
    let says =
        iolite_with_input(&["conn", "ws", &peers.url("wss", "/"), "-n", "1", "--cacert", &cert], b"hello\n");
    assert_eq!((says.code, says.stdout.as_str()), (Some(0), "hello\n"), "{says:?}");
}

#[test]
fn a_server_that_wants_certificates_gets_one() {
    let folder = folder();
    let mine = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
    let (cert, key) = (path(&folder, "client.pem"), path(&folder, "client.key"));
    std::fs::write(&cert, mine.cert.pem()).unwrap();
    std::fs::write(&key, mine.signing_key.serialize_pem()).unwrap();
    let (peers, ca) = secure(&folder, &["--client-ca", &cert]);
    let url = peers.url("https", "/");
    is_ok(&iolite(&["conn", "get", &url, "--cacert", &ca, "--cert", &cert, "--key", &key]));
    fails(&iolite(&["conn", "get", &url, "--cacert", &ca]), 35, "--cert");
}

#[test]
fn lines_are_messages_and_messages_are_lines() {
    let peers = http();
    let url = peers.url("ws", "/");
    let lines: String = (0..500).map(|n| format!("line {n}\n")).collect();
    let said = iolite_with_input(&["conn", "ws", &url, "-n", "500", "--deflate", "-v"], lines.as_bytes());
    is_ok(&said);
    assert_eq!(said.stdout, lines);
    has(
        &said.stderr,
        &["* WebSocket handshake", "> GET / HTTP/1.1", "* upgraded after", "* open", "code 1000"],
    );
    let after_a_while = iolite_with_input(&["conn", "ws", &url, "--wait", "300ms"], b"a\nb");
    assert_eq!((after_a_while.code, after_a_while.stdout.as_str()), (Some(0), "a\nb\n"), "{after_a_while:?}");
}

#[test]
fn bytes_are_shown_in_hexadecimal_or_as_they_are() {
    let peers = http();
    let url = peers.url("ws", "/");
    let no_text = iolite_with_input(&["conn", "ws", &url], b"\xff\n");
    fails(&no_text, 2, "not UTF-8");
    let raw = iolite_with_input(&["conn", "ws", &url, "--binary", "-n", "1"], b"as it is\n");
    assert_eq!(raw.stdout, "as it is\n", "{raw:?}");
    let udp = Peers::start(1, &["--udp", "0"]);
    let shown = iolite_with_input(&["conn", "udp", &udp.url("udp", "")], b"\xff\x01\n");
    assert_eq!(shown.stdout, "ff01\n", "{shown:?}");
}

#[test]
fn pings_are_measured() {
    let peers = http();
    let pinged = iolite(&["conn", "ws", &peers.url("ws", "/"), "--ping", "3", "--interval", "10ms"]);
    is_ok(&pinged);
    has(&pinged.stdout, &["pong 1 from", "pong 3 from", "3 answered, min/avg/max"]);
}

#[test]
fn subprotocols_are_agreed_on_or_refused() {
    let peers = Peers::start(1, &["--http", "0", "--subprotocol", "telemetry", "-v"]);
    let url = peers.url("ws", "/");
    is_ok(&iolite(&["conn", "ws", &url, "--subprotocol", "telemetry", "-d", "x", "-n", "1"]));
    let seen: Vec<String> = (0..4).map(|_| peers.server.line()).collect();
    has(&seen.join("\n"), &["speaks WebSocket, telemetry", "text, 1 B", "code 1000"]);
}

#[test]
fn a_websocket_that_ends_abruptly_is_no_success() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peers = http();
        let real = peers.url("ws", "").replace("ws://", "");
        thread::spawn(move || {
            // Passes the handshake on to the real server, and then falls silent for good.
            let (mut client, _) = listener.accept().unwrap();
            let mut server = std::net::TcpStream::connect(real).unwrap();
            let mut buffer = [0; 4_096];
            let len = client.read(&mut buffer).unwrap();
            server.write_all(&buffer[..len]).unwrap();
            let len = server.read(&mut buffer).unwrap();
            client.write_all(&buffer[..len]).unwrap();
            drop(peers);
        });
        address
    };
    let cut = iolite(&["conn", "ws", &format!("ws://{address}/"), "--listen"]);
    assert_eq!(cut.code, Some(57), "{cut:?}");
    has(&cut.stderr, &["without a close frame"]);
}

#[test]
fn datagrams_are_answered_or_it_is_said_that_they_are_not() {
    let peers = Peers::start(1, &["--udp", "0"]);
    let answered =
        iolite_with_input(&["conn", "udp", &peers.url("udp", ""), "-v", "--wait", "20s"], b"one\ntwo\n");
    is_ok(&answered);
    assert_eq!(answered.stdout, "one\ntwo\n");
    has(&answered.stderr, &["* open", "< datagram, 3 B from 127.0.0.1:"]);
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("udp://{}", silent.local_addr().unwrap());
    fails(&iolite(&["conn", "udp", &url, "-d", "x", "--wait", "100ms"]), 1, "did not answer");
    is_ok(&iolite(&["conn", "udp", &url, "-d", "x", "--no-wait"]));
    let nobody = format!("udp://{}", UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    fails(&iolite(&["conn", "udp", &nobody, "-d", "x"]), 7, "refused");
}

#[test]
fn members_of_a_group_hear_what_is_sent_to_it() {
    const GROUP: &str = "239.255.71.23:42723";
    let peers = Peers::start(1, &["--multicast", GROUP, "--iface", "lo"]);
    let url = peers.url("udp_multicast", "");
    let mut listening = Running::start(&["conn", "multicast", "listen", &url, "--iface", "lo", "-n", "2"]);
    // The listener says nothing when it has joined: it is sent to until it has heard.
    let has_heard = Arc::new(AtomicBool::new(false));
    let is_enough = Arc::clone(&has_heard);
    let sender = thread::spawn(move || {
        let mut answers = vec![];
        while !is_enough.load(Ordering::Acquire) {
            let sent = iolite(&[
                "conn",
                "multicast",
                "send",
                &format!("{url}?iface=lo"),
                "-d",
                "hello",
                "--wait",
                "100ms",
            ]);
            is_ok(&sent);
            answers.push(sent.stdout);
        }
        answers
    });
    let mut heard = [listening.line(), listening.line()];
    has_heard.store(true, Ordering::Release);
    heard.sort();
    assert_eq!(heard, ["echo: hello", "hello"]);
    let answers = sender.join().unwrap();
    assert!(answers.contains(&"echo: hello\n".to_owned()), "its own datagram is not shown: {answers:?}");
    let _ = &mut listening;
    let missing = iolite(&[
        "conn",
        "multicast",
        "send",
        &format!("udp_multicast://{GROUP}"),
        "--iface",
        "nope0",
        "-d",
        "x",
    ]);
    fails(&missing, 45, "nope0");
}

#[test]
fn arguments_that_make_no_sense_are_explained() {
    let usage = |arguments: &[&str], with: &str| {
        let finished = iolite(arguments);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        has(&finished.stderr, &[with]);
    };
    usage(&["conn", "get", "localhost:80"], "scheme");
    usage(&["conn", "get", "ws://host/"], "iolite conn ws");
    usage(&["conn", "ws", "http://host/"], "iolite conn get");
    usage(&["conn", "udp", "udp_multicast://239.1.1.1:5"], "iolite conn multicast");
    usage(&["conn", "get", "http://host/", "-H", "no colon"], "NAME: VALUE");
    usage(&["conn", "get", "http://host/", "--receive-mode", "dance"], "spin:50us");
    usage(&["conn", "get", "http://host/", "--pin", "12"], "SHA-256");
    usage(&["conn", "get", "http://host/", "--max-redirs", "3"], "--location");
    usage(&["conn", "serve", "--iface", "lo"], "--multicast");
}

#[test]
fn an_address_in_use_is_named_and_ctrl_c_ends_the_peers_in_good_order() {
    let peers = Peers::start(2, &["--http", "0", "--udp", "0"]);
    let url = peers.url("http", "");
    let port = url.rsplit(':').next().unwrap();
    fails(&iolite(&["conn", "serve", "--http", port]), 3, &format!("127.0.0.1:{port}"));
    assert_eq!(peers.server.interrupt(), Some(0));
}

#[test]
fn ctrl_c_closes_a_websocket_in_good_order() {
    let peers = Peers::start(1, &["--http", "0", "-v"]);
    let client = Running::start(&["conn", "ws", &peers.url("ws", "/"), "--listen"]);
    while !peers.server.line().contains("speaks WebSocket") {}
    assert_eq!(client.interrupt(), Some(130));
    assert!(peers.server.line().contains("code 1000"));
}

#[test]
fn the_help_of_each_command_has_examples_and_the_exit_codes_are_documented() {
    has(&iolite(&["conn", "--help"]).stdout, &["Exit codes", "60   the server's certificate"]);
    for command in ["get", "post", "head", "ws", "udp", "serve"] {
        has(&iolite(&["conn", command, "--help"]).stdout, &["Examples:"]);
    }
}

/// A server that gives every request the same bytes and closes.
fn one_answer(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let (listener, answer) = (TcpListener::bind("127.0.0.1:0").unwrap(), answer.into());
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(&answer);
        }
    });
    address
}
