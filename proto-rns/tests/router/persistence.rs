//! The router's tables survive a restart in the formats of the reference's files.

use crate::world::{Made, World, data, destination, request};
use proto_rns::{
    PacketHash,
    iface::InterfaceId,
    transport::{CachedAnnounce, DropReason, Router, Verdict},
    wire::{
        PathRequest, TunnelSynthesis,
        msgpack::{Reader, Value},
    },
};
use std::time::Duration;

type Cache = Vec<CachedAnnounce>;

fn find(cache: &Cache, packet: &PacketHash) -> Option<Vec<u8>> {
    cache.iter().find(|file| file.packet == *packet).map(|file| file.contents.clone())
}

fn restart(world: &World, later: Duration) -> World {
    let mut fresh = World::transport();
    fresh.now = world.now + later;
    fresh
}

#[test]
fn paths_return_with_their_announces() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let near = world.learn(2, 1, 1);
    let file = world.with_env(|router, env, net| router.encode_paths(env, net));
    let cache: Cache = world.router.cached_announces(&world.net).collect();
    assert_eq!(cache.len(), 2);
    let mut fresh = restart(&world, Duration::from_secs(3_600));
    let decode = |router: &mut Router, env: &mut proto_rns::Env<'_>, net: &mut crate::world::Net| {
        router.decode_paths(env, &file, net, &|packet| find(&cache, packet))
    };
    fresh.with_env(decode).unwrap();
    let (before, after) = (world.router.path(to).unwrap(), fresh.router.path(to).unwrap());
    assert_eq!((after.hops, after.next_hop, after.interface), (3, before.next_hop, InterfaceId(2)));
    assert_eq!(after.expires.as_millis(), before.expires.as_millis());
    assert_eq!(fresh.router.path(near).unwrap().next_hop, None);
    fresh.receive(3, &PathRequest::packet(&request(to, None, 1)));
    fresh.pass(Duration::from_secs(1));
    assert_eq!(fresh.sent_on(), [3], "path requests are answered from the cache");
    let replay = Made::new(1, world.wall() - 40);
    assert_eq!(fresh.receive(1, &replay.received(3)), Verdict::Dropped(DropReason::NoBetterPath));
}

#[test]
fn the_file_of_paths_has_the_references_fields() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let file = world.with_env(|router, env, net| router.encode_paths(env, net));
    let Value::Array(paths) = Value::parse(&file).unwrap() else { panic!("no list") };
    let Value::Array(fields) = &paths[0] else { panic!("no list") };
    assert_eq!(fields.len(), 8);
    assert_eq!(fields[0], Value::Bytes(to.as_bytes().to_vec()));
    assert!(matches!(fields[1], Value::Float(_)) && matches!(fields[4], Value::Float(_)));
    assert_eq!(fields[3], Value::Unsigned(3));
    let lengths = [&fields[2], &fields[6], &fields[7]].map(|field| match field {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    });
    assert_eq!(lengths, [16, 32, 32]);
}

#[test]
fn expired_paths_and_those_of_missing_interfaces_stay_away() {
    let mut world = World::transport();
    let (lost, kept) = (world.learn(1, 2, 3), world.learn(2, 1, 3));
    let file = world.with_env(|router, env, net| router.encode_paths(env, net));
    let mut fresh = restart(&world, Duration::ZERO);
    fresh.remove(2);
    fresh.with_env(|router, env, net| router.decode_paths(env, &file, net, &|_| None)).unwrap();
    assert_eq!((fresh.router.path(lost), fresh.router.path(kept).is_some()), (None, true));
    let mut late = restart(&world, Duration::from_secs(8 * 86_400));
    late.with_env(|router, env, net| router.decode_paths(env, &file, net, &|_| None)).unwrap();
    assert_eq!(late.router.sizes().paths, 0);
    for len in 0..file.len() {
        let cut = &file[..len];
        let mut fresh = World::transport();
        assert!(fresh.with_env(|router, env, net| router.decode_paths(env, cut, net, &|_| None)).is_err());
    }
}

#[test]
fn tunnels_return_without_interface() {
    let mut world = World::transport();
    world.add(11, |_| {});
    let mut synthesis = Vec::new();
    TunnelSynthesis::sign(
        &crate::world::identity(50),
        proto_rns::InterfaceHash::new([5; 32]),
        &mut proto_core::Rng::from_u64(1),
    )
    .emit(&mut synthesis);
    world.receive(11, &TunnelSynthesis::packet(&synthesis));
    let to = world.learn(1, 11, 2);
    let file = world.with_env(|router, env, net| router.encode_tunnels(env, net));
    assert!(Reader::new(&file).value().is_ok_and(|value| value.len() == file.len()));
    let mut fresh = restart(&world, Duration::from_secs(60));
    fresh.with_env(|router, env, _| router.decode_tunnels(env, &file, &|_| None)).unwrap();
    assert_eq!(fresh.router.path(to), None);
    fresh.add(12, |_| {});
    fresh.receive(12, &TunnelSynthesis::packet(&synthesis));
    assert_eq!(fresh.router.path(to).map(|path| path.interface), Some(InterfaceId(12)));
}

#[test]
fn packets_that_were_seen_stay_seen() {
    let mut world = World::transport();
    world.home.destinations.insert(destination(1));
    let packet = data(destination(1), b"once");
    world.receive(1, &packet);
    let file = world.router.encode_seen();
    assert_eq!(file, packet.hash().as_bytes());
    let mut fresh = restart(&world, Duration::ZERO);
    fresh.home.destinations.insert(destination(1));
    fresh.router.decode_seen(&file);
    assert_eq!(fresh.receive(1, &packet), Verdict::Dropped(DropReason::Duplicate));
}
