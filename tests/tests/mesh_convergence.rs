//! How meshes find their ways: shapes, sizes, loss of nodes, movement.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{NodeId, StreamConditions, scenario};
use proto_rns::DestinationHash;
use std::{collections::VecDeque, time::Duration};
use tests::mesh::{Mesh, Topology};

const S: Duration = Duration::from_secs(1);

/// Announces a destination at `from` and lets it spread.
fn spread(mesh: &mut Mesh<'_>, from: NodeId, name: &str) -> DestinationHash {
    let destination = mesh.destination(from, name);
    mesh.announce(from, destination, name.as_bytes());
    destination
}

/// Returns the distance of every place from the first, over `edges`.
fn distances(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut distance = vec![usize::MAX; count];
    distance[0] = 0;
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        for &(a, b) in edges {
            for (here, there) in [(a, b), (b, a)] {
                if here == at && distance[there] == usize::MAX {
                    distance[there] = distance[at] + 1;
                    queue.push_back(there);
                }
            }
        }
    }
    distance
}

#[test]
fn every_node_of_every_shape_learns_a_path_that_is_hardly_longer_than_the_shortest() {
    let shapes = [(Topology::Ring, 9), (Topology::Star, 12), (Topology::Random { extra: 10, seed: 3 }, 20)];
    for (shape, count) in shapes {
        scenario("every_node_of_every_shape_learns_a_path", 0..2, |net| {
            let mut mesh = Mesh::new(net);
            let nodes = shape.build(&mut mesh, count);
            mesh.run_for(S);
            let destination = spread(&mut mesh, nodes[0], "test.shape");
            mesh.run_for(120 * S);
            let distances = distances(count, &shape.edges(count));
            for (node, distance) in nodes.iter().zip(distances).skip(1) {
                let hops = mesh.hops(*node, destination).map(usize::from).expect("a path");
                // The copy of an announce that comes first wins, and each node waits up to half a second before it
                // passes one on (spec 1.6.3, 1.6.4).
                assert!((distance..=distance + 2).contains(&hops), "{shape:?}: {hops} for {distance}");
            }
        });
    }
}

#[test]
fn fifty_nodes_over_slow_and_fast_links_all_find_each_other_and_traffic_stays_bounded() {
    scenario("fifty_nodes", 0..1, |net| {
        net.set_streams(StreamConditions {
            delay: Duration::from_millis(40),
            bits_per_second: Some(1_000_000),
            ..StreamConditions::default()
        });
        let shape = Topology::Random { extra: 25, seed: 11 };
        let mut mesh = Mesh::new(net);
        let nodes = shape.build(&mut mesh, 50);
        mesh.run_for(2 * S);
        let destinations: Vec<_> = nodes
            .iter()
            .step_by(10)
            .enumerate()
            .map(|(n, node)| spread(&mut mesh, *node, &format!("test.n{n}")))
            .collect();
        mesh.run_for(180 * S);
        for node in &nodes {
            for destination in &destinations {
                let own = mesh.net.node(*node).machine.destination(*destination).is_some();
                assert!(
                    own || mesh.hops(*node, *destination).is_some(),
                    "{node:?} does not know {destination}"
                );
            }
        }
        // Each node passes an announce on at most twice over each of its connections (spec 1.6.4).
        let packets: u64 = nodes
            .iter()
            .flat_map(|node| {
                mesh.net.node(*node).machine.interfaces().map(|(_, of)| of.counters().sent_packets)
            })
            .sum();
        let connections = u64::try_from(shape.edges(50).len()).unwrap();
        let most = 2 * 2 * connections * u64::try_from(destinations.len()).unwrap();
        assert!(packets <= most + 4 * connections, "{packets} packets for at most {most}");
    });
}

#[test]
fn a_packet_finds_another_way_after_a_node_is_lost() {
    scenario("a_packet_finds_another_way", 0..2, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Ring.build(&mut mesh, 6);
        mesh.run_for(S);
        let destination = spread(&mut mesh, nodes[0], "test.detour");
        mesh.run_for(60 * S);
        let from = nodes[2];
        assert_eq!(mesh.hops(from, destination), Some(2));
        // The node between is cut off from both sides.
        mesh.net.partition(nodes[1], nodes[0]);
        mesh.net.partition(nodes[1], nodes[2]);
        mesh.announce(nodes[0], destination, b"again");
        mesh.wait(60 * S, |mesh| mesh.hops(from, destination) == Some(4));
        mesh.deliver(from, destination, b"around", 20 * S);
    });
}

#[test]
fn two_halves_that_meet_again_hear_of_each_other() {
    scenario("two_halves_that_meet_again", 0..2, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Line.build(&mut mesh, 6);
        mesh.run_for(S);
        mesh.net.partition(nodes[2], nodes[3]);
        mesh.run_for(30 * S);
        let destination = spread(&mut mesh, nodes[0], "test.halves");
        mesh.run_for(30 * S);
        assert_eq!(mesh.hops(nodes[5], destination), None);
        mesh.net.heal(nodes[2], nodes[3]);
        mesh.run_for(120 * S);
        mesh.net.command(nodes[5], |node, now| node.request_path(now, destination));
        mesh.announce(nodes[0], destination, b"again");
        mesh.wait(60 * S, |mesh| mesh.hops(nodes[5], destination) == Some(5));
    });
}

#[test]
fn a_node_that_moves_is_found_at_its_new_place() {
    scenario("a_node_that_moves", 0..2, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Line.build(&mut mesh, 5);
        let mobile = mesh.endpoint();
        let first = mesh.connect(mobile, nodes[0]);
        mesh.run_for(S);
        let destination = spread(&mut mesh, mobile, "test.mobile");
        mesh.wait(60 * S, |mesh| mesh.hops(nodes[4], destination) == Some(5));
        mesh.net.command(mobile, |node, now| node.remove_interface(now, first));
        mesh.run_for(5 * S);
        mesh.connect(mobile, nodes[4]);
        mesh.run_for(S);
        mesh.announce(mobile, destination, b"moved");
        mesh.wait(60 * S, |mesh| mesh.hops(nodes[0], destination) == Some(5));
        mesh.deliver(nodes[0], destination, b"there", 20 * S);
    });
}

#[test]
fn a_wall_clock_that_is_set_back_does_not_hide_a_destination_for_ever() {
    scenario("a_wall_clock_that_is_set_back", 0..1, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Line.build(&mut mesh, 3);
        mesh.run_for(S);
        let destination = spread(&mut mesh, nodes[0], "test.clock");
        mesh.run_for(30 * S);
        // A clock that was an hour fast is corrected; the path lasts until then and is used.
        mesh.net.command(nodes[0], |node, now| node.set_wall(now, tests::mesh::WALL));
        mesh.run_for(2 * S);
        mesh.announce(nodes[0], destination, b"corrected");
        mesh.run_for(30 * S);
        mesh.deliver(nodes[2], destination, b"there", 20 * S);
    });
}
