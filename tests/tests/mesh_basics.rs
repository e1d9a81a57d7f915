//! What every node of a mesh can do: be found, be sent to, be talked to.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{NodeId, StreamConditions, scenario};
use proto_rns::{
    LinkHash,
    dest::Ratchets,
    identity::Identity,
    link::{Event, LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    resource::{self, ResourceConfig, Strategy},
    wire::{MessageType, StreamId},
};
use std::{sync::Arc, time::Duration};
use tests::mesh::{Mesh, Topology, noise};

const S: Duration = Duration::from_secs(1);

/// Builds a line of transport nodes with an endpoint at each end.
fn line(mesh: &mut Mesh<'_>, transports: usize) -> (NodeId, NodeId) {
    let nodes = Topology::Line.build(mesh, transports);
    let (first, last) = (mesh.endpoint(), mesh.endpoint());
    mesh.connect(first, nodes[0]);
    mesh.connect(last, nodes[transports - 1]);
    mesh.run_for(S);
    (first, last)
}

#[test]
fn an_announce_reaches_every_node_of_a_line_with_the_right_hops() {
    scenario("an_announce_reaches_every_node_of_a_line", 0..3, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Line.build(&mut mesh, 6);
        mesh.run_for(S);
        let destination = mesh.destination(nodes[0], "test.announce");
        mesh.announce(nodes[0], destination, b"hello");
        mesh.run_for(60 * S);
        for (place, node) in nodes.iter().enumerate().skip(1) {
            let hops = u8::try_from(place).unwrap();
            assert_eq!(mesh.heard[node].announced(destination), Some(hops), "at {place}");
            assert_eq!(mesh.hops(*node, destination), Some(hops));
        }
    });
}

#[test]
fn a_packet_is_proved_over_one_hop_and_over_five() {
    for transports in [1, 4] {
        scenario("a_packet_is_proved", 0..3, |net| {
            let mut mesh = Mesh::new(net);
            let (from, to) = line(&mut mesh, transports);
            let destination = mesh.destination(to, "test.packet");
            mesh.announce(to, destination, b"");
            mesh.wait_for_path(from, destination);
            let data = noise(1, 383);
            mesh.deliver(from, destination, &data, 10 * S);
            assert_eq!(mesh.heard[&to].packets(destination), [data]);
        });
    }
}

#[test]
fn a_destination_with_ratchets_is_sent_to_by_its_newest_and_can_insist() {
    scenario("a_destination_with_ratchets", 0..2, |net| {
        let mut mesh = Mesh::new(net);
        let (from, to) = line(&mut mesh, 2);
        let destination = mesh.destination(to, "test.ratchet");
        mesh.net.command(to, |node, _| {
            let destination = node.destination_mut(destination).unwrap();
            destination.ratchets = Some(Ratchets::new());
            destination.enforce_ratchets = true;
        });
        mesh.announce(to, destination, b"");
        mesh.wait_for_path(from, destination);
        mesh.deliver(from, destination, b"x", 10 * S);
    });
}

#[test]
fn a_path_is_found_by_asking_where_no_announce_was_heard() {
    scenario("a_path_is_found_by_asking", 0..3, |net| {
        let mut mesh = Mesh::new(net);
        let nodes = Topology::Line.build(&mut mesh, 3);
        let to = mesh.endpoint();
        mesh.connect(to, nodes[2]);
        mesh.run_for(S);
        let destination = mesh.destination(to, "test.path");
        mesh.announce(to, destination, b"late");
        mesh.run_for(60 * S);
        let from = mesh.endpoint();
        mesh.connect(from, nodes[0]);
        mesh.run_for(S);
        assert_eq!(mesh.hops(from, destination), None);
        mesh.net.command(from, |node, now| node.request_path(now, destination));
        mesh.wait(10 * S, |mesh| mesh.hops(from, destination) == Some(4));
    });
}

/// Opens a link over three transport nodes whose far end takes everything.
fn linked(mesh: &mut Mesh<'_>) -> ((NodeId, LinkHash), (NodeId, LinkHash)) {
    let (from, to) = line(mesh, 3);
    let destination = mesh.destination(to, "test.link");
    mesh.net.command(to, |node, _| {
        let mut requests = RequestPolicies::default();
        requests.allow("/echo", RequestPolicy::All);
        node.destination_mut(destination).unwrap().links = Some(LinkConfig {
            proofs: ProofStrategy::All,
            channel: true,
            requests: Arc::new(requests),
            resources: ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() },
            ..LinkConfig::default()
        });
    });
    mesh.announce(to, destination, b"");
    mesh.wait_for_path(from, destination);
    let link = mesh.open_link(from, destination);
    mesh.wait(10 * S, |mesh| mesh.heard[&to].accepted() == [link]);
    mesh.wait_for_event(10 * S, to, link, |event| matches!(event, Event::Established { .. }));
    ((from, link), (to, link))
}

