//! What users of other implementations reported, as far as it concerns routing. The numbers are those of the
//! specification's section 3.

use crate::world::{Handshake, Made, OTHER, OWN, World, data, destination, link_request, request, via};
use proto_rns::{
    DestinationHash,
    iface::{InterfaceId, InterfaceKind, Mode},
    transport::{DropReason, RouterConfig, Sent, Verdict},
    wire::{Context, DestinationType, Packet, PacketType, PathRequest},
};
use std::time::Duration;

#[test]
fn report_4_an_interface_that_reports_no_bitrate_stops_nothing() {
    let mut world = World::transport();
    world.set(2, |interface| interface.bitrate = 0);
    world.set(2, |interface| interface.mode = Mode::Gateway);
    world.receive(1, &Made::new(1, world.wall()).received(2));
    world.pass(Duration::from_secs(1));
    assert!(world.sent_on().contains(&3));
    world.receive(2, &PathRequest::packet(&request(destination(9), None, 1)));
    assert!(!world.sent().is_empty());
    assert!(world.router.medium_path_timeout(&world.net) < Duration::from_secs(3_600));
    world.pass(Duration::from_secs(86_400));
}

#[test]
fn report_5_an_announce_of_a_local_client_leaves_on_every_interface() {
    let mut world = World::endpoint();
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let made = Made::new(1, world.wall());
    world.receive(9, &made.packet());
    let sent = world.sent();
    assert_eq!(sent.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sent.iter().all(|(_, packet)| packet.as_packet().hops == 0));
}

#[test]
fn report_7_an_announce_of_a_plain_destination_goes_nowhere() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    let packet = Packet { destination_type: DestinationType::Plain, ..made.packet() };
    world.receive_dropped(1, &packet, DropReason::UnannounceableDestination);
    world.pass(Duration::from_secs(60));
    assert!(world.sent().is_empty());
}

#[test]
fn report_11_a_replayed_or_forged_announce_does_not_move_a_path() {
    let mut world = World::transport();
    let original = Made::new(1, world.wall());
    world.receive(1, &original.received(3));
    let newer = Made::with_random(1, world.wall() + 10, 2);
    world.receive(2, &newer.received(3));
    assert_eq!(world.receive(3, &original.received(1)), Verdict::Dropped(DropReason::NoBetterPath));
    let mut forged = newer.packet().data.to_vec();
    forged[83] ^= 1;
    let forged = Packet { data: &forged, ..newer.received(1) };
    assert_eq!(world.receive(3, &forged), Verdict::Dropped(DropReason::BadSignature));
    assert_eq!(world.router.path(destination(1)).map(|path| path.interface), Some(InterfaceId(2)));
}

#[test]
fn report_13_keepalives_repeat_and_a_duplicate_stops_nothing() {
    let mut world = World::transport();
    let handshake = Handshake::new(1, 1, None);
    world.home.links.insert(handshake.link);
    let keepalive = handshake.traffic(1, Context::KeepAlive, &[0xff]);
    assert!((0..100).all(|_| matches!(world.receive(1, &keepalive), Verdict::Local(_))));
    world.home.destinations.insert(destination(1));
    let packet = data(destination(1), b"twice");
    world.receive(1, &packet);
    assert_eq!(world.receive(1, &packet), Verdict::Dropped(DropReason::Duplicate));
    assert!(matches!(world.receive(1, &data(destination(1), b"next")), Verdict::Local(_)));
}

#[test]
fn report_14_a_link_request_beyond_one_hop_has_a_transport_header() {
    let mut world = World::endpoint();
    let to = world.learn(1, 2, 2);
    let handshake = Handshake::new(1, 1, None);
    let packet = link_request(to, &handshake.request);
    let sent = world.with_env(|router, env, net| router.send(env, &packet, None, net));
    assert_eq!(sent, Sent::On(InterfaceId(2)));
    assert_eq!(world.sent()[0].1.as_packet(), via(OTHER, packet));
}

