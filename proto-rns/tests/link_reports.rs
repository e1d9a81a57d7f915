//! What users of other implementations reported about links, played through here.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod link_support;

use link_support::{Fate, Pair, Wire, destination, identity, with_env};
use proto_core::{Instant, Rng};
use proto_rns::{
    link::{DropReason, Event, Link, LinkConfig, LinkState, PacketSink, ProofStrategy, Refusal},
    resource,
    wire::{Context, DestinationType, LinkMode, LinkRequest, MessageType, Packet, PacketType, Signalling},
};
use std::time::Duration;

const DELAY: Duration = Duration::from_millis(20);
const SECOND: Duration = Duration::from_secs(1);

fn config() -> LinkConfig {
    LinkConfig { proofs: ProofStrategy::All, channel: true, ..LinkConfig::default() }
}

/// Report 3 (markqvist/Reticulum #387).
#[test]
fn packets_that_do_not_open_are_counted_and_the_link_lives() {
    let mut pair = Pair::established(DELAY, &config());
    let id = pair.responder.link.id();
    let contexts = (0..=u8::MAX).map(Context::from);
    for context in contexts.filter(|context| *context != Context::KeepAlive) {
        for len in [1, 15, 64, 65, 431] {
            let data = vec![7; len];
            for packet_type in [PacketType::Data, PacketType::Proof] {
                let packet = Packet::new(packet_type, DestinationType::Link, id.into(), context, &data);
                pair.responder(|link, env, wire| link.handle_packet(env, &packet, wire));
            }
        }
    }
    assert!(pair.responder.link.stats().dropped(DropReason::Undecryptable) > 1_000);
    pair.initiator(|link, env, wire| link.send(env, b"still here", wire)).unwrap();
    pair.run(SECOND);
    assert!(matches!(pair.initiator.events[..], [Event::Delivered { .. }]));
    assert_eq!(pair.responder.link.state(), LinkState::Active);
}

/// Report 10 (markqvist/Reticulum PR #252).
#[test]
fn a_channel_message_whose_proof_was_lost_is_proved_again_and_delivered_once() {
    let mut pair = Pair::established(DELAY, &config());
    pair.initiator(|link, env, wire| link.channel_send(env, MessageType(1), b"once", wire)).unwrap();
    let mut proofs = 0;
    pair.run_with(SECOND * 5, |to_responder, frame| {
        let is_proof = !to_responder && frame[0] & 3 == PacketType::Proof as u8;
        proofs += usize::from(is_proof);
        if is_proof && proofs <= 3 { Fate::Lost } else { Fate::Arrives }
    });
    assert_eq!(proofs, 4);
    let message = Event::Message { message_type: MessageType(1), data: "once".into() };
    assert_eq!(pair.responder.events, [message]);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
}

/// Report 13 (Beechat Reticulum-rs #29, PR #27).
#[test]
fn keepalives_that_are_all_alike_keep_the_link_alive() {
    let mut pair = Pair::established(DELAY, &config());
    let mut keepalives = Vec::new();
    pair.run_with(SECOND * 600, |_, frame| {
        keepalives.push(frame.to_vec());
        Fate::Twice
    });
    keepalives.sort();
    keepalives.dedup();
    assert_eq!(keepalives.len(), 2);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
    assert_eq!((&pair.initiator.events[..], &pair.responder.events[..]), (&[][..], &[][..]));
}

/// Report 15 (Beechat Reticulum-rs #92).
#[test]
fn both_ends_use_the_larger_packets_that_they_agreed_on() {
    let mut pair = Pair::handshaking(DELAY, &config(), Some(16_384));
    pair.run(SECOND);
    assert_eq!((pair.initiator.link.mtu(), pair.responder.link.mtu()), (16_384, 16_384));
    pair.initiator(|link, env, wire| link.send(env, &[7; 16_303], wire)).unwrap();
    pair.run(SECOND);
    assert!(
        pair.responder
            .events
            .iter()
            .any(|event| matches!(event, Event::Data { data, .. } if data.len() == 16_303))
    );
}