#[test]
fn a_link_over_three_nodes_carries_packets_identity_requests_messages_and_streams() {
    scenario("a_link_over_three_nodes", 0..3, |net| {
        let mut mesh = Mesh::new(net);
        let ((from, link), (to, _)) = linked(&mut mesh);
        let net = &mut *mesh.net;

        let identity = Identity::from_bytes(&proto_rns::crypto::Dalek, &[77; 64]);
        let mdu = net.node(from).machine.link(link).unwrap().mdu();
        assert!(mdu > 8_000, "the MTU was found: {mdu}");
        let data = noise(2, mdu);
        let sent = net
            .command(from, |node, now| {
                node.with_link(now, link, |link, env, out| {
                    link.identify(env, &identity, out).unwrap();
                    link.channel_send(env, MessageType(0x0101), b"message", out).unwrap();
                    link.stream_write(env, StreamId::new(1).unwrap(), b"stream", out).unwrap();
                    link.send(env, &data, out).unwrap()
                })
            })
            .unwrap();
        mesh.wait_for_event(
            10 * S,
            from,
            link,
            |event| matches!(event, Event::Delivered { hash, .. } if *hash == sent),
        );
        mesh.run_for(S);
        let heard: Vec<Event> = mesh.heard[&to].link(link).cloned().collect();
        assert!(heard.contains(&Event::Identified { identity: *identity.public() }));
        assert!(
            heard.contains(&Event::Message { message_type: MessageType(0x0101), data: "message".into() })
        );
        assert!(heard.contains(&Event::StreamReadable { stream: StreamId::new(1).unwrap() }));
        assert!(heard.iter().any(|event| matches!(event, Event::Data { data: got, .. } if *got == data)));

        let request = mesh
            .net
            .command(from, |node, now| {
                node.with_link(now, link, |link, env, out| {
                    link.request(env, "/echo", &[0xa2, b'h', b'i'], None, None, out)
                })
            })
            .unwrap()
            .unwrap();
        mesh.wait_for_event(10 * S, to, link, |event| matches!(event, Event::Request { .. }));
        let big = proto_rns::wire::msgpack::Value::Bytes(noise(3, 100_000).to_vec()).to_vec();
        mesh.net
            .command(to, |node, now| {
                node.with_link(now, link, |link, env, out| link.respond(env, request, &big, out))
            })
            .unwrap()
            .unwrap();
        mesh.wait_for_event(
            20 * S,
            from,
            link,
            |event| matches!(event, Event::Response { id, data } if *id == request && *data == big),
        );
    });
}

#[test]
fn a_resource_of_several_segments_crosses_three_nodes() {
    scenario("a_resource_of_several_segments", 0..2, |net| {
        net.set_streams(StreamConditions::default());
        let mut mesh = Mesh::new(net);
        let ((from, link), (to, _)) = linked(&mut mesh);
        let data = noise(4, 3_000_000);
        let sent = data.clone();
        mesh.net
            .command(from, |node, now| {
                node.with_link(now, link, |link, env, out| link.send_resource(env, sent, None, true, out))
            })
            .unwrap()
            .unwrap();
        mesh.wait_for_event(120 * S, to, link, |event| {
            let Event::Resource(resource::Event::Received { data: got, .. }) = event else { return false };
            *got == data
        });
        mesh.wait_for_event(5 * S, from, link, |event| {
            matches!(event, Event::Resource(resource::Event::Sent { .. }))
        });
    });
}

#[test]
fn a_closed_link_is_closed_at_both_ends() {
    scenario("a_closed_link", 0..2, |net| {
        let mut mesh = Mesh::new(net);
        let ((from, link), (to, _)) = linked(&mut mesh);
        mesh.net.command(from, |node, now| node.with_link(now, link, |link, env, out| link.close(env, out)));
        mesh.wait_for_event(5 * S, to, link, |event| matches!(event, Event::Closed { .. }));
        assert!(mesh.net.node(to).machine.link(link).is_none());
        assert!(mesh.net.node(from).machine.link(link).is_none());
    });
}
