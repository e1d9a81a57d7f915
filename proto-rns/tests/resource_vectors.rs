//! Resources come out byte for byte as the recorded ones of the reference did.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod vectors;

use bytes::Bytes;
use proto_rns::{
    DestinationHash, Env, LinkHash, RequestId,
    bz2::Bz2,
    crypto::{Dalek, Token, TokenKey},
    resource::{Carrier, Data, Event, Kind, Outgoing, ResourceConfig, Resources, Strategy},
    wire::{Context, DestinationType, HashmapUpdate, Packet, PacketType, ResourceRequest},
};
use std::collections::VecDeque;
use vectors::{Draws, Vector, env_with, vector};

/// The names of the recorded resources. (`hashmap_update_segment1` continues one of them.)
const RESOURCES: [&str; 7] = [
    "small_uncompressed",
    "small_compressed",
    "hashmap_two_segments_70400B",
    "with_metadata",
    "response_flag",
    "request_flag",
    "mtu8192",
];

#[test]
fn every_recorded_resource_is_reproduced() {
    let recorded = vector("resource");
    assert_eq!(recorded.0.as_object().unwrap().len(), RESOURCES.len() + 1);
    RESOURCES.into_iter().for_each(reproduce);
}

#[test]
fn a_recorded_hashmap_update_answers_the_recorded_request() {
    let update = vector("resource/hashmap_update_segment1");
    let (mut sender, outgoing) = Scene::sending("hashmap_two_segments_70400B");
    sender.send(&outgoing);
    sender.wire.sent.clear();
    let request = update.bytes("exhausted_request_plaintext");
    sender.with(|resources, env, key, wire| resources.handle_request(env, key, &request, wire));
    let plaintext = update.bytes("plaintext");
    assert_eq!(sender.wire.sent, [Sent::Sealed(Context::ResourceHashmapUpdate, plaintext.clone())]);
    assert_eq!(HashmapUpdate::parse(&plaintext).unwrap().to_vec(), plaintext);
    assert_eq!(ResourceRequest::parse(&request).unwrap().to_vec(), request);
}

/// Sends a recorded resource with its recorded draws to a receiver of ours.
fn reproduce(name: &str) {
    let recorded = vector(&format!("resource/{name}"));
    let (mut sender, data) = Scene::sending(name);
    let mut receiver = Scene::new(name);
    sender.send(&data);

    let advertisement = recorded.bytes("advertisement_plaintext");
    assert_eq!(
        sender.wire.sent,
        [Sent::Sealed(Context::ResourceAdvertisement, advertisement.clone())],
        "{name}"
    );
    let sealed = Token::seal(&Dalek, &sender.key, &mut sender.draws, &advertisement);
    let frame = sender.frame(Context::ResourceAdvertisement, &sealed);
    assert_eq!(frame, recorded.bytes("advertisement_raw"), "{name}");
    sender.draws.assert_used();

    if let Kind::Response(request) = data.kind {
        receiver.resources.expect_response(request, 1_000);
    }
    receiver.with(|resources, env, _, wire| resources.handle_advertisement(env, &advertisement, wire));
    let first_request = recorded.bytes("first_request_plaintext");
    let requested = [Sent::Sealed(Context::ResourceRequest, first_request.clone())];
    assert_eq!(core::mem::take(&mut receiver.wire.sent), requested, "{name}");
    assert_eq!(ResourceRequest::parse(&first_request).unwrap().to_vec(), first_request);

    sender.wire.sent.clear();
    let parts = carry(&mut sender, &mut receiver, first_request);
    assert_eq!(parts.len() as u64, recorded.number("total_parts"), "{name}");
    let part_frame = |part: Option<&Vec<u8>>| sender.frame(Context::Resource, part.unwrap());
    assert_eq!(part_frame(parts.first()), recorded.bytes("first_part_raw"), "{name}");
    assert_eq!(part_frame(parts.last()), recorded.bytes("last_part_raw"), "{name}");
    let size: usize = parts.iter().map(Vec::len).sum();
    assert_eq!(size as u64, recorded.number("transfer_size"), "{name}");

    let proof = recorded.bytes("proof_payload");
    let proved = [Sent::Raw(PacketType::Proof, Context::ResourceProof, proof.clone())];
    assert_eq!(receiver.wire.sent, proved, "{name}");
    sender.with(|resources, env, key, wire| resources.handle_proof(env, key, &proof, wire));
    assert!(sender.events().iter().any(|event| matches!(event, Event::Sent { .. })), "{name}");
    let received = receiver.events().pop();
    let Some(Event::Received { kind, data: arrived, metadata, .. }) = received else {
        panic!("{name}: {received:?}")
    };
    assert_eq!((kind, Some(arrived)), (data.kind, whole(data.data)), "{name}");
    assert_eq!(metadata.map(|metadata| metadata.to_vec()), data.metadata, "{name}");
}

