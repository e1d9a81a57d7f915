//! Stream links of a blocking driver.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "tests, whose helpers clippy does not know as such"
)]

mod toy;

use bytes::Bytes;
use proto_core::{DownReason, LinkEvent, LinkId, LinkSpec};
use runtime_blocking::{Config, ReceiveMode};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};
use toy::{
    Event, LINK, LISTENER, LOOPBACK, Server, Toy, bytes, down, driver, event, now, opening, until, up,
};

fn tcp_client(machine: Toy, server: &Server) -> toy::Driver {
    let mut client = opening(machine, LINK, LinkSpec::TcpConnect { peer: server.local.unwrap() });
    up(&mut client, LINK);
    client
}

/// A machine's driver and a plain socket that are connected.
fn with_plain_peer(machine: Toy) -> (toy::Driver, TcpStream) {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let peer = listener.local_addr().unwrap();
    let mut client = opening(machine, LINK, LinkSpec::TcpConnect { peer });
    up(&mut client, LINK);
    (client, listener.accept().unwrap().0)
}

#[test]
fn what_is_said_over_tcp_comes_back_in_every_mode() {
    let server = Server::start(LinkSpec::TcpListen { bind: LOOPBACK });
    for mode in [ReceiveMode::Park, ReceiveMode::Poll, ReceiveMode::Spin(Duration::from_micros(50))] {
        let mut client = tcp_client(Toy::default(), &server);
        client.set_mode(mode);
        for index in 0..100_u8 {
            client.with(|machine, _| machine.send(LINK, vec![index; 100]));
            assert_eq!(bytes(&mut client, LINK, 100), [index; 100]);
        }
    }
}

