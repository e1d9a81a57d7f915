//! Announces, path requests, tunnels and files, byte for byte as the reference makes them.

use crate::vectors::{FROZEN, env, vector};
use proto_rns::{
    DestinationHash, IdentityHash, InterfaceHash, PacketHash,
    crypto::{Dalek, draw},
    dest::DestinationName,
    identity::{Identity, KnownDestinations},
    iface::InterfaceId,
    wire::{Announce, Context, Packet, PathRequest, RandomHash, RequestTag, TransportType, TunnelSynthesis},
};

fn identity(name: &str) -> Identity {
    Identity::from_bytes(&Dalek, &vector(&format!("identity/{name}")).array("private"))
}

#[test]
fn announces_are_made_alike() {
    let name = DestinationName::parse("proto.rns.test").unwrap();
    let cases = ["plain_no_app_data", "with_app_data", "path_response", "with_ratchet"];
    for (case, has_ratchet) in cases.map(|case| (case, case == "with_ratchet")) {
        let vector = vector(&format!("announce/{case}"));
        let mut draws = vector.draws();
        let random = RandomHash::generate(&mut draws, FROZEN.since_epoch().as_secs());
        let ratchet = has_ratchet.then(|| draw::<32>(&mut draws));
        draws.assert_used();
        let ratchet = ratchet.map(|secret| proto_rns::crypto::CryptoProvider::agreement_key(&Dalek, &secret));
        let app_data = vector.bytes("app_data");
        let announce = Announce::sign(&identity("A"), name.hash(), random, ratchet, &app_data);
        let mut data = Vec::new();
        announce.emit(&mut data);
        let context = if case == "path_response" { Context::PathResponse } else { Context::None };
        let packet = announce.packet(context, &data);
        assert_eq!(packet.to_vec(), vector.bytes("raw"), "{case}");
        assert_eq!(packet.hash().to_string(), vector.str("packet_hash"));
        let raw = vector.bytes("raw");
        let parsed = Announce::parse(&Packet::parse(&raw).unwrap()).unwrap();
        assert!(parsed.verify(&Dalek, packet.destination));
    }
}

#[test]
fn a_transport_node_passes_an_announce_on_alike() {
    let (original, expected) =
        (vector("announce/with_app_data"), vector("announce/rebroadcast_header2_hops1"));
    let mut world = crate::world::World::transport();
    let id = expected.str("transport_id").parse().unwrap();
    world.router = proto_rns::transport::Router::new(Default::default(), id, true, [1; 16]).unwrap();
    let raw = original.bytes("raw");
    world.receive(1, &Packet::parse(&raw).unwrap());
    world.pass(std::time::Duration::from_secs(1));
    for (_, sent) in world.sent() {
        assert_eq!(sent.as_packet().to_vec(), expected.bytes("raw"));
    }
}

#[test]
fn path_requests_are_made_alike() {
    for (case, requester) in [("endpoint", None), ("transport_node_X", Some("transport_X"))] {
        let vector = vector(&format!("path_request/{case}"));
        let request = PathRequest {
            destination: "e1887775ced5edaf8858bdd9da2d5b64".parse().unwrap(),
            requester: requester.map(|name| identity(name).hash()),
            tag: RequestTag::from_prefix(&vector.bytes("tag")).unwrap(),
        };
        let mut data = Vec::new();
        request.emit(&mut data);
        assert_eq!(PathRequest::packet(&data).to_vec(), vector.bytes("raw"));
        assert_eq!(PathRequest::parse(&data), Ok(request));
    }
}

#[test]
fn tunnels_are_requested_alike() {
    let vector = vector("tunnel/synthesize");
    let interface = InterfaceHash::new(vector.array("interface_hash"));
    let mut draws = crate::vectors::Draws([vector.bytes("random_hash")].into());
    let synthesis = TunnelSynthesis::sign(&identity("transport_X"), interface, &mut draws);
    assert_eq!(synthesis.tunnel().to_string(), vector.str("tunnel_id"));
    let mut world = crate::world::World::transport();
    world.set(1, |interface| interface.name = vector.str("interface_name").into());
    let mut draws = crate::vectors::Draws([vector.bytes("random_hash")].into());
    let mut env = env(&mut draws);
    world.router.synthesize_tunnel(&mut env, &identity("transport_X"), InterfaceId(1), &mut world.net);
    let sent = world.sent();
    assert_eq!(sent[0].1.as_packet().to_vec(), vector.bytes("raw"));
}

#[test]
fn packets_get_and_lose_their_transport_header_alike() {
    let id: IdentityHash = vector("packet/single_data_header2_via_X").str("transport_id").parse().unwrap();
    let single = vector("packet/single_data").bytes("raw");
    let packet = Packet::parse(&single).unwrap();
    let through = Packet { transport_type: TransportType::Transport, transport_id: Some(id), ..packet };
    assert_eq!(through.to_vec(), vector("packet/single_data_header2_via_X").bytes("raw"));

    let mut world = crate::world::World::transport();
    world.router = proto_rns::transport::Router::new(Default::default(), id, true, [1; 16]).unwrap();
    let announce = vector("announce/with_app_data").bytes("raw");
    world.receive(1, &Packet::parse(&announce).unwrap());
    world.receive(2, &through);
    let sent = world.sent();
    assert_eq!(sent[0].0, 1);
    assert_eq!(sent[0].1.as_packet().to_vec(), vector("packet/single_forwarded_last_hop").bytes("raw"));
}

#[test]
fn the_file_of_known_destinations_is_written_and_read_alike() {
    let packed = vector("msgpack/known_destination").bytes("packed");
    let destination: DestinationHash = "e1887775ced5edaf8858bdd9da2d5b64".parse().unwrap();
    let packet: PacketHash = vector("announce/with_app_data").str("packet_hash").parse().unwrap();
    let mut known = KnownDestinations::new(9);
    known.remember(destination, *identity("A").public(), b"app", packet, FROZEN).unwrap();
    assert_eq!(known.encode(), packed);
    assert_eq!(KnownDestinations::decode(&packed, 9).unwrap().encode(), packed);
}
