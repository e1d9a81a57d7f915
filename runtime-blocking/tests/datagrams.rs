//! Datagram links of a blocking driver.
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

use proto_core::{DatagramOptions, DownReason, Interface, LinkEvent, LinkSpec};
use runtime_blocking::{Blocking, Config, UdpOptions, bind_udp};
use std::{
    net::{SocketAddr, UdpSocket},
    num::NonZeroUsize,
    time::Duration,
};
use toy::{Driver, Event, LINK, LOOPBACK, Server, Toy, event, now, opening, until, up};

fn udp(peer: Option<SocketAddr>) -> LinkSpec {
    LinkSpec::Udp { bind: LOOPBACK, peer, options: DatagramOptions::default() }
}

fn datagram(driver: &mut Driver) -> Vec<u8> {
    until(driver, |event| match event {
        Event::Datagram { bytes, .. } => Some(bytes),
        _ => None,
    })
}

/// A driver that reads a connected socket with the plainest calls.
fn plain(peer: SocketAddr) -> Driver {
    let config = Config { segments_per_send: NonZeroUsize::MIN, ..Config::default() };
    let mut machine = Toy::default();
    machine.open(LINK, udp(Some(peer)));
    let mut driver = Blocking::new(machine, config).unwrap();
    up(&mut driver, LINK);
    driver
}

#[test]
fn datagrams_come_back_over_a_connected_and_an_open_socket() {
    let server = Server::start(udp(None));
    let to = server.local.unwrap();
    let mut open = opening(Toy::default(), LINK, udp(None));
    up(&mut open, LINK);
    for mut client in [open, plain(to)] {
        for index in 0..50_u8 {
            client.with(|machine, _| machine.send_to(LINK, to, [index; 1_200]));
            assert_eq!(datagram(&mut client), [index; 1_200]);
        }
    }
}

#[test]
fn a_refusal_is_told_and_the_socket_lives_on() {
    let address = UdpSocket::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let mut client = plain(address);
    client.with(|machine, _| machine.send_to(LINK, address, "anybody?"));
    let told = Event::Link(LINK, LinkEvent::Unreachable(DownReason::Refused));
    assert_eq!(event(&mut client), told);
    assert_eq!(client.last_os_error(), Some(rustix::io::Errno::CONNREFUSED.raw_os_error()));

    // A refusal that is noticed by sending costs no datagram.
    client.with(|machine, _| machine.send_to(LINK, address, "still nobody?"));
    std::thread::sleep(Duration::from_millis(20));
    let peer = UdpSocket::bind(address).unwrap();
    client.with(|machine, _| machine.send_to(LINK, address, "now?"));
    assert_eq!(event(&mut client), told);
    let mut buffer = [0; 16];
    let (len, from) = peer.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..len], b"now?");
    peer.send_to(b"yes", from).unwrap();
    assert_eq!(datagram(&mut client), b"yes");
}

#[test]
fn a_socket_of_the_applications_making_is_read_in_batches() {
    let mut server = toy::driver(Toy::default());
    let socket = bind_udp(LOOPBACK, UdpOptions::default()).unwrap();
    let address = socket.local_addr().unwrap();
    server.add_udp(LINK, socket).unwrap();
    let sender = UdpSocket::bind(LOOPBACK).unwrap();
    (0..40_u8).for_each(|index| {
        sender.send_to(&[index], address).unwrap();
    });
    let arrived: Vec<u8> = (0..40).map(|_| datagram(&mut server)[0]).collect();
    assert_eq!(arrived, (0..40).collect::<Vec<u8>>());
    assert!(server.stats().received.batches <= 10, "{:?}", server.stats());
}

#[test]
fn groups_on_one_port_are_kept_apart_and_the_interface_is_told() {
    let join = |group: &str| {
        let spec = LinkSpec::UdpMulticast {
            group: group.parse().unwrap(),
            interface: Interface::Name("lo".into()),
            source: None,
            loopback: true,
            options: DatagramOptions::default(),
        };
        let mut driver = opening(Toy::default(), LINK, spec);
        up(&mut driver, LINK);
        driver
    };
    let (mut first, mut second) = (join("239.255.72.1:42771"), join("239.255.72.2:42771"));
    second.with(|machine, _| machine.send_to(LINK, "239.255.72.1:42771".parse().unwrap(), "to the first"));
    let Event::Datagram { bytes, interface, .. } = event(&mut first) else { panic!("no datagram") };
    assert_eq!((bytes.as_slice(), interface.map(|index| index.get())), (b"to the first".as_slice(), Some(1)));
    assert_eq!(second.event(Some(now() + Duration::from_millis(50))).unwrap(), None);
}

#[test]
fn a_group_on_an_interface_that_is_not_there_is_unreachable() {
    let spec = LinkSpec::UdpMulticast {
        group: "239.255.72.3:42772".parse().unwrap(),
        interface: Interface::Name("no-such-interface".into()),
        source: None,
        loopback: true,
        options: DatagramOptions::default(),
    };
    let mut driver = opening(Toy::default(), LINK, spec);
    assert_eq!(toy::down(&mut driver, LINK), DownReason::Unreachable);
    assert_eq!(driver.last_os_error(), Some(rustix::io::Errno::NODEV.raw_os_error()));
}

#[test]
fn a_datagram_that_is_too_long_is_reported() {
    let server = Server::start(udp(None));
    let to = server.local.unwrap();
    let mut client = plain(to);
    client.with(|machine, _| machine.send_to(LINK, to, vec![0; 65_508]));
    assert_eq!(event(&mut client), Event::Link(LINK, LinkEvent::TooBig { to, len: 65_508 }));
}
