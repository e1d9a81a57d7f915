//! Packets of others: by path, along links, back as proofs; and what this node sends itself.

use crate::world::{Handshake, Made, OTHER, OWN, World, data, destination, link_request, via};
use proto_rns::{
    DestinationHash,
    iface::{InterfaceId, InterfaceKind},
    transport::{DropReason, PathState, RouterConfig, Sent, Verdict},
    wire::{Context, DestinationType, LinkRequest, Packet, PacketType, Signalling, TransportType},
};
use std::time::Duration;

#[test]
fn data_for_a_node_further_on_keeps_its_header_and_names_that_node() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let packet = via(OWN, data(to, b"hello"));
    assert_eq!(world.receive(1, &packet), Verdict::Handled);
    let sent = world.sent();
    assert_eq!((sent.len(), sent[0].0), (1, 2));
    assert_eq!(sent[0].1.as_packet(), Packet { hops: 1, ..via(OTHER, data(to, b"hello")) });
}

#[test]
fn data_for_a_neighbour_lose_their_long_header() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 1);
    let packet = Packet { context_flag: true, hops: 4, ..via(OWN, data(to, b"hello")) };
    world.receive(1, &packet);
    assert_eq!(world.sent()[0].1.as_packet(), Packet { hops: 5, ..data(to, b"hello") });
}

#[test]
fn data_for_a_local_client_change_only_their_hops() {
    let mut world = World::endpoint();
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    world.receive(9, &Made::new(1, world.wall()).packet());
    world.sent();
    for packet in [data(destination(1), b"short"), via(OWN, data(destination(1), b"long"))] {
        assert_eq!(world.receive(1, &packet), Verdict::Handled);
        let sent = world.sent();
        assert_eq!(sent[0].0, 9);
        assert_eq!(sent[0].1.as_packet(), Packet { hops: 1, ..packet });
    }
}

#[test]
fn packets_for_other_nodes_and_without_path_are_dropped() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 2);
    world.receive_dropped(1, &via(OTHER, data(to, b"1")), DropReason::OtherTransport);
    world.receive_dropped(1, &via(OWN, data(destination(2), b"2")), DropReason::NoPath);
    world.receive_dropped(1, &data(to, b"3"), DropReason::UnknownDestination);
    world.set(2, |interface| interface.online = false);
    world.receive_dropped(1, &via(OWN, data(to, b"4")), DropReason::InterfaceDown);
}

#[test]
fn an_endpoint_forwards_for_its_local_clients_alone() {
    let mut world = World::endpoint();
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let to = world.learn(1, 2, 2);
    world.receive_dropped(1, &via(OWN, data(to, b"stranger")), DropReason::UnknownDestination);
    assert_eq!(world.receive(9, &via(OWN, data(to, b"client"))), Verdict::Handled);
    let sent = world.sent();
    assert_eq!(sent[0].1.as_packet(), via(OTHER, data(to, b"client")));
}

#[test]
fn a_packet_is_taken_once_but_for_contexts_that_repeat() {
    let mut world = World::transport();
    world.home.destinations.insert(destination(1));
    let packet = data(destination(1), b"once");
    assert_eq!(world.receive(1, &packet), Verdict::Local(Packet { hops: 1, ..packet }));
    assert_eq!(world.receive(2, &packet), Verdict::Dropped(DropReason::Duplicate));
    world.router.forget_packet(&packet);
    assert!(matches!(world.receive(2, &packet), Verdict::Local(_)));

    let handshake = Handshake::new(1, 1, None);
    world.home.links.insert(handshake.link);
    let repeated = [
        Context::KeepAlive,
        Context::ResourceRequest,
        Context::ResourceProof,
        Context::Resource,
        Context::CacheRequest,
        Context::Channel,
    ];
    for context in repeated {
        let packet = handshake.traffic(1, context, b"again");
        assert!((0..3).all(|_| matches!(world.receive(1, &packet), Verdict::Local(_))), "{context:?}");
    }
    let packet = handshake.traffic(1, Context::Request, b"again");
    assert!(matches!(world.receive(1, &packet), Verdict::Local(_)));
    assert_eq!(world.receive(1, &packet), Verdict::Dropped(DropReason::Duplicate));
}