#[test]
fn report_15_a_link_request_never_promises_more_than_the_next_interface_carries() {
    let mut world = World::transport();
    world.set(2, |interface| interface.hardware_mtu = Some(1_064));
    let to = world.learn(1, 2, 1);
    let handshake = Handshake::new(1, 1, Some(262_144));
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    let sent = world.sent();
    let request = proto_rns::wire::LinkRequest::parse(sent[0].1.as_packet().data).unwrap();
    assert_eq!(request.signalling.unwrap().mtu, 1_064);
}

#[test]
fn report_19_hops_are_counted_on_arrival() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    world.receive(1, &made.packet());
    assert_eq!(world.router.hops_to(destination(1)), Some(1));
    world.home.destinations.insert(destination(2));
    let packet = data(destination(2), b"hello");
    assert_eq!(world.receive(1, &packet), Verdict::Local(Packet { hops: 1, ..packet }));
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let packet = data(destination(2), b"from a client");
    assert_eq!(world.receive(9, &packet), Verdict::Local(packet));
}

#[test]
fn report_20_the_first_link_proof_of_a_destination_passes() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 1);
    world.known.forget(to);
    let handshake = Handshake::new(1, 1, None);
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    assert_eq!(world.receive(2, &handshake.proof(1)), Verdict::Handled);
}

#[test]
fn report_21_resource_retries_pass_and_held_announces_keep_their_interface() {
    let mut world = World::transport();
    let handshake = Handshake::new(1, 1, None);
    world.home.links.insert(handshake.link);
    let part = handshake.traffic(1, Context::Resource, &[1; 400]);
    assert!((0..5).all(|_| matches!(world.receive(1, &part), Verdict::Local(_))));

    let control = proto_rns::iface::BurstControl {
        frequency_new: 3.0,
        frequency: 3.0,
        new_time: Duration::ZERO,
        hold: Duration::from_secs(1),
        penalty: Duration::from_secs(1),
        release_interval: Duration::from_secs(5),
        max_held: 9,
    };
    world.set(2, |interface| interface.announce_ingress = Some(control));
    for owner in 1..6 {
        world.receive(2, &Made::new(owner, world.wall()).received(1));
    }
    let released = world.pass(Duration::from_secs(60));
    assert_eq!(released.len(), 3);
    assert!(released.iter().all(|announced| announced.interface == InterfaceId(2)));
    assert_eq!(world.router.path(destination(5)).map(|path| path.interface), Some(InterfaceId(2)));
}

#[test]
fn report_22_packets_of_a_link_are_never_broadcast() {
    let mut world = World::endpoint();
    let handshake = Handshake::new(1, 1, None);
    let packet = handshake.traffic(1, Context::None, b"data");
    let sent = world.with_env(|router, env, net| router.send(env, &packet, None, net));
    assert_eq!(sent, Sent::Nowhere);
    let on = Some(InterfaceId(3));
    let sent = world.with_env(|router, env, net| router.send(env, &packet, on, net));
    assert_eq!(sent, Sent::On(InterfaceId(3)));
    assert_eq!(world.sent_on(), [3]);
}

#[test]
fn report_23_a_slow_interface_is_not_flooded_with_announces() {
    let mut world = World::transport();
    world.set(3, |interface| interface.bitrate = 5_000);
    for owner in 1..=50 {
        world.receive(1, &Made::new(owner, world.wall()).received(2));
    }
    world.pass(Duration::from_secs(60));
    let bits: usize = world
        .sent()
        .iter()
        .filter(|(id, _)| *id == 3)
        .map(|(_, packet)| 8 * packet.as_packet().encoded_len())
        .sum();
    assert!(bits <= 5_000 * 60 / 50 + 2_000, "{bits} bits in a minute");
}

#[test]
fn report_24_data_for_a_known_path_are_forwarded() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 1);
    assert_eq!(world.receive(1, &via(OWN, data(to, b"on"))), Verdict::Handled);
    assert_eq!(world.sent_on(), [2]);
}

#[test]
fn report_25_a_link_over_one_shared_interface_works_in_both_directions() {
    let mut world = World::transport();
    let to = world.learn(1, 1, 2);
    let handshake = Handshake::new(1, 1, None);
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    assert_eq!(world.receive(1, &handshake.proof(2)), Verdict::Handled);
    assert_eq!(world.receive(1, &handshake.traffic(1, Context::None, b"there")), Verdict::Handled);
    assert_eq!(world.receive(1, &handshake.traffic(2, Context::None, b"back")), Verdict::Handled);
}