/// Report 15, the other way round: the interface of the responder carries less than the initiator's.
#[test]
fn the_smaller_of_both_interfaces_decides() {
    let (mut rng, mut wire, owner) = (Rng::from_u64(1), Wire::default(), identity(0x11, 0x22));
    let mut initiator = with_env(Instant::ZERO, &mut rng, |env| {
        Link::initiate(env, destination(), *owner.public(), 1, Some(262_144), SECOND, &config(), &mut wire)
            .unwrap()
    });
    let request = wire.one();
    for (interface, mtu) in [(None, 500), (Some(1_064), 1_064), (Some(524_288), 262_144)] {
        let responder = with_env(Instant::ZERO, &mut rng, |env| {
            Link::accept(env, &Packet::parse(&request).unwrap(), &owner, interface, &config(), &mut wire)
                .unwrap()
        });
        assert_eq!(responder.mtu(), mtu);
    }
    let proof = wire.frames.remove(1);
    with_env(Instant::ZERO, &mut rng, |env| {
        initiator.handle_packet(env, &Packet::parse(&proof).unwrap(), &mut wire);
    });
    assert_eq!(initiator.mtu(), 1_064);
}

/// Report 16 (Beechat Reticulum-rs PR #96), as far as it concerns a link.
#[test]
fn a_full_interface_holds_resource_parts_back_and_nothing_else() {
    let accept_all =
        resource::ResourceConfig { strategy: resource::Strategy::All, ..resource::ResourceConfig::default() };
    let mut pair = Pair::established(DELAY, &LinkConfig { resources: accept_all, ..config() });
    let data = bytes::Bytes::from(vec![7; 2_000]);
    pair.initiator(|link, env, wire| link.send_resource(env, data.clone(), None, false, wire)).unwrap();
    let advertisement = pair.initiator.wire.one();
    pair.responder(|link, env, wire| link.handle_packet(env, &Packet::parse(&advertisement).unwrap(), wire));
    let request = pair.responder.wire.one();
    pair.initiator(|link, env, wire| {
        wire.room = 0;
        link.handle_packet(env, &Packet::parse(&request).unwrap(), wire);
        assert_eq!(wire.frames.len(), 0);
        link.send(env, b"data are not held back", wire).unwrap();
        assert_eq!(wire.frames.len(), 1);
        wire.room = 1 << 20;
        link.flush(env, wire);
        assert!(wire.frames.len() >= 5 && wire.room() < 1 << 20);
    });
    pair.run(SECOND * 5);
    let received = |event: &Event| matches!(event, Event::Resource(resource::Event::Received { data: got, .. }) if got == &data);
    assert!(pair.responder.events.iter().any(received));
}

/// Report 20 (FreeTAKTeam/LXMF-rs #232), as far as it concerns a link: the proof comes after a first one that is not.
#[test]
fn a_forged_proof_does_not_use_the_request_up() {
    let mut pair = Pair::handshaking(DELAY, &config(), None);
    pair.run_with(Duration::ZERO, |_, _| Fate::Arrives);
    let id = pair.initiator.link.id();
    for len in [0, 95, 96, 99, 100] {
        let data = vec![1; len];
        let packet = Packet::new(
            PacketType::Proof,
            DestinationType::Link,
            id.into(),
            Context::LinkRequestProof,
            &data,
        );
        pair.initiator(|link, env, wire| link.handle_packet(env, &packet, wire));
    }
    assert_eq!(pair.initiator.link.state(), LinkState::Pending);
    let stats = *pair.initiator.link.stats();
    assert_eq!(stats.dropped(DropReason::Malformed), 3);
    assert_eq!(stats.dropped(DropReason::Signature) + stats.dropped(DropReason::Terms), 2);
    pair.run(SECOND);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
}