#[test]
fn plain_packets_come_from_neighbours_and_repeat() {
    let mut world = World::transport();
    let to = DestinationHash::new([5; 16]);
    world.home.destinations.insert(to);
    for kind in [DestinationType::Plain, DestinationType::Group] {
        let packet = Packet::new(PacketType::Data, kind, to, Context::None, b"all");
        assert!((0..2).all(|_| matches!(world.receive(1, &packet), Verdict::Local(_))));
        assert!(matches!(world.receive(1, &Packet { hops: 1, ..packet }), Verdict::Local(_)));
        assert_eq!(
            world.receive(1, &Packet { hops: 2, ..packet }),
            Verdict::Dropped(DropReason::TooManyHops)
        );
    }
    assert!(world.sent().is_empty(), "a transport node does not spread them");
}

#[test]
fn plain_packets_pass_between_local_clients_and_the_network() {
    let mut world = World::endpoint();
    world.add(8, |interface| interface.kind = InterfaceKind::LocalClient);
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let kind = (PacketType::Data, DestinationType::Plain);
    let packet = Packet::new(kind.0, kind.1, DestinationHash::new([5; 16]), Context::None, b"all");
    assert_eq!(world.receive(8, &packet), Verdict::Handled);
    assert_eq!(world.sent_on(), [1, 2, 3, 9]);
    assert_eq!(world.receive(1, &packet), Verdict::Handled);
    let sent = world.sent();
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [8, 9]);
    assert!(sent.iter().all(|sent| sent.1.as_packet() == packet), "a shared instance is no node on the way");
}

#[test]
fn a_proof_returns_the_way_its_packet_went_and_only_once() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 2);
    let packet = via(OWN, data(to, b"prove it"));
    world.receive(1, &packet);
    world.sent();
    let proof = |byte: u8| vec![byte; 64];
    let kind = (PacketType::Proof, DestinationType::Single);
    let first = proof(1);
    let packet = Packet::new(kind.0, kind.1, packet.hash().truncated(), Context::None, &first);
    world.receive_dropped(3, &packet, DropReason::WrongWay);
    let second = proof(2);
    let packet = Packet { data: &second, ..packet };
    assert_eq!(world.receive(2, &packet), Verdict::Handled);
    let sent = world.sent();
    assert_eq!((sent[0].0, sent[0].1.as_packet()), (1, Packet { hops: 1, ..packet }));
    let third = proof(3);
    let packet = Packet { data: &third, ..packet };
    assert!(matches!(world.receive(2, &packet), Verdict::Local(_)), "the next one may be for this node");
}

#[test]
fn the_way_back_is_forgotten_after_eight_minutes() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 2);
    let packet = via(OWN, data(to, b"prove it"));
    world.receive(1, &packet);
    world.pass(Duration::from_secs(481));
    world.sent();
    let kind = (PacketType::Proof, DestinationType::Single);
    let proof = Packet::new(kind.0, kind.1, packet.hash().truncated(), Context::None, &[1; 64]);
    assert!(matches!(world.receive(2, &proof), Verdict::Local(_)));
}

/// A world through which a link to the destination of owner 1 was asked for: from interface 1, 2 hops away, to interface
/// 2, 3 hops away.
fn asked(mtu: Option<usize>) -> (World, Handshake) {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let handshake = Handshake::new(1, 1, mtu);
    let request = Packet { hops: 1, ..via(OWN, link_request(to, &handshake.request)) };
    assert_eq!(world.receive(1, &request), Verdict::Handled);
    (world, handshake)
}