#[test]
fn a_local_socket_and_a_child_process_are_links_too() {
    let path = std::env::temp_dir().join(format!("iolite-blocking-{}", std::process::id()));
    let path = path.to_str().unwrap().to_owned();
    let server = Server::start(LinkSpec::UnixListen { path: path.clone() });
    let child = LinkSpec::Pipe { command: "cat".into() };
    for spec in [LinkSpec::UnixConnect { path: path.clone() }, child] {
        let mut client = opening(Toy::default(), LINK, spec);
        up(&mut client, LINK);
        client.with(|machine, _| machine.send(LINK, "hello"));
        assert_eq!(bytes(&mut client, LINK, 5), b"hello");
    }
    drop(server);
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn a_large_message_comes_back_whole_through_lent_buffers() {
    let server = Server::start(LinkSpec::TcpListen { bind: LOOPBACK });
    let mut client = tcp_client(Toy { lends: Some(200_000), ..Toy::default() }, &server);
    let body: Bytes = (0..5_000_000_u32).map(|index| (index % 251) as u8).collect();
    client.with(|machine, _| machine.gather(LINK, "head", vec![body.clone()]));
    let answer = bytes(&mut client, LINK, 4 + body.len());
    assert_eq!(&answer[..4], b"head");
    assert!(answer[4..] == body[..]);
}

#[test]
fn many_links_are_served_by_one_thread() {
    let server = Server::start(LinkSpec::TcpListen { bind: LOOPBACK });
    let mut client = driver(Toy::default());
    let links: Vec<LinkId> = (0..100).map(LinkId).collect();
    client.with(|machine, _| {
        links
            .iter()
            .for_each(|&link| machine.open(link, LinkSpec::TcpConnect { peer: server.local.unwrap() }));
    });
    let mut missing = links.len();
    while missing > 0 {
        match event(&mut client) {
            Event::Link(link, LinkEvent::Up { .. }) => client.with(|machine, _| machine.send(link, "x")),
            Event::Bytes(_, bytes) => missing -= bytes.len(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_full_socket_blocks_its_link_until_there_is_room() {
    let (mut client, mut peer) = with_plain_peer(Toy::default());
    let mut sent = 0;
    while !client.machine().is_blocked(LINK) {
        client.with(|machine, _| machine.send(LINK, vec![7; 60_000]));
        sent += 60_000;
        assert!(sent < 100_000_000);
    }
    assert_eq!(until(&mut client, Some), Event::Link(LINK, LinkEvent::Blocked));
    assert!(client.wants().write);
    assert!(!client.flush(Some(now() + Duration::from_millis(20))).unwrap());

    let reader = std::thread::spawn(move || {
        let mut all = vec![0; sent];
        peer.read_exact(&mut all).map(|()| all.iter().all(|&byte| byte == 7))
    });
    assert_eq!(event(&mut client), Event::Link(LINK, LinkEvent::Writable));
    assert!(client.flush(Some(now() + Duration::from_secs(10))).unwrap());
    assert!(reader.join().unwrap().unwrap());
    assert_eq!(client.stats().blocked, 1);
}

#[test]
fn a_machine_that_is_full_leaves_the_bytes_with_the_system() {
    let (mut client, mut peer) = with_plain_peer(Toy { is_full: true, ..Toy::default() });
    peer.write_all(b"later").unwrap();
    assert_eq!(client.event(Some(now() + Duration::from_millis(50))).unwrap(), None);
    assert!(!client.wants().read);
    client.with(|machine, _| machine.is_full = false);
    assert_eq!(bytes(&mut client, LINK, 5), b"later");
}

#[test]
fn the_end_of_input_is_told_once_and_sending_goes_on() {
    let (mut client, mut peer) = with_plain_peer(Toy::default());
    peer.write_all(b"bye").unwrap();
    peer.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(bytes(&mut client, LINK, 3), b"bye");
    assert_eq!(event(&mut client), Event::Link(LINK, LinkEvent::Eof));
    assert_eq!(client.event(Some(now() + Duration::from_millis(30))).unwrap(), None);
    client.with(|machine, _| machine.send(LINK, "still here"));
    let mut answer = [0; 10];
    peer.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"still here");
}

#[test]
fn a_peer_that_vanishes_takes_the_link_down_with_the_systems_reason() {
    let (mut client, peer) = with_plain_peer(Toy::default());
    // What is left unread makes the system reset the connection.
    client.with(|machine, _| machine.send(LINK, "unread"));
    std::thread::sleep(Duration::from_millis(20));
    drop(peer);
    assert_eq!(down(&mut client, LINK), DownReason::Reset);
    assert_eq!(client.last_os_error(), Some(rustix::io::Errno::CONNRESET.raw_os_error()));
}

#[test]
fn nobody_there_is_a_refusal() {
    let peer = TcpListener::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let mut client = opening(Toy::default(), LINK, LinkSpec::TcpConnect { peer });
    assert_eq!(down(&mut client, LINK), DownReason::Refused);
    assert_eq!(client.last_os_error(), Some(rustix::io::Errno::CONNREFUSED.raw_os_error()));
}

#[test]
fn what_was_sent_before_a_close_still_arrives() {
    let (mut client, mut peer) = with_plain_peer(Toy::default());
    let body = Bytes::from(vec![9; 20_000_000]);
    client.with(|machine, _| {
        machine.gather(LINK, [], vec![body.clone()]);
    });
    client.with(|machine, _| machine.close(LINK));
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        peer.read_to_end(&mut all).map(|_| all.len())
    });
    assert_eq!(down(&mut client, LINK), DownReason::Closed);
    assert!(client.flush(Some(now() + Duration::from_secs(10))).unwrap());
    drop(client);
    assert_eq!(reader.join().unwrap().unwrap(), body.len());
}

#[test]
fn a_name_is_resolved_while_the_driver_waits() {
    let mut client = opening(Toy::default(), LINK, LinkSpec::Resolve { host: "localhost".into(), port: 80 });
    let addresses = until(&mut client, |event| match event {
        Event::Link(LINK, LinkEvent::Resolved { addresses }) => Some(addresses),
        _ => None,
    });
    assert!(
        addresses.iter().any(|address| address.ip().is_loopback() && address.port() == 80),
        "{addresses:?}"
    );
}

#[test]
fn a_machine_may_close_a_listener_and_what_it_took_in() {
    let mut server = opening(Toy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let address = up(&mut server, LISTENER).unwrap();
    let mut peer = TcpStream::connect(address).unwrap();
    let accepted = until(&mut server, |event| match event {
        Event::Link(link, LinkEvent::Accepted { listener: LISTENER, peer: Some(_) }) => Some(link),
        _ => None,
    });
    peer.write_all(b"hi").unwrap();
    assert_eq!(bytes(&mut server, accepted, 2), b"hi");
    server.with(|machine, _| {
        machine.close(accepted);
        machine.close(LISTENER);
    });
    assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn without_anything_to_wait_for_a_wait_ends() {
    let mut idle = driver(Toy::default());
    assert_eq!(idle.wait(None).unwrap(), runtime_blocking::Waited::Idle);
    let mut polling = runtime_blocking::Blocking::new(
        Toy::default(),
        Config { mode: ReceiveMode::Poll, ..Config::default() },
    )
    .unwrap();
    assert_eq!(polling.wait(None).unwrap(), runtime_blocking::Waited::Idle);
}

#[test]
fn one_poll_takes_in_all_who_wait() {
    let mut server = opening(Toy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let address = up(&mut server, LISTENER).unwrap();
    let _peers: Vec<_> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    server.poll().unwrap();
    let accepted = std::iter::from_fn(|| server.next_event());
    let accepted = accepted.filter(|event| matches!(event, Event::Link(_, LinkEvent::Accepted { .. })));
    assert_eq!(accepted.count(), 20);
}

#[test]
fn a_flood_of_newcomers_does_not_keep_others_from_being_heard() {
    let mut server = opening(Toy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let address = up(&mut server, LISTENER).unwrap();
    let mut first = TcpStream::connect(address).unwrap();
    until(&mut server, |event| matches!(event, Event::Link(_, LinkEvent::Accepted { .. })).then_some(()));
    let _crowd: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    first.write_all(b"hear me").unwrap();
    let newcomers = std::iter::from_fn(|| Some(event(&mut server)))
        .take_while(|event| !matches!(event, Event::Bytes(_, bytes) if bytes == b"hear me"))
        .count();
    assert!(newcomers < 20, "{newcomers}");
}

#[cfg(feature = "serial")]
#[test]
fn a_serial_line_is_a_link() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let other_end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&other_end).unwrap();
    unlockpt(&other_end).unwrap();
    let device = ptsname(&other_end, Vec::new()).unwrap().into_string().unwrap();
    let mut line = opening(Toy::default(), LINK, LinkSpec::Serial { device, baud: 115_200 });
    up(&mut line, LINK);

    let all: Vec<u8> = (0..=255).cycle().take(2_560).collect();
    let mut other_end = std::fs::File::from(other_end);
    other_end.write_all(&all).unwrap();
    assert!(bytes(&mut line, LINK, all.len()) == all);
    line.with(|machine, _| machine.send(LINK, all.clone()));
    let mut back = vec![0; all.len()];
    other_end.read_exact(&mut back).unwrap();
    assert!(back == all);

    drop(other_end);
    assert_eq!(down(&mut line, LINK), DownReason::Io);
}