#[test]
fn report_26_link_packets_keep_their_short_header_and_path_responses_are_not_rebroadcast() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let handshake = Handshake::new(1, 1, None);
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    world.receive(2, &handshake.proof(3));
    world.sent();
    world.receive(1, &handshake.traffic(1, Context::None, b"data"));
    assert_eq!(world.sent()[0].1.as_packet().transport_id, None);

    let made = Made::new(2, world.wall());
    world.receive(1, &Packet { context: Context::PathResponse, ..made.received(2) });
    world.pass(Duration::from_secs(60));
    assert!(world.sent().is_empty());
}

#[test]
fn report_28_a_client_names_the_shared_instance_and_hears_when_nothing_left() {
    let mut world = World::endpoint();
    (1..=3).for_each(|id| world.remove(id));
    world.add(4, |interface| interface.kind = InterfaceKind::SharedInstance);
    let made = Made::new(1, world.wall());
    // The instance passes announces on with its own id; the hop between it and its client does not count.
    let packet = Packet { hops: 1, ..via(OTHER, made.packet()) };
    world.receive(4, &packet);
    assert_eq!(world.router.hops_to(destination(1)), Some(1));
    let handshake = Handshake::new(1, 1, None);
    let packet = link_request(destination(1), &handshake.request);
    let sent = world.with_env(|router, env, net| router.send(env, &packet, None, net));
    assert_eq!(sent, Sent::On(InterfaceId(4)));
    assert_eq!(world.sent()[0].1.as_packet(), via(OTHER, packet));
    world.set(4, |interface| interface.online = false);
    let sent = world.with_env(|router, env, net| router.send(env, &packet, None, net));
    assert_eq!(sent, Sent::Nowhere);
}

#[test]
fn a_client_of_a_shared_instance_takes_duplicates_and_foreign_headers() {
    let mut world = World::endpoint();
    world.set(1, |interface| interface.kind = InterfaceKind::SharedInstance);
    world.home.destinations.insert(destination(1));
    let packet = via(OTHER, data(destination(1), b"twice"));
    assert!((0..2).all(|_| world.receive(1, &packet) == Verdict::Local(packet)));
}

#[test]
fn a_flood_of_any_kind_of_packet_leaves_the_tables_bounded() {
    let config = RouterConfig {
        seen_packets: 64,
        stored_hashes: 16,
        paths: 8,
        paths_per_interface: 8,
        announces: 8,
        links: 8,
        half_open_links_per_interface: 8,
        reverse_ways: 8,
        searches: 8,
        ..RouterConfig::default()
    };
    let mut world = World::new(true, config);
    world.set(1, |interface| interface.mode = Mode::Gateway);
    let to = world.learn(200, 2, 2);
    let mut rng = proto_core::Rng::from_u64(3);
    for round in 0..5_000_u32 {
        let mut bytes = [0; 67];
        rng.fill(&mut bytes);
        let hash = DestinationHash::new(*bytes.first_chunk().unwrap());
        let packet_type =
            [PacketType::Data, PacketType::LinkRequest, PacketType::Proof, PacketType::Announce]
                [usize::from(bytes[20] % 4)];
        let kind =
            [DestinationType::Single, DestinationType::Link, DestinationType::Plain, DestinationType::Group]
                [usize::from(bytes[21] % 4)];
        let to = if bytes[22] < 128 { to } else { hash };
        let packet = Packet::new(packet_type, kind, to, Context::from(bytes[23]), &bytes);
        let packet = if bytes[24] < 128 { via(OWN, packet) } else { packet };
        world.receive(1 + round % 3, &packet);
        world.receive(1, &PathRequest::packet(&bytes));
    }
    let sizes = world.router.sizes();
    assert!(sizes.paths <= 8 && sizes.announces <= 8 && sizes.links <= 8, "{sizes:?}");
    assert_eq!(world.router.encode_seen().len(), 16 * 32);
}