#[test]
fn a_link_passes_once_its_destination_proved_it() {
    let (mut world, handshake) = asked(None);
    assert_eq!(world.sent_on(), [2]);
    let early = handshake.traffic(2, Context::None, b"early");
    world.receive_dropped(1, &early, DropReason::LinkUnvalidated);

    assert_eq!(world.receive(2, &handshake.proof(3)), Verdict::Handled);
    let sent = world.sent();
    assert_eq!((sent[0].0, sent[0].1.as_packet().hops), (1, 3));
    assert_eq!(world.router.path(destination(1)).unwrap().state, PathState::Responsive);
    assert_eq!(world.receive(2, &handshake.proof(3)), Verdict::Dropped(DropReason::Duplicate));

    assert_eq!(world.receive(1, &handshake.traffic(2, Context::None, b"there")), Verdict::Handled);
    assert_eq!(world.receive(2, &handshake.traffic(3, Context::None, b"back")), Verdict::Handled);
    let sent = world.sent();
    assert_eq!(
        sent.iter().map(|(id, packet)| (*id, packet.as_packet().hops)).collect::<Vec<_>>(),
        [(2, 2), (1, 3)]
    );
    for (from, hops) in [(1, 3), (2, 2), (3, 2), (1, 1)] {
        world.receive_dropped(from, &handshake.traffic(hops, Context::None, b"astray"), DropReason::WrongWay);
    }
    let again = handshake.traffic(2, Context::None, b"there");
    assert_eq!(world.receive(1, &again), Verdict::Handled, "links look for duplicates themselves");
}

#[test]
fn a_link_proof_must_be_by_the_destination_and_from_its_direction() {
    let (mut world, handshake) = asked(None);
    world.sent();
    let mut forged = Handshake::new(1, 1, None);
    forged.proof[70] ^= 1;
    world.receive_dropped(2, &forged.proof(3), DropReason::BadSignature);
    world.receive_dropped(1, &handshake.proof(3), DropReason::WrongWay);
    world.receive_dropped(3, &handshake.proof(3), DropReason::WrongWay);
    let short = Packet { data: &handshake.proof[..90], ..handshake.proof(3) };
    world.receive_dropped(2, &short, DropReason::Malformed);
    assert_eq!(world.receive(2, &handshake.proof(3)), Verdict::Handled);
}

#[test]
fn a_path_that_became_longer_is_believed_once_when_the_proof_is_right() {
    let (mut world, handshake) = asked(None);
    assert_eq!(world.receive(2, &handshake.proof(5)), Verdict::Handled);
    assert_eq!(world.router.hops_to(destination(1)), Some(5));
    assert_eq!(world.receive(2, &handshake.traffic(5, Context::None, b"back")), Verdict::Handled);
    let other = Handshake::new(1, 1, Some(500));
    assert_eq!(other.link, handshake.link);
    world.sent();
    world.receive_dropped(2, &other.proof(6), DropReason::WrongWay);
}

#[test]
fn the_keys_of_a_forgotten_destination_are_found_with_its_path() {
    let (mut world, handshake) = asked(None);
    world.known.forget(destination(1));
    assert_eq!(world.receive(2, &handshake.proof(3)), Verdict::Handled);
}

#[test]
fn the_mtu_of_a_link_request_is_bounded_by_both_interfaces() {
    let mtu = |previous: Option<usize>, next: Option<usize>, negotiates: bool, asked: usize| {
        let mut world = World::transport();
        world.set(1, |interface| interface.hardware_mtu = previous);
        world.set(2, |interface| {
            interface.hardware_mtu = next;
            interface.negotiates_mtu = negotiates;
        });
        let to = world.learn(1, 2, 1);
        let handshake = Handshake::new(1, 1, Some(asked));
        world.receive(1, &via(OWN, link_request(to, &handshake.request)));
        let sent = world.sent();
        let request = LinkRequest::parse(sent[0].1.as_packet().data).unwrap();
        assert_eq!(LinkRequest::link_of(&sent[0].1.as_packet()), handshake.link);
        request.signalling.map(|Signalling { mtu, .. }| mtu)
    };
    assert_eq!(mtu(Some(16_384), Some(8_192), true, 32_768), Some(8_192));
    assert_eq!(mtu(Some(1_024), Some(8_192), true, 32_768), Some(1_024));
    assert_eq!(mtu(Some(16_384), Some(8_192), true, 1_000), Some(1_000));
    assert_eq!(mtu(None, Some(8_192), true, 32_768), Some(500));
    assert_eq!(mtu(Some(16_384), Some(1_064), false, 32_768), None);
    assert_eq!(mtu(Some(16_384), None, true, 32_768), None);
}

