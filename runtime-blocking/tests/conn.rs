//! Connections, and servers of the standard library's sockets that do what real ones do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![cfg(target_os = "linux")]

use runtime_blocking::conn::{Connection, Flags, Message, Method, Options};
use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// Answers one request on each of two connections, closes each, and tells when it did.
fn serve_one_request_on_each_connection() -> (u16, Receiver<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (closed, closings) = channel();
    thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            read_request(&mut stream);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    (port, closings)
}

fn read_request(stream: &mut TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"content") {
        let mut bytes = [0; 1_024];
        let len = stream.read(&mut bytes).unwrap();
        assert_ne!(len, 0, "a whole request");
        request.extend_from_slice(&bytes[..len]);
    }
}

#[test]
fn a_request_that_may_not_be_repeated_does_not_go_over_a_connection_that_the_server_has_closed() {
    let (port, closings) = serve_one_request_on_each_connection();
    let mut connection = Connection::open(&format!("http://127.0.0.1:{port}/"), Options::default()).unwrap();
    for _ in 0..2 {
        let request = Message::request(Method::Post, "/", "content");
        let answer = connection.request(request, Some(Duration::from_secs(10))).unwrap();
        assert_eq!(answer.body.as_str(), Some("ok"));
        assert!(!answer.flags.has(Flags::FROM_RETRY));
        closings.recv().unwrap();
        pause();
    }
}

/// Lets a connection be idle for a while.
#[allow(clippy::disallowed_methods, reason = "sockets live in real time")]
fn pause() {
    thread::sleep(Duration::from_millis(20));
}
