//! Scenarios of TCP streams and listeners.

use super::{
    stream_toy::{StreamToy, accepted, down, driver, receive, run_with, up},
    timing::sleep,
    toy::{LOOPBACK, until},
};
use bytes::Bytes;
use proto_core::{DownReason, LinkEvent, LinkId, LinkSpec};
use runtime_core::Runtime;
use socket2::{Domain, SockRef, Socket, Type};
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

const LISTENER: LinkId = LinkId(1);
const STREAM: LinkId = LinkId(2);

pub(crate) async fn a_slow_reader_gets_eight_mebibytes_back_in_order<R: Runtime>() {
    const ALL: usize = 8 << 20;
    let echo = StreamToy { echo: true, room: Some(256 * 1024), ..StreamToy::default() };
    let server = run_with::<R>(echo, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let peer = up::<R>(&server, LISTENER).await.unwrap();
    let slow = StreamToy { room: Some(100_000), ..StreamToy::default() };
    let client = run_with::<R>(slow, STREAM, LinkSpec::TcpConnect { peer });
    assert!(up::<R>(&client, STREAM).await.is_some());
    client.with(|machine, _, _| {
        pattern(ALL).chunks(70_000).for_each(|chunk| machine.send(STREAM, chunk));
    });
    // Meanwhile the bytes fill the sockets on both ways.
    sleep::<R>(Duration::from_millis(100)).await;
    let mut back = Vec::new();
    while back.len() < ALL {
        back.extend(receive::<R>(&client, STREAM, 1).await);
    }
    assert!(back == pattern(ALL), "the bytes changed on their way");
    assert!(client.stats().blocked + server.stats().blocked > 0);
    assert_eq!(client.stats().sent.bytes, ALL as u64);
    assert_eq!(client.stats().received.bytes, ALL as u64);

    client.with(|machine, _, _| machine.close(STREAM));
    assert_eq!(down::<R>(&client, STREAM).await, DownReason::Closed);
    let there = accepted::<R>(&server).await;
    assert!(there >= LinkId::FIRST_ACCEPTED);
    until::<R, _, _>(&server, |machine| machine.reports_of(there).contains(&LinkEvent::Eof).then_some(()))
        .await;
}

pub(crate) async fn a_refused_connection_is_reported<R: Runtime>() {
    let closed = TcpListener::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let client = run_with::<R>(StreamToy::default(), STREAM, LinkSpec::TcpConnect { peer: closed });
    assert_eq!(down::<R>(&client, STREAM).await, DownReason::Refused);
    assert_eq!(client.read(|machine, _| machine.reports.len()), 1);
}

pub(crate) async fn a_peer_that_does_not_answer_is_given_up<R: Runtime>() {
    // A listener whose queue is full says nothing.
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener.bind(&LOOPBACK.into()).unwrap();
    listener.listen(0).unwrap();
    let peer = listener.local_addr().unwrap().as_socket().unwrap();
    let _first = TcpStream::connect(peer).unwrap();
    let client = run_with::<R>(StreamToy::default(), STREAM, LinkSpec::TcpConnect { peer });
    assert_eq!(down::<R>(&client, STREAM).await, DownReason::TimedOut);
}

pub(crate) async fn a_peer_that_resets_brings_the_link_down<R: Runtime>() {
    let server = run_with::<R>(StreamToy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    let link = accepted::<R>(&server).await;
    SockRef::from(&peer).set_linger(Some(Duration::ZERO)).unwrap();
    drop(peer);
    assert_eq!(down::<R>(&server, link).await, DownReason::Reset);
    assert_eq!(server.stats().receive_errors.refused, 1);
    // The listener goes on.
    let mut second = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    second.write_all(b"hello").unwrap();
    let second = until::<R, _, _>(&server, |machine| machine.accepted().get(1).copied()).await;
    assert_ne!(second, link);
    assert_eq!(receive::<R>(&server, second, 5).await, b"hello");
}

pub(crate) async fn what_came_before_a_failed_write_is_still_read<R: Runtime>() {
    let hesitant = StreamToy { room: Some(1), ..StreamToy::default() };
    let server = run_with::<R>(hesitant, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let mut peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    let link = accepted::<R>(&server).await;
    peer.write_all(b"1").unwrap();
    until::<R, _, _>(&server, |machine| (machine.arrived_len(link) == 1).then_some(())).await;
    peer.write_all(b"23").unwrap();
    SockRef::from(&peer).set_linger(Some(Duration::ZERO)).unwrap();
    drop(peer);
    sleep::<R>(Duration::from_millis(20)).await;
    // The machine makes room and writes at the same time, and the write comes first.
    let first = server.with(|machine, _, _| {
        machine.send(link, "anybody there?");
        machine.take(link)
    });
    assert_eq!(first, b"1");
    assert_eq!(down::<R>(&server, link).await, DownReason::Reset);
    assert_eq!(server.stats().send_errors.total(), 1);
    assert_eq!(server.read(|machine, _| machine.take(link)), b"23");
}

pub(crate) async fn a_peer_that_ends_its_half_still_hears<R: Runtime>() {
    let server = run_with::<R>(StreamToy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let mut peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    peer.write_all(b"the question").unwrap();
    peer.shutdown(Shutdown::Write).unwrap();
    let link = accepted::<R>(&server).await;
    until::<R, _, _>(&server, |machine| machine.reports_of(link).contains(&LinkEvent::Eof).then_some(()))
        .await;
    assert_eq!(server.read(|machine, _| machine.take(link)), b"the question");
    server.with(|machine, _, _| machine.send(link, vec![42; 3 << 20]));
    let answer = on_thread::<R, _>(move || {
        let mut answer = vec![0; 3 << 20];
        peer.read_exact(&mut answer).map(|()| answer)
    });
    assert!(answer.await.unwrap() == vec![42; 3 << 20]);
    let reports = server.read(|machine, _| machine.reports_of(link));
    assert_eq!(reports.iter().filter(|report| **report == LinkEvent::Eof).count(), 1);
}

pub(crate) async fn gathered_pieces_arrive_in_order<R: Runtime>() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let peer = listener.local_addr().unwrap();
    let client = run_with::<R>(StreamToy::default(), STREAM, LinkSpec::TcpConnect { peer });
    up::<R>(&client, STREAM).await;
    let whole = pattern(5 << 20);
    client.with(|machine, _, _| {
        let (head, body) = whole.split_at(1_000);
        let (many, large) = body.split_at(100_000);
        let many = many.chunks(999).map(Bytes::copy_from_slice).collect();
        machine.gather(STREAM, head, many);
        machine.gather(STREAM, "", vec![Bytes::copy_from_slice(large)]);
        machine.send(STREAM, "the end");
    });
    until::<R, _, _>(&client, |machine| {
        machine.reports_of(STREAM).contains(&LinkEvent::Blocked).then_some(())
    })
    .await;
    let arrived = on_thread::<R, _>(move || {
        let mut arrived = vec![0; (5 << 20) + 7];
        listener.accept().unwrap().0.read_exact(&mut arrived).map(|()| arrived)
    });
    let arrived = arrived.await.unwrap();
    assert!(arrived.starts_with(&whole) && arrived.ends_with(b"the end"));
}

pub(crate) async fn lent_buffers_are_filled<R: Runtime>() {
    let lending = StreamToy { lends: Some(1_000), ..StreamToy::default() };
    let server = run_with::<R>(lending, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let mut peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    let written = on_thread::<R, _>(move || peer.write_all(&pattern(1 << 20)));
    written.await.unwrap();
    let link = accepted::<R>(&server).await;
    assert!(receive::<R>(&server, link, 1 << 20).await == pattern(1 << 20));
    assert_eq!(server.read(|machine, _| machine.filled), 1 << 20);
}

pub(crate) async fn a_stream_that_is_not_wanted_stays_with_the_system<R: Runtime>() {
    const ALL: usize = 32 << 20;
    let full = StreamToy { room: Some(1_000), ..StreamToy::default() };
    let server = run_with::<R>(full, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let mut peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    let writer = thread::spawn(move || peer.write_all(&pattern(ALL)));
    let link = accepted::<R>(&server).await;
    until::<R, _, _>(&server, |machine| (machine.arrived_len(link) > 0).then_some(())).await;
    sleep::<R>(Duration::from_millis(100)).await;
    let there = server.read(|machine, _| machine.arrived_len(link));
    assert!(there <= 1_000 + 128 * 1024, "{there}");
    assert!(!writer.is_finished());
    let mut arrived = Vec::new();
    while arrived.len() < ALL {
        arrived.extend(receive::<R>(&server, link, 1).await);
    }
    assert!(arrived == pattern(ALL));
    writer.join().unwrap().unwrap();
}

pub(crate) async fn a_listener_that_is_not_wanted_leaves_peers_waiting<R: Runtime>() {
    let full = StreamToy { room: Some(0), ..StreamToy::default() };
    let server = run_with::<R>(full, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let _peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    sleep::<R>(Duration::from_millis(50)).await;
    assert!(server.read(|machine, _| machine.accepted()).is_empty());
    server.with(|machine, _, _| machine.room = None);
    accepted::<R>(&server).await;
}

pub(crate) async fn two_hundred_streams_are_served_at_once<R: Runtime>() {
    const COUNT: u32 = 200;
    let echo = StreamToy { echo: true, ..StreamToy::default() };
    let server = run_with::<R>(echo, LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let peer = up::<R>(&server, LISTENER).await.unwrap();
    let mut machine = StreamToy::default();
    let links: Vec<LinkId> = (0..COUNT).map(|index| LinkId(100 + index)).collect();
    links.iter().for_each(|&link| machine.open(link, LinkSpec::TcpConnect { peer }));
    let (driver, client) = driver::<R>(machine);
    driver.spawn();
    for &link in &links {
        up::<R>(&client, link).await;
    }
    for round in 0..5_u8 {
        client.with(|machine, _, _| {
            for &link in &links {
                machine.send(link, [vec![round; 999], link.0.to_be_bytes().to_vec()].concat());
            }
        });
        for &link in &links {
            let back = receive::<R>(&client, link, 1_003).await;
            assert_eq!(back.len(), 1_003);
            assert!(back[..999].iter().all(|&byte| byte == round));
            assert_eq!(back[999..], link.0.to_be_bytes());
        }
    }
    let mut taken_in = server.read(|machine, _| machine.accepted());
    taken_in.sort();
    taken_in.dedup();
    assert_eq!(taken_in.len(), COUNT as usize);
}

pub(crate) async fn a_close_still_sends_what_was_written<R: Runtime>() {
    const ALL: usize = 16 << 20;
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let peer = listener.local_addr().unwrap();
    let client = run_with::<R>(StreamToy::default(), STREAM, LinkSpec::TcpConnect { peer });
    up::<R>(&client, STREAM).await;
    client.with(|machine, _, _| machine.send(STREAM, pattern(ALL)));
    until::<R, _, _>(&client, |machine| {
        machine.reports_of(STREAM).contains(&LinkEvent::Blocked).then_some(())
    })
    .await;
    client.with(|machine, _, _| machine.close(STREAM));
    assert_eq!(down::<R>(&client, STREAM).await, DownReason::Closed);
    // Nor does the end of the driver cut it off.
    drop(client);
    let arrived = on_thread::<R, _>(move || {
        let mut arrived = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut arrived).map(|_| arrived)
    });
    assert!(arrived.await.unwrap() == pattern(ALL));
}

pub(crate) async fn nothing_is_reported_of_a_closed_stream_but_its_end<R: Runtime>() {
    let server = run_with::<R>(StreamToy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let mut peer = TcpStream::connect(up::<R>(&server, LISTENER).await.unwrap()).unwrap();
    let link = accepted::<R>(&server).await;
    server.with(|machine, _, _| machine.close(link));
    assert_eq!(down::<R>(&server, link).await, DownReason::Closed);
    server.with(|machine, _, _| machine.send(link, "too late"));
    let heard = on_thread::<R, _>(move || {
        let mut heard = Vec::new();
        peer.read_to_end(&mut heard).map(|_| heard)
    });
    assert!(heard.await.unwrap().is_empty());
    let reports = server.read(|machine, _| machine.reports_of(link));
    assert_eq!(reports.len(), 2, "{reports:?}");
}

pub(crate) async fn a_closed_listener_gives_its_address_back<R: Runtime>() {
    let server = run_with::<R>(StreamToy::default(), LISTENER, LinkSpec::TcpListen { bind: LOOPBACK });
    let address = up::<R>(&server, LISTENER).await.unwrap();
    let _peer = TcpStream::connect(address).unwrap();
    accepted::<R>(&server).await;
    server.with(|machine, _, _| machine.open(STREAM, LinkSpec::TcpListen { bind: address }));
    assert_eq!(down::<R>(&server, STREAM).await, DownReason::Io);
    server.with(|machine, _, _| machine.close(LISTENER));
    assert_eq!(down::<R>(&server, LISTENER).await, DownReason::Closed);
    server.with(|machine, _, _| machine.open(LinkId(3), LinkSpec::TcpListen { bind: address }));
    assert_eq!(up::<R>(&server, LinkId(3)).await, Some(address));
}

pub(crate) async fn sockets_of_the_embedder_become_links<R: Runtime>() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let (mut server_driver, server) = driver::<R>(StreamToy { echo: true, ..StreamToy::default() });
    server_driver.add_listener(LISTENER, listener).unwrap();
    server_driver.spawn();
    assert_eq!(up::<R>(&server, LISTENER).await, Some(address));

    let socket = TcpStream::connect(address).unwrap();
    let local = socket.local_addr().unwrap();
    let (mut client_driver, client) = driver::<R>(StreamToy::default());
    client_driver.add_stream(STREAM, socket.try_clone().unwrap()).unwrap();
    assert!(client_driver.add_stream(STREAM, socket).is_err());
    client_driver.spawn();
    assert_eq!(up::<R>(&client, STREAM).await, Some(local));
    client.with(|machine, _, _| machine.send(STREAM, "hello"));
    assert_eq!(receive::<R>(&client, STREAM, 5).await, b"hello");
}

/// Bytes whose order can be told.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Runs what waits for the system on a thread, so that the runtime goes on.
async fn on_thread<R: Runtime, T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = thread::spawn(act);
    for _ in 0..2_000 {
        if thread.is_finished() {
            return thread.join().unwrap();
        }
        sleep::<R>(Duration::from_millis(5)).await;
    }
    panic!("a peer waits for ten seconds");
}