/// Report 25 (lelloman/rns-rs #106).
#[test]
fn a_proof_over_another_number_of_hops_corrects_the_path() {
    let mut pair = Pair::handshaking(DELAY, &config(), None);
    pair.hops = 3;
    pair.run(SECOND);
    assert_eq!(pair.initiator.link.state(), LinkState::Active);
    assert_eq!(pair.initiator.events[0], Event::HopsChanged { hops: 3 });
    assert!(matches!(pair.initiator.events[1], Event::Established { .. }));
}

/// Report 26 (torlando-tech/reticulum-kt PR #39).
#[test]
fn link_packets_never_carry_a_transport_id() {
    let mut pair = Pair::handshaking(DELAY, &config(), None);
    pair.run_with(SECOND, |_, frame| {
        let packet = Packet::parse(frame).unwrap();
        assert_eq!((packet.transport_id, packet.destination_type), (None, DestinationType::Link));
        Fate::Arrives
    });
}

/// Theme (c): what a lost packet of the handshake costs.
#[test]
fn a_lost_round_trip_time_does_not_leave_the_responder_waiting() {
    let mut pair = Pair::handshaking(DELAY, &config(), None);
    let mut lost = false;
    pair.run_with(SECOND, |to_responder, _| {
        let first = to_responder && !core::mem::replace(&mut lost, true);
        if first { Fate::Lost } else { Fate::Arrives }
    });
    assert_eq!(pair.responder.link.state(), LinkState::Handshake);
    pair.initiator(|link, env, wire| link.send(env, b"hello", wire)).unwrap();
    pair.run(SECOND);
    assert_eq!(pair.responder.link.state(), LinkState::Active);
    assert!(pair.initiator.events.iter().any(|event| matches!(event, Event::Delivered { .. })));
}

/// Theme (h): an initiator of another age.
#[test]
fn requests_of_other_ages_are_answered_in_kind_or_refused_with_a_reason() {
    let (mut rng, owner) = (Rng::from_u64(1), identity(0x11, 0x22));
    let mut accept = |signalling, key: [u8; 32]| {
        let request = LinkRequest { agreement_key: key, verifying_key: [2; 32], signalling };
        let (mut data, mut wire) = (Vec::new(), Wire::default());
        request.emit(&mut data);
        let packet = Packet::new(
            PacketType::LinkRequest,
            DestinationType::Single,
            destination(),
            Context::None,
            &data,
        );
        let accepted = with_env(Instant::ZERO, &mut rng, |env| {
            Link::accept(env, &packet, &owner, Some(8_192), &config(), &mut wire).map(|link| link.mtu())
        });
        (accepted, wire.frames.first().map(Vec::len))
    };
    let mode = |mode| Some(Signalling { mode, mtu: 8_192 });
    assert_eq!(accept(None, [9; 32]), (Ok(500), Some(19 + 96)));
    assert_eq!(accept(mode(LinkMode::Aes256Cbc), [9; 32]), (Ok(8_192), Some(19 + 99)));
    assert_eq!(accept(mode(LinkMode::Aes128Cbc), [9; 32]), (Err(Refusal::Mode), None));
    assert_eq!(accept(mode(LinkMode::Reserved(5)), [9; 32]), (Err(Refusal::Mode), None));
    assert_eq!(accept(None, [0; 32]), (Err(Refusal::Key), None));
}

/// Spec 3.1: what a peer can make a link store.
#[test]
fn an_application_that_does_not_keep_up_costs_no_more_memory() {
    let mut pair = Pair::established(DELAY, &LinkConfig { max_events: 16, ..config() });
    let mut frames = Vec::new();
    for n in 0..100 {
        pair.initiator(|link, env, wire| link.send(env, &[n; 100], wire)).unwrap();
        frames.append(&mut pair.initiator.wire.frames);
    }
    pair.responder(|link, env, wire| {
        for frame in &frames {
            link.handle_packet(env, &Packet::parse(frame).unwrap(), wire);
        }
        assert_eq!(core::iter::from_fn(|| link.poll_event()).count(), 16);
        assert_eq!(link.stats().dropped(DropReason::Backlog), 84);
        assert_eq!(wire.frames.len(), 16, "what was dropped was proved");
    });
}
