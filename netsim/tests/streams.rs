//! Streams between nodes, and the links that machines ask for.

mod postman;

use netsim::{Network, NodeId, StreamConditions};
use postman::{LINK, Postman, STREAM, Told, stream_bytes, went_down};
use proto_core::{DatagramOptions, DownReason, LinkEvent, LinkId, LinkSpec};
use std::{net::SocketAddr, time::Duration};

const SECOND: Duration = Duration::from_secs(1);

fn joined(conditions: StreamConditions) -> (Network<Postman>, NodeId, NodeId) {
    let mut net = Network::new(1);
    let (a, b) = (net.add_bare_node(Postman::new()), net.add_bare_node(Postman::new()));
    net.join_stream((a, STREAM), (b, STREAM), conditions);
    (net, a, b)
}

fn numbers(len: usize) -> Vec<u8> {
    (0..=u8::MAX).cycle().take(len).collect()
}

#[test]
fn bytes_arrive_whole_and_in_order_whatever_the_chunks() {
    let (mut net, a, b) = joined(StreamConditions { max_chunk: 100, ..StreamConditions::default() });
    for part in numbers(5_000).chunks(700) {
        net.command(a, |postman, _| postman.write(STREAM, part));
    }
    net.run_for(SECOND);
    let told = net.take_events(b);
    assert_eq!(stream_bytes(&told, STREAM), numbers(5_000));
    assert!(told.len() > 51, "{} chunks", told.len());
}

#[test]
fn a_slow_stream_blocks_its_writer_and_lets_it_go_on() {
    let slow =
        StreamConditions { bits_per_second: Some(80_000), capacity: 1_000, ..StreamConditions::default() };
    let (mut net, a, b) = joined(slow);
    net.command(a, |postman, _| {
        numbers(5_000).chunks(500).for_each(|part| postman.write(STREAM, part));
    });
    net.run_for(SECOND / 4);
    let early = stream_bytes(&net.take_events(b), STREAM).len();
    assert!((2_000..=2_600).contains(&early), "{early}");
    let told = net.take_events(a);
    assert!(told.contains(&Told::Link(STREAM, LinkEvent::Blocked)));
    assert!(told.contains(&Told::Link(STREAM, LinkEvent::Writable)));
    net.run_for(SECOND);
    assert_eq!(early + stream_bytes(&net.take_events(b), STREAM).len(), 5_000);
}

#[test]
fn a_reader_that_pauses_loses_nothing() {
    let (mut net, a, b) = joined(StreamConditions::default());
    net.node_mut(b).machine.reads = false;
    net.command(a, |postman, _| postman.write(STREAM, b"patience"));
    net.run_for(SECOND);
    assert_eq!(stream_bytes(&net.take_events(b), STREAM), b"");
    net.command(b, |postman, _| postman.reads = true);
    net.run_for(SECOND);
    assert_eq!(stream_bytes(&net.take_events(b), STREAM), b"patience");
}

#[test]
fn a_partition_stalls_a_stream_until_it_heals() {
    let (mut net, a, b) = joined(StreamConditions::default());
    net.partition(a, b);
    net.command(a, |postman, _| postman.write(STREAM, b"later"));
    net.run_for(SECOND);
    assert_eq!(stream_bytes(&net.take_events(b), STREAM), b"");
    net.heal_all();
    net.run_for(SECOND);
    assert_eq!(stream_bytes(&net.take_events(b), STREAM), b"later");
}

#[test]
fn a_closed_stream_ends_after_its_last_byte_and_resets_who_still_writes() {
    let (mut net, a, b) = joined(StreamConditions { delay: SECOND, ..StreamConditions::default() });
    net.command(a, |postman, _| {
        postman.write(STREAM, b"bye");
    });
    net.command(a, |postman, _| postman.close(STREAM));
    net.run_for(2 * SECOND);
    assert!(went_down(&net.take_events(a), STREAM, DownReason::Closed));
    let told = net.take_events(b);
    assert_eq!(stream_bytes(&told, STREAM), b"bye");
    assert_eq!(told.last(), Some(&Told::Link(STREAM, LinkEvent::Eof)));
    net.command(b, |postman, _| postman.write(STREAM, b"anybody?"));
    net.run_for(SECOND);
    assert!(went_down(&net.take_events(b), STREAM, DownReason::Reset));
}

