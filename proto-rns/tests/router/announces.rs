//! Announces: which paths are learned, and where and when announces are passed on.

use crate::world::{Made, OTHER, OWN, World, destination, via};
use proto_rns::{
    iface::{AnnounceRate, BurstControl, InterfaceId, InterfaceKind, Mode},
    transport::{DropReason, Refusal, RouterConfig, Verdict},
    wire::{Context, DestinationType, Packet, TransportType},
};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_announce_teaches_the_path_to_its_destination() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    let Verdict::Announce(announced) = world.receive(2, &made.received(3)) else { panic!("no better path") };
    assert_eq!((announced.destination, announced.hops), (destination(1), 3));
    assert_eq!(&announced.app_data[..], b"app");
    let path = world.router.path(destination(1)).unwrap();
    assert_eq!((path.next_hop, path.hops, path.interface), (Some(OTHER), 3, InterfaceId(2)));
    assert!(world.known.identity(destination(1)).is_some());
}

#[test]
fn a_path_is_replaced_by_the_rules_of_length_and_time() {
    // (hops, seconds later, same random hash, is taken) against a path of 3 hops.
    let cases = [
        (3, 1, true),
        (2, 1, true),
        (4, 1, true),
        (3, 0, false),
        (2, 0, false),
        (4, 0, false),
        (2, -1, false),
        (4, -1, false),
    ];
    for (hops, later, is_taken) in cases {
        let mut world = World::transport();
        let base = world.wall();
        world.receive(1, &Made::new(1, base).received(3));
        let made = Made::with_random(1, base.checked_add_signed(later).unwrap(), 9);
        let verdict = world.receive(2, &made.received(hops));
        assert_eq!(matches!(verdict, Verdict::Announce(_)), is_taken, "{hops} hops, {later} s later");
        let via = world.router.path(destination(1)).unwrap().interface;
        assert_eq!(via == InterfaceId(2), is_taken);
    }
}

#[test]
fn the_same_announce_over_a_longer_way_helps_when_the_path_does_not_respond() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    world.receive(1, &made.received(2));
    assert_eq!(world.receive(2, &made.received(3)), Verdict::Dropped(DropReason::NoBetterPath));
    world.router.mark_unresponsive(destination(1));
    assert!(matches!(world.receive(2, &made.received(3)), Verdict::Announce(_)));
    assert_eq!(world.router.stats().announces_verified, 1, "the signature is checked once");
}

#[test]
fn the_same_announce_over_an_interface_of_more_gravity_is_taken() {
    let mut world = World::transport();
    world.set(1, |interface| interface.gravity = Some(1));
    world.set(2, |interface| interface.gravity = Some(5));
    let made = Made::new(1, world.wall());
    world.receive(1, &made.received(2));
    assert!(matches!(world.receive(2, &made.received(2)), Verdict::Announce(_)));
    assert_eq!(world.receive(1, &made.received(2)), Verdict::Dropped(DropReason::NoBetterPath));
}

#[test]
fn an_announce_is_passed_on_twice_with_the_nodes_own_header() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    world.receive(1, &made.received(2));
    assert!(world.sent().is_empty(), "never before its random delay");
    world.pass(Duration::from_millis(501));
    let sent = world.sent();
    assert_eq!(sent.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
    for (_, packet) in &sent {
        let expected = Packet { hops: 2, ..via(OWN, made.packet()) };
        assert_eq!(packet.as_packet(), expected);
    }
    world.pass(Duration::from_millis(4_990));
    assert!(world.sent().is_empty());
    world.pass(Duration::from_secs(1));
    assert_eq!(world.sent_on(), [1, 2, 3]);
    world.pass(Duration::from_secs(60));
    assert!(world.sent().is_empty());
}

#[test]
fn an_announce_that_neighbours_passed_on_is_not_sent_again() {
    let heard = |hops: u8, times: usize| {
        let mut world = World::transport();
        let made = Made::new(1, world.wall());
        world.receive(1, &made.received(2));
        world.pass(SECOND);
        assert_eq!(world.sent_on().len(), 3);
        for _ in 0..times {
            let again = Packet { hops, ..made.received(2) };
            assert_eq!(world.receive(2, &again), Verdict::Dropped(DropReason::NoBetterPath));
        }
        world.pass(Duration::from_secs(10));
        world.sent().is_empty()
    };
    assert!(!heard(2, 1), "one neighbour as far is not enough");
    assert!(heard(2, 2), "two are");
    assert!(heard(3, 1), "one that carries it further is");
    assert!(!heard(4, 1), "one even further says nothing");
}