/// Carries requests and parts to and fro until the receiver has proved everything; returns the parts.
fn carry(sender: &mut Scene, receiver: &mut Scene, first_request: Vec<u8>) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut request = Some(first_request);
    while let Some(plaintext) = request.take() {
        sender.with(|resources, env, key, wire| resources.handle_request(env, key, &plaintext, wire));
        for sent in std::mem::take(&mut sender.wire.sent) {
            receiver.with(|resources, env, key, wire| match &sent {
                Sent::Raw(PacketType::Data, Context::Resource, part) => {
                    resources.handle_part(env, key, part, wire);
                }
                Sent::Sealed(Context::ResourceHashmapUpdate, update) => {
                    resources.handle_hashmap_update(env, update, wire);
                }
                other => panic!("{other:?}"),
            });
            if let Sent::Raw(_, _, part) = sent {
                parts.push(part);
            }
        }
        if let Some(Sent::Sealed(Context::ResourceRequest, _)) = receiver.wire.sent.front()
            && let Some(Sent::Sealed(_, plaintext)) = receiver.wire.sent.pop_front()
        {
            request = Some(plaintext);
        }
    }
    parts
}

/// One side of a recorded link.
struct Scene {
    resources: Resources,
    key: TokenKey,
    link: LinkHash,
    draws: Draws,
    wire: Wire,
}

impl Scene {
    fn new(name: &str) -> Self {
        let link = if name == "mtu8192" { "mtu8192" } else { "mtu500" };
        let proof = vector(&format!("link/{link}_proof"));
        let hash = LinkHash::new(vector(&format!("link/{link}_request")).array("link_id"));
        let mtu = usize::try_from(proof.number("negotiated_mtu")).unwrap();
        let config = ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() };
        Self {
            resources: Resources::new(config, hash, mtu).unwrap(),
            key: TokenKey::new(&proof.array("derived_key")),
            link: hash,
            draws: Draws(VecDeque::new()),
            wire: Wire::default(),
        }
    }

    /// A side with a resource's draws, and what it has to send.
    fn sending(name: &str) -> (Self, Outgoing) {
        let recorded = vector(&format!("resource/{name}"));
        let mut draws = recorded.draws();
        // Draws of other lengths made the data.
        draws.0.retain(|draw| draw.len() == 16);
        (Self { draws, ..Self::new(name) }, outgoing(name, &recorded))
    }

    fn send(&mut self, outgoing: &Outgoing) {
        self.with(|resources, env, key, wire| resources.send(env, key, outgoing.clone(), wire)).unwrap();
    }

    fn with<T>(&mut self, step: impl FnOnce(&mut Resources, &mut Env<'_>, &TokenKey, &mut Wire) -> T) -> T {
        // The reference always compresses at the highest level, which shows in the stream's header.
        let bz2 = Bz2::at_level(9);
        step(&mut self.resources, &mut env_with(&mut self.draws, &bz2), &self.key, &mut self.wire)
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.resources.poll_event()).collect()
    }

    fn frame(&self, context: Context, data: &[u8]) -> Vec<u8> {
        let link = DestinationHash::from(self.link);
        Packet::new(PacketType::Data, DestinationType::Link, link, context, data).to_vec()
    }
}

/// What left, in order.
#[derive(Default)]
struct Wire {
    sent: VecDeque<Sent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Sent {
    Sealed(Context, Vec<u8>),
    Raw(PacketType, Context, Vec<u8>),
}

impl Carrier for Wire {
    fn send(&mut self, context: Context, plaintext: &[u8]) {
        self.sent.push_back(Sent::Sealed(context, plaintext.to_vec()));
    }

    fn send_raw(&mut self, packet_type: PacketType, context: Context, data: &[u8]) {
        self.sent.push_back(Sent::Raw(packet_type, context, data.to_vec()));
    }

    fn room(&self) -> usize {
        usize::MAX
    }
}

/// Returns the bytes of data that are all in memory.
fn whole(data: Data) -> Option<Bytes> {
    match data {
        Data::Whole(bytes) => Some(bytes),
        Data::Pulled(_) => None,
    }
}

fn outgoing(name: &str, recorded: &Vector) -> Outgoing {
    let mut data = recorded.bytes("data");
    if data.is_empty() {
        data = long_data();
        data.truncate(usize::try_from(recorded.number("data_len")).unwrap());
    }
    let request = RequestId::new([0x10; 16]);
    Outgoing {
        data: data.into(),
        // {"name": b"file.txt"}
        metadata: (name == "with_metadata").then(|| b"\x81\xa4name\xc4\x08file.txt".to_vec()),
        kind: match name {
            "request_flag" => Kind::Request(request),
            "response_flag" => Kind::Response(request),
            _ => Kind::Plain,
        },
        compress: name == "small_compressed",
    }
}

/// The recorded data that were too long to record: the hashes of numbers in a row.
fn long_data() -> Vec<u8> {
    (0..2_200_u32).flat_map(|i| proto_rns::crypto::sha256(&[&i.to_be_bytes()])).collect()
}
