//! What the reference makes of keys, names, tokens, packets, access codes and frames, byte for byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod vectors;

use proto_rns::{
    DestinationHash,
    crypto::{Dalek, Token, TokenKey, hkdf},
    dest::{DestinationName, GroupKey, LocalDestination},
    identity::{Identity, ratchet_id},
    iface::{Deframer, Framing, Ifac},
    wire::{Context, DestinationType, Packet, PacketType, Proof, TransportType},
};
use vectors::{env, hex, vector};

fn identity(name: &str) -> Identity {
    Identity::from_bytes(&Dalek, &vector(&format!("identity/{name}")).array("private"))
}

fn single() -> LocalDestination {
    LocalDestination::single(DestinationName::parse("proto.rns.test").unwrap(), identity("A"))
}

#[test]
fn keys_are_derived_alike() {
    for name in ["hkdf_64_no_context", "hkdf_64_empty_salt", "hkdf_600"] {
        let vector = vector(&format!("primitives/{name}"));
        let expected = vector.bytes("out");
        let mut out = vec![0; expected.len()];
        hkdf(&vector.bytes("ikm"), &vector.bytes("salt"), &mut out);
        assert_eq!(out, expected, "{name}");
    }
}

#[test]
fn tokens_are_sealed_alike() {
    for name in
        ["token_aes256_0", "token_aes256_5", "token_aes256_16", "token_aes256_100", "token_aes128_legacy"]
    {
        let vector = vector(&format!("primitives/{name}"));
        let key = vector.bytes("key");
        let key = match <&[u8; 64]>::try_from(&key[..]) {
            Ok(key) => TokenKey::new(key),
            Err(_) => TokenKey::new_legacy(&vector.array("key")),
        };
        let mut draws = vector.draws();
        let token = Token::seal(&Dalek, &key, &mut draws, &vector.bytes("plaintext"));
        assert_eq!(token, vector.bytes("token"), "{name}");
        assert_eq!(*key.open(&mut token.clone()).unwrap(), vector.bytes("plaintext"));
    }
}

#[test]
fn identities_have_the_same_keys_and_signatures() {
    for name in ["A", "B", "transport_X"] {
        let vector = vector(&format!("identity/{name}"));
        let identity = identity(name);
        assert_eq!(identity.public().to_bytes()[..], vector.bytes("public"));
        assert_eq!(identity.hash().to_string(), vector.str("hash"));
        let message = vector.bytes("sign_msg");
        let signature = identity.sign(&message);
        assert_eq!(signature[..], vector.bytes("signature"));
        assert!(identity.public().verify(&Dalek, &message, &signature));
    }
}

#[test]
fn destinations_have_the_same_hashes() {
    let a = identity("A");
    assert_eq!(single().hash().to_string(), vector("destination/single").str("hash"));
    let plain = vector("destination/plain");
    assert_eq!(
        LocalDestination::plain(DestinationName::parse(plain.str("name")).unwrap()).hash().to_string(),
        plain.str("hash")
    );
    let group = vector("destination/group");
    assert_eq!(
        DestinationName::parse(group.str("name"))
            .unwrap()
            .of(group.str("identity_hash").parse().unwrap())
            .to_string(),
        group.str("hash")
    );
    for name in [
        "rnstransport.probe",
        "rnstransport.remote.management",
        "rnstransport.info.blackhole",
        "lxmf.delivery",
    ] {
        let hash = DestinationName::parse(name).unwrap().of(a.hash());
        assert_eq!(hash.to_string(), vector(&format!("destination/{name}@A")).str("hash"));
    }
}

#[test]
fn packets_are_encrypted_and_hashed_alike() {
    let a = identity("A");
    let ratchet = vector("announce/ratchet_material");
    for (name, ratchet) in
        [("single_data", None), ("single_data_ratchet", Some(ratchet.array("ratchet_public")))]
    {
        let vector = vector(&format!("packet/{name}"));
        let mut draws = vector.draws();
        let data =
            a.public().encrypt(&Dalek, &mut draws, ratchet.as_ref(), &vector.bytes("plaintext")).unwrap();
        draws.assert_used();
        let packet =
            Packet::new(PacketType::Data, DestinationType::Single, single().hash(), Context::None, &data);
        assert_eq!(packet.to_vec(), vector.bytes("raw"), "{name}");
        assert_eq!(packet.hash().to_string(), vector.str("packet_hash"));
    }
    let plain = vector("packet/plain_data");
    let raw = plain.bytes("raw");
    let packet = Packet::parse(&raw).unwrap();
    assert_eq!(
        (packet.data, packet.destination_type),
        (&plain.bytes("plaintext")[..], DestinationType::Plain)
    );
    assert_eq!(packet.hash().to_string(), plain.str("packet_hash"));

    let group = vector("packet/group_data");
    let mut draws = group.draws();
    let data =
        GroupKey::from_bytes(&group.array("key")).encrypt(&mut env(&mut draws), &group.bytes("plaintext"));
    assert_eq!(data, group.bytes("raw")[Packet::SHORT_HEADER..]);
}