#[test]
fn endpoints_and_path_responses_pass_nothing_on() {
    let mut world = World::endpoint();
    world.receive(1, &Made::new(1, world.wall()).received(1));
    world.pass(Duration::from_secs(10));
    assert!(world.sent().is_empty());

    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    let response = Packet { context: Context::PathResponse, ..made.received(1) };
    let Verdict::Announce(announced) = world.receive(1, &response) else { panic!("no path") };
    assert!(announced.path_response);
    world.pass(Duration::from_secs(10));
    assert!(world.sent().is_empty());
}

#[test]
fn local_clients_get_every_accepted_announce_at_once_and_theirs_leave_at_once() {
    let mut world = World::endpoint();
    world.add(8, |interface| interface.kind = InterfaceKind::LocalClient);
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let made = Made::new(1, world.wall());
    world.receive(1, &Packet { context: Context::PathResponse, ..made.received(2) });
    let sent = world.sent();
    assert_eq!(sent.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [8, 9]);
    assert_eq!(sent[0].1.as_packet(), Packet { hops: 2, ..via(OWN, made.packet()) });

    let made = Made::new(2, world.wall());
    world.receive(8, &made.packet());
    assert_eq!(world.router.hops_to(destination(2)), Some(0));
    assert_eq!(world.sent_on(), [9, 1, 2, 3]);
    world.pass(Duration::from_secs(20));
    assert!(world.sent().is_empty());
}

#[test]
fn each_mode_passes_on_what_it_may() {
    const MODES: [Mode; 7] = [
        Mode::Full,
        Mode::PointToPoint,
        Mode::AccessPoint,
        Mode::Roaming,
        Mode::Boundary,
        Mode::Gateway,
        Mode::Internal,
    ];
    for from in MODES {
        let mut world = World::transport();
        world.set(1, |interface| interface.mode = from);
        world.remove(2);
        world.remove(3);
        for (id, mode) in (10..).zip(MODES) {
            world.add(id, |interface| interface.mode = mode);
        }
        world.receive(1, &Made::new(1, world.wall()).received(2));
        world.pass(SECOND);
        let refused: Vec<Mode> = {
            let sent = world.sent_on();
            (10..).zip(MODES).filter(|(id, _)| !sent.contains(id)).map(|(_, mode)| mode).collect()
        };
        let expected = match from {
            Mode::Roaming => vec![Mode::AccessPoint, Mode::Roaming, Mode::Boundary],
            Mode::Boundary => vec![Mode::AccessPoint, Mode::Roaming, Mode::Internal],
            _ => vec![Mode::AccessPoint],
        };
        assert_eq!(refused, expected, "from {from:?}");
    }
}

#[test]
fn a_slow_interface_gets_announces_at_its_cap_and_the_nearest_first() {
    let mut world = World::transport();
    // An announce of about 200 bytes takes 2 % of 1000 bit/s for about 80 s.
    world.set(3, |interface| interface.bitrate = 1_000);
    for owner in 1..=4 {
        let made = Made::new(owner, world.wall());
        world.receive(1, &made.received(7 - owner));
    }
    world.pass(Duration::from_secs(10));
    let sent = world.sent();
    let on = |id| sent.iter().filter(move |(to, _)| *to == id);
    assert_eq!(on(2).count(), 8);
    assert_eq!(on(3).count(), 1);
    assert_eq!(world.router.waiting_announces(InterfaceId(3)).1, 4);
    world.pass(Duration::from_secs(400));
    let hops: Vec<u8> = world.sent().iter().map(|(_, packet)| packet.as_packet().hops).collect();
    assert_eq!(hops, [3, 4, 5, 6]);
}

#[test]
fn a_burst_of_unknown_destinations_is_held_before_any_signature_is_checked_and_released_slowly() {
    let control = BurstControl {
        frequency_new: 3.0,
        frequency: 10.0,
        new_time: Duration::from_secs(7_200),
        hold: Duration::from_secs(15),
        penalty: Duration::from_secs(15),
        release_interval: Duration::from_secs(5),
        max_held: 4,
    };
    let mut world = World::transport();
    world.set(1, |interface| interface.announce_ingress = Some(control));
    let known = world.learn(100, 2, 1);
    let verdicts: Vec<_> = (1..=20)
        .map(|owner| {
            let made = Made::new(owner, world.wall());
            let verdict = world.receive(1, &made.received(2));
            matches!(verdict, Verdict::Announce(_))
        })
        .collect();
    assert_eq!(verdicts.iter().filter(|learned| **learned).count(), 2, "no frequency of less than three");
    assert_eq!(world.router.waiting_announces(InterfaceId(1)).0, 4);
    assert_eq!(world.router.stats().announces_held, 4);
    assert_eq!(world.router.stats().dropped(DropReason::TableFull), 14);
    assert_eq!(world.router.stats().announces_verified, 3);

    let later = Made::with_random(100, world.wall() + 1, 1);
    assert!(matches!(world.receive(1, &later.received(1)), Verdict::Announce(_)), "known ones pass");
    assert_eq!(world.router.path(known).unwrap().interface, InterfaceId(1));

    world.with_env(|router, env, net| router.request_path(env, destination(50), None, net));
    let wanted = Made::new(50, world.wall());
    assert!(matches!(world.receive(1, &wanted.received(1)), Verdict::Announce(_)), "and those asked for");

    assert!(world.pass(Duration::from_secs(30)).is_empty());
    let released: Vec<u64> =
        (0..10).map(|_| u64::try_from(world.pass(Duration::from_secs(5)).len()).unwrap()).collect();
    assert_eq!(released.iter().sum::<u64>(), 4);
    assert!(released.iter().all(|count| *count <= 1), "one every five seconds");
}

