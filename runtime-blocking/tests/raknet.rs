//! RakNet sessions in the callers' threads.
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

use runtime_blocking::raknet::{
    ClientOptions, CloseReason, Config, ConnectFailure, ConnectOptions, PeerId, RaknetClient, RaknetError,
    RaknetListener, SendError,
};
use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[allow(clippy::disallowed_methods, reason = "a test of drivers needs a clock")]
fn within(millis: u64) -> Option<Instant> {
    Some(Instant::now() + Duration::from_millis(millis))
}

/// A numbered message. Its first byte is one that applications may use.
fn message(number: u32, len: usize) -> Vec<u8> {
    let mut message = vec![0xfe; len];
    message[1..5].copy_from_slice(&number.to_be_bytes());
    message
}

/// A server that echoes until the first session has ended, and then says how that ended.
fn echo() -> (SocketAddr, JoinHandle<Option<(PeerId, CloseReason)>>) {
    let mut server = RaknetListener::bind(LOOPBACK, Config::default()).unwrap();
    let address = server.local_addr();
    let thread = thread::spawn(move || {
        let end = within(20_000);
        loop {
            if let Some((peer, received)) = server.recv_any(within(20)).unwrap() {
                server.send(peer, received.payload, end).unwrap();
            } else if let Some(ended) = server.next_ended() {
                return Some(ended);
            } else if end < within(0) {
                return None;
            }
        }
    });
    (address, thread)
}

#[test]
fn messages_come_back_and_a_close_is_told() {
    let (server, thread) = echo();
    let mut client = RaknetClient::connect(server, within(5_000)).unwrap();
    assert_eq!(client.info().address, server);
    for index in 0..200_u32 {
        client.send(message(index, 5), within(5_000)).unwrap();
        let received = client.recv(within(5_000)).unwrap().expect("no answer in time");
        assert_eq!(received.payload, message(index, 5));
    }
    assert!(client.recv(within(10)).unwrap().is_none());
    client.close(within(5_000)).unwrap();
    assert_eq!(thread.join().unwrap().expect("the server saw no end").1, CloseReason::PeerClose);
}

#[test]
fn a_large_message_arrives_whole() {
    let (server, thread) = echo();
    let mut client = RaknetClient::connect(server, within(5_000)).unwrap();
    let large: Vec<u8> = (0..3_000_000_u32).map(|index| 0xfe - (index % 249) as u8).collect();
    client.send(large.clone(), within(5_000)).unwrap();
    let received = client.recv(within(15_000)).unwrap().expect("no answer in time");
    assert!(received.payload == large);
    client.close(within(5_000)).unwrap();
    thread.join().unwrap();
}

#[test]
fn a_sender_waits_for_room_and_nothing_is_lost() {
    let mut server = RaknetListener::bind(LOOPBACK, Config::default()).unwrap();
    let address = server.local_addr();
    let sender = thread::spawn(move || {
        let mut client = RaknetClient::connect(address, within(5_000)).unwrap();
        let mut refused = 0;
        for index in 0..20_000_u32 {
            match client.try_send(message(index, 1_000)) {
                Ok(_) => {}
                Err(RaknetError::Refused(SendError::Full)) => {
                    refused += 1;
                    client.send(message(index, 1_000), within(20_000)).unwrap();
                }
                Err(error) => panic!("{error}"),
            }
        }
        client.close(within(20_000)).unwrap();
        refused
    });
    let (peer, _) = server.accept(within(5_000)).unwrap().expect("nobody came");
    for index in 0..20_000_u32 {
        let received = server.recv(peer, within(20_000)).unwrap().expect("no message in time");
        assert_eq!(received.payload, message(index, 1_000));
    }
    assert!(matches!(server.recv(peer, within(5_000)), Err(RaknetError::Closed(CloseReason::PeerClose))));
    assert!(sender.join().unwrap() > 0);
}

#[test]
fn a_game_loop_serves_clients_without_waiting() {
    let mut server = RaknetListener::bind(LOOPBACK, Config::default()).unwrap();
    let address = server.local_addr();
    let clients: Vec<_> = (0..4)
        .map(|index| {
            thread::spawn(move || {
                let mut client = RaknetClient::connect(address, within(5_000)).unwrap();
                client.send(message(index, 100), within(5_000)).unwrap();
                let answer = client.recv(within(5_000)).unwrap().expect("no answer in time");
                client.close(within(5_000)).unwrap();
                answer.payload == message(index, 100)
            })
        })
        .collect();
    let (mut accepted, mut ended) = (0, 0);
    let end = within(10_000);
    while ended < 4 && within(0) < end {
        let frame = within(0).unwrap();
        server.poll().unwrap();
        accepted += std::iter::from_fn(|| server.try_accept()).count();
        while let Some((peer, received)) = server.try_recv_any() {
            server.try_send(peer, received.payload).unwrap();
        }
        ended += std::iter::from_fn(|| server.next_ended()).count();
        assert!(frame.elapsed() < Duration::from_secs(1));
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!((accepted, ended), (4, 4));
    assert!(clients.into_iter().all(|client| client.join().unwrap()));
}

#[test]
fn closing_the_listener_ends_its_sessions() {
    let mut server = RaknetListener::bind(LOOPBACK, Config::default()).unwrap();
    let address = server.local_addr();
    let client = thread::spawn(move || {
        let mut client = RaknetClient::connect(address, within(5_000)).unwrap();
        client.recv(within(10_000)).map(|received| received.map(|received| received.payload))
    });
    server.accept(within(5_000)).unwrap().expect("nobody came");
    assert!(server.close(within(5_000)).unwrap());
    assert!(matches!(client.join().unwrap(), Err(RaknetError::Closed(CloseReason::PeerClose))));
}

#[test]
fn nobody_there_means_no_session() {
    let nobody = UdpSocket::bind(LOOPBACK).unwrap();
    let server = nobody.local_addr().unwrap();
    assert!(matches!(RaknetClient::connect(server, within(50)), Err(RaknetError::TimedOut)));
    let connect = ConnectOptions { timeout: Duration::from_millis(100), ..ConnectOptions::default() };
    let options = ClientOptions { connect, ..ClientOptions::default() };
    let failed = RaknetClient::connect_with(server, options, within(5_000));
    assert!(matches!(failed, Err(RaknetError::Failed(ConnectFailure::NoAnswer))), "{failed:?}");
}
