//! Tunnels: paths that survive the reconnection of an interface.

use crate::world::{Made, World, destination, identity};
use proto_core::Rng;
use proto_rns::{
    InterfaceHash,
    iface::InterfaceId,
    transport::{DropReason, Verdict},
    wire::TunnelSynthesis,
};
use std::time::Duration;

fn synthesis(random: u64) -> Vec<u8> {
    let interface = InterfaceHash::new([5; 32]);
    let mut data = Vec::new();
    TunnelSynthesis::sign(&identity(50), interface, &mut Rng::from_u64(random)).emit(&mut data);
    data
}

fn connect(world: &mut World, id: u32) {
    world.add(id, |_| {});
    let data = synthesis(u64::from(id));
    assert_eq!(world.receive(id, &TunnelSynthesis::packet(&data)), Verdict::Handled);
}

#[test]
fn the_paths_of_a_peer_return_with_it() {
    let mut world = World::transport();
    connect(&mut world, 11);
    let to = world.learn(1, 11, 2);
    world.remove(11);
    assert_eq!(world.router.path(to), None);
    world.pass(Duration::from_secs(7 * 3_600));
    connect(&mut world, 12);
    let path = world.router.path(to).unwrap();
    assert_eq!((path.interface, path.hops), (InterfaceId(12), 2));
}

#[test]
fn a_peer_that_reconnects_before_the_old_connection_is_lost_takes_its_paths_along() {
    let mut world = World::transport();
    connect(&mut world, 11);
    let to = world.learn(1, 11, 2);
    connect(&mut world, 12);
    world.remove(11);
    assert_eq!(world.router.path(to).map(|path| path.interface), Some(InterfaceId(12)));
}

#[test]
fn the_paths_of_a_peer_are_forgotten_after_eight_hours() {
    let mut world = World::transport();
    connect(&mut world, 11);
    let to = world.learn(1, 11, 2);
    world.remove(11);
    world.pass(Duration::from_secs(8 * 3_600 + 1));
    connect(&mut world, 12);
    assert_eq!(world.router.path(to), None);
}

#[test]
fn a_newer_path_is_not_replaced_by_that_of_a_tunnel() {
    let mut world = World::transport();
    connect(&mut world, 11);
    world.learn(1, 11, 2);
    world.remove(11);
    world.receive(1, &Made::with_random(1, world.wall(), 3).received(2));
    connect(&mut world, 12);
    assert_eq!(world.router.path(destination(1)).map(|path| path.interface), Some(InterfaceId(1)));
}

#[test]
fn an_interface_without_tunnel_takes_its_paths_with_it() {
    let mut world = World::transport();
    let to = world.learn(1, 1, 2);
    world.remove(1);
    assert_eq!(world.router.path(to), None);
}

#[test]
fn a_request_for_a_tunnel_must_be_whole_and_signed() {
    let mut world = World::transport();
    let mut data = synthesis(1);
    world.receive_dropped(1, &TunnelSynthesis::packet(&data[..175]), DropReason::Malformed);
    data[100] ^= 1;
    world.receive_dropped(1, &TunnelSynthesis::packet(&data), DropReason::BadSignature);
}