#[test]
fn a_transport_header_changes_neither_data_nor_hash() {
    let vector = vector("packet/single_data_header2_via_X");
    let (long, short) = (vector.bytes("raw"), vectors::vector("packet/single_data").bytes("raw"));
    let packet = Packet::parse(&short).unwrap();
    let transported = Packet {
        transport_type: TransportType::Transport,
        transport_id: Some(vector.str("transport_id").parse().unwrap()),
        hops: Packet::parse(&long).unwrap().hops,
        ..packet
    };
    assert_eq!(transported.to_vec(), long);
    assert_eq!(transported.hash().to_string(), vector.str("packet_hash"));
}

#[test]
fn a_destination_decrypts_with_its_ratchets_and_with_its_own_key() {
    let ratchet = vector("announce/ratchet_material");
    let mut draws = vectors::Draws([ratchet.bytes("ratchet_private")].into());
    let mut destination = single();
    let mut ratchets = proto_rns::dest::Ratchets::new();
    ratchets.rotate(&mut env(&mut draws));
    assert_eq!(ratchets.public(&Dalek), Some(ratchet.array("ratchet_public")));
    destination.ratchets = Some(ratchets);
    for (name, ratcheted) in [("single_data", false), ("single_data_ratchet", true)] {
        let vector = vector(&format!("packet/{name}"));
        let mut data = vector.bytes("raw")[Packet::SHORT_HEADER..].to_vec();
        let mut none = vectors::Draws([].into());
        let (plaintext, used) = destination.decrypt(&mut env(&mut none), &mut data).unwrap();
        assert_eq!(*plaintext, vector.bytes("plaintext"));
        assert_eq!(used, ratcheted.then(|| ratchet_id(&ratchet.array("ratchet_public"))));
        if ratcheted {
            assert_eq!(used.unwrap().to_string(), ratchet.str("ratchet_id"));
        }
    }
    destination.enforce_ratchets = true;
    let mut data = vector("packet/single_data").bytes("raw")[Packet::SHORT_HEADER..].to_vec();
    assert!(destination.decrypt(&mut env(&mut vectors::Draws([].into())), &mut data).is_err());
}

#[test]
fn proofs_are_signed_alike() {
    let packet = vector("packet/single_data");
    let hash: proto_rns::PacketHash = packet.str("packet_hash").parse().unwrap();
    for (name, explicit) in [("implicit", None), ("explicit", Some(hash))] {
        let mut data = Vec::new();
        Proof { packet: explicit, signature: identity("A").sign(hash.as_bytes()) }.emit(&mut data);
        let proof = Packet::new(
            PacketType::Proof,
            DestinationType::Single,
            DestinationHash::from_prefix(hash.as_bytes()).unwrap(),
            Context::None,
            &data,
        );
        assert_eq!(proof.to_vec(), vector(&format!("proof/{name}")).bytes("raw"), "{name}");
    }
}

#[test]
fn access_codes_are_made_and_checked_alike() {
    for name in ["name_and_key_16", "name_only_8", "key_only_1", "both_64"] {
        let vector = vector(&format!("ifac/{name}"));
        let text = |field: &str| vector.0.get(field).and_then(|value| value.as_str()).map(str::to_owned);
        let size = vector.number("ifac_size").try_into().unwrap();
        let access =
            Ifac::new(&Dalek, text("network_name").as_deref(), text("passphrase").as_deref(), size).unwrap();
        assert_eq!(access.key()[..], vector.bytes("ifac_key"), "{name}");
        let (plain, masked) = (vector.bytes("plain"), vector.bytes("masked"));
        let mut out = vec![9];
        access.seal(&[&plain[..19], &plain[19..]], &mut out);
        assert_eq!(out[1..], masked, "{name}");
        assert_eq!(*access.open(&mut masked.clone()).unwrap(), plain);
        for place in 0..masked.len() {
            let mut changed = masked.clone();
            changed[place] ^= 1;
            // A code of one byte cannot tell every change.
            assert!(size == 1 || access.open(&mut changed).is_err(), "{name} {place}");
        }
        for len in 0..masked.len() {
            assert!(size == 1 || access.open(&mut masked[..len].to_vec()).is_err());
        }
    }
}

#[test]
fn frames_are_delimited_alike() {
    for (name, framing) in
        [("hdlc", Framing::Hdlc), ("hdlc_packet", Framing::Hdlc), ("kiss_tcp", Framing::Kiss)]
    {
        let vector = vector(&format!("framing/{name}"));
        let mut out = Vec::new();
        framing.frame(&[&vector.bytes("payload")], &mut out);
        assert_eq!(out, vector.bytes("frame"), "{name}");
        let mut frames = Vec::new();
        Deframer::new(framing, 500).feed(&mut out, |frame| frames.push(frame.to_vec()));
        assert_eq!(frames, [vector.bytes("payload")]);
    }
    assert_eq!(hex("7e"), [0x7e]);
}
