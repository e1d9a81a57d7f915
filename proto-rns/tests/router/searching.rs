//! Path requests: answered in the order of the protocol, searched for, asked.

use crate::world::{Made, OTHER, OWN, World, destination, request, via};
use proto_rns::{
    iface::{BurstControl, InterfaceId, InterfaceKind, Mode},
    transport::{DropReason, Verdict},
    wire::{Context, OwnedPacket, Packet, PathRequest},
};
use std::time::Duration;

fn parsed(sent: &[(u32, OwnedPacket)]) -> Vec<(u32, PathRequest)> {
    sent.iter().map(|(id, packet)| (*id, PathRequest::parse(packet.as_packet().data).unwrap())).collect()
}

#[test]
fn a_request_for_an_own_destination_is_the_nodes_to_answer() {
    let mut world = World::endpoint();
    world.home.destinations.insert(destination(1));
    let data = request(destination(1), None, 1);
    let verdict = world.receive(2, &PathRequest::packet(&data));
    let expected = PathRequest::parse(&data).unwrap();
    assert_eq!(
        verdict,
        Verdict::PathRequestForLocal {
            destination: expected.destination,
            tag: expected.tag,
            interface: InterfaceId(2),
        }
    );
    assert_eq!(world.receive(3, &PathRequest::packet(&data)), Verdict::Dropped(DropReason::Duplicate));
}

#[test]
fn a_known_path_is_answered_after_the_grace_with_the_announce() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    assert_eq!(world.receive(1, &PathRequest::packet(&request(to, None, 1))), Verdict::Handled);
    world.pass(Duration::from_millis(399));
    assert!(world.sent().is_empty());
    world.pass(Duration::from_millis(1));
    let sent = world.sent();
    assert_eq!((sent.len(), sent[0].0), (1, 1));
    let packet = sent[0].1.as_packet();
    assert_eq!((packet.hops, packet.context, packet.transport_id), (3, Context::PathResponse, Some(OWN)));
    world.pass(Duration::from_secs(60));
    assert!(world.sent().is_empty(), "once is enough");
    assert_eq!(world.router.stats().path_responses, 1);
}

#[test]
fn a_roaming_interface_waits_longer_and_gets_no_way_back_to_itself() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    world.set(1, |interface| interface.mode = Mode::Roaming);
    world.receive(1, &PathRequest::packet(&request(to, None, 1)));
    world.pass(Duration::from_millis(1_899));
    assert!(world.sent().is_empty());
    world.pass(Duration::from_millis(1));
    assert_eq!(world.sent_on(), [1]);
    world.set(2, |interface| interface.mode = Mode::Roaming);
    let unanswered = Verdict::Dropped(DropReason::UnansweredRequest);
    assert_eq!(world.receive(2, &PathRequest::packet(&request(to, None, 2))), unanswered);
}

#[test]
fn the_next_node_on_the_path_is_not_told_its_own_path() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let data = request(to, Some(OTHER), 1);
    let unanswered = Verdict::Dropped(DropReason::UnansweredRequest);
    assert_eq!(world.receive(2, &PathRequest::packet(&data)), unanswered);
}

#[test]
fn an_endpoint_answers_its_local_clients_at_once_and_nobody_else() {
    let mut world = World::endpoint();
    let to = world.learn(1, 2, 3);
    let unanswered = Verdict::Dropped(DropReason::UnansweredRequest);
    assert_eq!(world.receive(1, &PathRequest::packet(&request(to, None, 1))), unanswered);
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    assert_eq!(world.receive(9, &PathRequest::packet(&request(to, None, 2))), Verdict::Handled);
    world.pass(Duration::ZERO);
    assert_eq!(world.sent_on(), [9]);
}

#[test]
fn a_local_clients_request_goes_everywhere_with_a_fresh_tag_and_its_answer_comes_back() {
    let mut world = World::endpoint();
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    assert_eq!(world.receive(9, &PathRequest::packet(&request(destination(1), None, 1))), Verdict::Handled);
    let asked = parsed(&world.sent());
    assert_eq!(asked.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(
        asked.iter().all(|(_, request)| request.requester.is_none() && request.tag.as_bytes() != [1; 16])
    );
    let made = Made::new(1, world.wall());
    world.receive(2, &Packet { context: Context::PathResponse, ..made.received(2) });
    let sent = world.sent();
    assert!(sent.iter().all(|(id, _)| *id == 9));
    assert_eq!(sent[0].1.as_packet().context, Context::PathResponse);
}

#[test]
fn a_request_that_nobody_else_answers_is_passed_to_local_clients() {
    let mut world = World::endpoint();
    world.add(9, |interface| interface.kind = InterfaceKind::LocalClient);
    let data = request(destination(1), None, 1);
    assert_eq!(world.receive(1, &PathRequest::packet(&data)), Verdict::Handled);
    let asked = parsed(&world.sent());
    assert_eq!((asked.len(), asked[0].0, asked[0].1.tag.as_bytes()), (1, 9, &[1; 16][..]));
}

#[test]
fn searching_modes_ask_on_with_the_same_tag_and_answer_all_who_wait() {
    for mode in [Mode::AccessPoint, Mode::Gateway, Mode::Roaming, Mode::Internal] {
        let mut world = World::transport();
        for id in [1, 2] {
            world.set(id, |interface| interface.mode = mode);
        }
        let packet = request(destination(1), None, 7);
        assert_eq!(world.receive(1, &PathRequest::packet(&packet)), Verdict::Handled);
        let asked = parsed(&world.sent());
        assert_eq!(asked.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 3], "{mode:?}");
        assert!(
            asked.iter().all(|(_, asked)| asked.tag.as_bytes() == [7; 16] && asked.requester == Some(OWN))
        );

        let packet = request(destination(1), None, 8);
        assert_eq!(world.receive(2, &PathRequest::packet(&packet)), Verdict::Handled);
        assert!(world.sent().is_empty(), "the search goes on already");

        let made = Made::new(1, world.wall());
        let response = Packet { context: Context::PathResponse, ..made.received(2) };
        assert!(matches!(world.receive(3, &response), Verdict::Announce(_)));
        let sent = world.sent();
        assert_eq!(sent.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2]);
        let expected = Packet { hops: 2, context: Context::PathResponse, ..via(OWN, made.packet()) };
        assert!(sent.iter().all(|(_, packet)| packet.as_packet() == expected));
    }
}