#[test]
fn a_destination_that_announces_too_often_is_learned_but_not_passed_on() {
    let mut world = World::transport();
    let rate =
        AnnounceRate { target: Duration::from_secs(3_600), grace: 2, penalty: Duration::from_secs(600) };
    world.set(1, |interface| interface.announce_rate = Some(rate));
    let passed: Vec<bool> = (0..5)
        .map(|round| {
            let made = Made::with_random(1, world.wall(), round);
            assert!(matches!(world.receive(1, &made.received(2)), Verdict::Announce(_)));
            world.pass(Duration::from_secs(30));
            !world.sent().is_empty()
        })
        .collect();
    assert_eq!(passed, [true, true, true, false, false]);
    assert_eq!(world.router.rate_table()[0].violations, 3);
    assert_eq!(world.router.stats().announces_rate_limited, 2);
    world.pass(Duration::from_secs(4_300));
    world.receive(1, &Made::with_random(1, world.wall(), 9).received(2));
    world.pass(SECOND);
    assert!(!world.sent().is_empty(), "target and penalty are over");
}

#[test]
fn a_refused_identity_loses_its_paths_and_is_not_heard() {
    let mut world = World::transport();
    let to = world.learn(1, 1, 2);
    let owner = crate::world::identity(1).hash();
    let until = proto_core::UnixTime::new(Duration::from_secs(world.wall() + 60));
    assert!(world.router.refuse(owner, Refusal { source: OWN, until: Some(until), reason: None }));
    assert_eq!(world.router.path(to), None);
    let made = Made::with_random(1, world.wall(), 2);
    world.receive_dropped(1, &made.received(2), DropReason::Blackholed);
    world.pass(Duration::from_secs(60));
    assert!(matches!(world.receive(1, &made.received(2)), Verdict::Announce(_)));
}

#[test]
fn an_announce_that_is_not_what_it_says_is_dropped_for_its_reason() {
    let mut world = World::transport();
    let made = Made::new(1, world.wall());
    let packet = made.received(2);
    let mut forged = packet.data.to_vec();
    *forged.last_mut().unwrap() ^= 1;
    world.receive_dropped(1, &Packet { data: &forged, ..packet }, DropReason::BadSignature);
    world.receive_dropped(1, &Packet { destination: destination(2), ..packet }, DropReason::BadSignature);
    world.receive_dropped(1, &Packet { data: &packet.data[..147], ..packet }, DropReason::Malformed);
    let long = [packet.data, &[0; 400]].concat();
    world.receive_dropped(1, &Packet { data: &long, ..packet }, DropReason::TooLong);
    for kind in [DestinationType::Plain, DestinationType::Group] {
        let packet = Packet { destination_type: kind, ..packet };
        world.receive_dropped(1, &packet, DropReason::UnannounceableDestination);
    }
    world.receive_dropped(7, &packet, DropReason::UnknownInterface);
    world.home.destinations.insert(destination(1));
    world.receive_dropped(1, &packet, DropReason::OwnAnnounce);
    assert!(world.known.is_empty());
}

#[test]
fn paths_are_bounded_in_all_and_for_each_interface() {
    let config = RouterConfig { paths: 6, paths_per_interface: 4, ..RouterConfig::default() };
    let mut world = World::new(true, config);
    let precious = world.learn(100, 2, 1);
    for owner in 1..20 {
        let made = Made::new(owner, world.wall());
        world.receive(1, &made.received(1));
        world.pass(SECOND);
    }
    assert_eq!(world.router.sizes().paths, 5);
    assert!(world.router.path(precious).is_some());
}

#[test]
fn a_hop_more_than_possible_is_not_passed_on() {
    let made = Made::new(1, 5);
    let packet = Packet { hops: 127, transport_type: TransportType::Transport, ..made.packet() };
    assert!(Packet::parse(&packet.to_vec()).is_ok());
    let passed = Packet { hops: 128, ..packet };
    assert!(Packet::parse(&passed.to_vec()).is_err());
}