#[test]
fn a_link_that_is_never_proved_makes_its_path_suspect() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 1);
    let handshake = Handshake::new(1, 1, None);
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    world.sent();
    world.pass(Duration::from_secs(5));
    assert_eq!(world.router.sizes().links, 1);
    world.pass(Duration::from_secs(2));
    assert_eq!(world.router.sizes().links, 0);
    assert_eq!(world.router.path(to).unwrap().state, PathState::Unresponsive);
    assert_eq!(world.sent_on(), [1, 2, 3], "the neighbour may have moved");
}

#[test]
fn half_open_links_of_one_interface_are_bounded() {
    let config = RouterConfig { half_open_links_per_interface: 3, ..RouterConfig::default() };
    let mut world = World::new(true, config);
    let to = world.learn(1, 2, 1);
    let verdicts = (1..=5).map(|number| {
        let handshake = Handshake::new(1, number, None);
        world.receive(1, &via(OWN, link_request(to, &handshake.request))) == Verdict::Handled
    });
    assert_eq!(verdicts.filter(|taken| *taken).count(), 3);
    let handshake = Handshake::new(1, 9, None);
    assert_eq!(world.receive(3, &via(OWN, link_request(to, &handshake.request))), Verdict::Handled);
}

#[test]
fn own_packets_get_the_header_that_their_path_needs() {
    let mut world = World::endpoint();
    let (near, far) = (world.learn(1, 2, 1), world.learn(2, 3, 2));
    let unknown = destination(3);
    let mut send = |to, attached| {
        let packet = Packet { context_flag: true, ..data(to, b"mine") };
        let sent = world.with_env(|router, env, net| router.send(env, &packet, attached, net));
        let packets = world.sent();
        (
            sent,
            packets.first().map(|(_, packet)| {
                (
                    packet.as_packet().transport_id,
                    packet.as_packet().transport_type,
                    packet.as_packet().context_flag,
                )
            }),
        )
    };
    let broadcast = TransportType::Broadcast;
    assert_eq!(send(near, None), (Sent::On(InterfaceId(2)), Some((None, broadcast, true))));
    assert_eq!(
        send(far, None),
        (Sent::On(InterfaceId(3)), Some((Some(OTHER), TransportType::Transport, false)))
    );
    assert_eq!(send(far, Some(InterfaceId(1))), (Sent::On(InterfaceId(1)), Some((None, broadcast, true))));
    let everywhere = [1, 2, 3].map(InterfaceId).to_vec();
    assert_eq!(send(unknown, None), (Sent::Broadcast(everywhere), Some((None, broadcast, true))));
}

#[test]
fn an_echo_of_an_own_packet_is_a_duplicate() {
    let mut world = World::endpoint();
    let packet = data(destination(3), b"mine");
    world.with_env(|router, env, net| router.send(env, &packet, None, net));
    world.sent();
    world.home.destinations.insert(destination(3));
    world.receive_dropped(1, &packet, DropReason::Duplicate);
}

#[test]
fn own_packets_may_hide_how_near_they_come_from() {
    let config = RouterConfig { local_hops_delta: 3, ..RouterConfig::default() };
    let mut world = World::new(false, config);
    let packet = data(destination(3), b"mine");
    world.with_env(|router, env, net| router.send(env, &packet, None, net));
    assert!(world.sent().iter().all(|(_, packet)| packet.as_packet().hops == 3));
}

#[test]
fn timeouts_follow_the_bitrates() {
    let mut world = World::endpoint();
    let to = world.learn(1, 2, 2);
    world.set(2, |interface| interface.bitrate = 1_000);
    let first = world.router.first_hop_timeout(to, &world.net);
    assert_eq!(first, Duration::from_secs(10));
    assert_eq!(world.router.medium_path_timeout(&world.net), Duration::from_secs(14));
    world.set(2, |interface| interface.bitrate = 0);
    assert_eq!(world.router.first_hop_timeout(to, &world.net), Duration::from_secs(806));
}