#[test]
fn other_modes_search_only_when_told_to() {
    let mut world = World::transport();
    let unanswered = Verdict::Dropped(DropReason::UnansweredRequest);
    let packet = request(destination(1), None, 1);
    assert_eq!(world.receive(1, &PathRequest::packet(&packet)), unanswered);
    world.set(1, |interface| interface.recursive_path_requests = true);
    let packet = request(destination(1), None, 2);
    assert_eq!(world.receive(1, &PathRequest::packet(&packet)), Verdict::Handled);
    assert_eq!(world.sent_on(), [2, 3]);
}

#[test]
fn a_boundary_searches_only_boundaries_and_gateways() {
    let mut world = World::transport();
    world.set(1, |interface| {
        interface.mode = Mode::Boundary;
        interface.recursive_path_requests = true;
    });
    world.set(2, |interface| interface.mode = Mode::Gateway);
    world.receive(1, &PathRequest::packet(&request(destination(1), None, 1)));
    assert_eq!(world.sent_on(), [2]);
}

#[test]
fn searches_end_and_take_their_share_of_the_announces_bitrate() {
    let mut world = World::transport();
    world.set(1, |interface| interface.mode = Mode::Gateway);
    world.set(2, |interface| interface.bitrate = 1_000);
    world.receive(1, &PathRequest::packet(&request(destination(1), None, 1)));
    assert_eq!(world.sent_on(), [2, 3]);
    world.pass(Duration::from_millis(10));
    world.receive(1, &PathRequest::packet(&request(destination(2), None, 1)));
    assert_eq!(world.sent_on(), [3], "the slow interface has had its share");
    world.pass(Duration::from_secs(60));
    world.receive(3, &Made::new(1, world.wall()).received(2));
    assert!(world.sent().is_empty(), "nobody waits any more");
}

#[test]
fn egress_control_limits_searches_for_each_interface() {
    let mut world = World::transport();
    world.set(1, |interface| interface.mode = Mode::Gateway);
    world.set(2, |interface| {
        interface.path_request_egress = Some(5.0);
        interface.bitrate = 1_000_000_000;
    });
    world.set(3, |interface| interface.bitrate = 1_000_000_000);
    for tag in 0..20 {
        world.receive(1, &PathRequest::packet(&request(destination(tag), None, tag)));
        world.pass(Duration::from_millis(10));
    }
    let sent = world.sent_on();
    let on = |id: u32| sent.iter().filter(|to| **to == id).count();
    assert_eq!(on(3), 20);
    assert!(on(2) < 5, "{}", on(2));
}

#[test]
fn a_burst_of_requests_starts_no_searches() {
    let mut world = World::transport();
    let control = BurstControl {
        frequency_new: 3.0,
        frequency: 8.0,
        new_time: Duration::from_secs(7_200),
        hold: Duration::from_secs(15),
        penalty: Duration::from_secs(15),
        release_interval: Duration::from_secs(5),
        max_held: 0,
    };
    world.set(1, |interface| {
        interface.mode = Mode::Gateway;
        interface.path_request_ingress = Some(control);
    });
    let known = world.learn(100, 2, 1);
    let searched = (0..10).filter(|tag| {
        let packet = request(destination(*tag), None, *tag);
        world.receive(1, &PathRequest::packet(&packet)) == Verdict::Handled
    });
    assert_eq!(searched.count(), 2);
    world.sent();
    let packet = request(known, None, 50);
    assert_eq!(world.receive(1, &PathRequest::packet(&packet)), Verdict::Handled, "known paths are answered");
}

#[test]
fn own_requests_name_a_transport_node_and_leave_where_they_shall() {
    for (mut world, requester) in [(World::transport(), Some(OWN)), (World::endpoint(), None)] {
        world.with_env(|router, env, net| router.request_path(env, destination(1), None, net));
        let asked = parsed(&world.sent());
        assert_eq!(asked.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(asked.iter().all(|(_, asked)| asked.requester == requester));
        let on = Some(InterfaceId(2));
        world.with_env(|router, env, net| router.request_path(env, destination(1), on, net));
        assert_eq!(world.sent_on(), [2]);
    }
}

#[test]
fn a_malformed_request_is_dropped() {
    let mut world = World::transport();
    world.receive_dropped(1, &PathRequest::packet(&[1; 16]), DropReason::Malformed);
}