#[test]
fn a_reset_takes_both_ends_down() {
    let (mut net, a, b) = joined(StreamConditions::default());
    net.reset_stream(a, STREAM);
    net.run_for(SECOND);
    assert!(went_down(&net.take_events(a), STREAM, DownReason::Reset));
    assert!(went_down(&net.take_events(b), STREAM, DownReason::Reset));
}

#[test]
fn a_listener_accepts_a_connection_on_a_link_of_its_own() {
    let mut net = Network::new(1);
    let (client, server) = (net.add_node(Postman::new()), net.add_node(Postman::new()));
    let bind = SocketAddr::from(([0, 0, 0, 0], 80));
    net.command(server, |postman, _| postman.open(STREAM, LinkSpec::TcpListen { bind }));
    net.run_for(SECOND);
    let peer = net.link_address(server, STREAM).unwrap();
    assert_eq!(peer, SocketAddr::new(net.address(server).ip(), 80));
    net.command(client, |postman, _| postman.open(STREAM, LinkSpec::TcpConnect { peer }));
    net.run_for(SECOND);
    let is_up = |told: &Told| {
        let Told::Link(link, LinkEvent::Accepted { listener, peer: Some(_) }) = told else { return false };
        *link >= LinkId::FIRST_ACCEPTED && *listener == STREAM
    };
    let told = net.take_events(server);
    let Some(Told::Link(accepted, _)) = told.iter().find(|told| is_up(told)) else { panic!("{told:?}") };
    net.command(client, |postman, _| postman.write(STREAM, b"GET"));
    net.command(server, |postman, _| postman.write(*accepted, b"200"));
    net.run_for(SECOND);
    assert_eq!(stream_bytes(&net.take_events(server), *accepted), b"GET");
    assert_eq!(stream_bytes(&net.take_events(client), STREAM), b"200");
}

#[test]
fn what_cannot_be_opened_goes_down_with_the_reason() {
    let mut net = Network::new(1);
    let a = net.add_node(Postman::new());
    let nobody = SocketAddr::from(([10, 0, 0, 99], 80));
    let taken = net.address(a);
    net.command(a, |postman, _| {
        postman.open(LinkId(1), LinkSpec::TcpConnect { peer: nobody });
        postman
            .open(LinkId(2), LinkSpec::Udp { bind: taken, peer: None, options: DatagramOptions::default() });
        postman.open(LinkId(3), LinkSpec::Pipe { command: "rm".to_owned() });
    });
    net.run_for(SECOND);
    let told = net.take_events(a);
    assert!(went_down(&told, LinkId(1), DownReason::Refused));
    assert!(went_down(&told, LinkId(2), DownReason::Io));
    assert!(went_down(&told, LinkId(3), DownReason::Unsupported));
}

#[test]
fn names_are_resolved_and_further_datagram_links_opened() {
    let mut net = Network::new(1);
    let a = net.add_node(Postman::new());
    net.set_name("example.org", vec!["10.0.0.7".parse().unwrap()]);
    net.command(a, |postman, _| {
        postman.open(LinkId(1), LinkSpec::Resolve { host: "example.org".to_owned(), port: 80 });
        postman.open(
            LinkId(2),
            LinkSpec::Udp {
                bind: SocketAddr::from(([0, 0, 0, 0], 0)),
                peer: None,
                options: DatagramOptions::default(),
            },
        );
    });
    net.run_for(SECOND);
    let addresses = vec!["10.0.0.7:80".parse().unwrap()];
    assert!(net.take_events(a).contains(&Told::Link(LinkId(1), LinkEvent::Resolved { addresses })));
    assert_eq!(net.link_address(a, LinkId(2)).unwrap().ip(), net.address(a).ip());
    net.command(a, |postman, _| postman.close(LINK));
    net.run_for(SECOND);
    assert_eq!(net.link_address(a, LINK), None);
}
