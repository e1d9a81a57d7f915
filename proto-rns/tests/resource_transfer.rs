//! Resources between two sides.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod resource_support;

use bytes::Bytes;
use proptest::prelude::*;
use proto_rns::{
    RequestId,
    resource::{
        Deliver, Event, FailReason, Kind, MAX_SEGMENT, Outgoing, ProofDelay, Refusal, ResourceConfig,
        Strategy, Window,
    },
    wire::{Context, ResourceAdvertisement, ResourceFlags, ResourceRequest},
};
use resource_support::{Pair, Path, accepting, noise, plain};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn data_of_any_size_arrive_on_links_of_any_mtu() {
    for mtu in [500, 8_192, 131_072] {
        for size in [1, 379, 380, 10_000, MAX_SEGMENT - 1, MAX_SEGMENT, MAX_SEGMENT + 1, 5 << 20] {
            let mut pair = Pair::open(mtu, Path::FAST);
            let data = noise(size);
            let id = pair.send(0, plain(&data));
            pair.run(MINUTE);
            assert_eq!(pair.received(1), Some((&data, None)), "{size} at {mtu}");
            assert_eq!(pair.sides[0].events.last(), Some(&Event::Sent { id, kind: Kind::Plain }));
            assert!(pair.sides.iter().all(|side| side.resources.is_idle()), "{size} at {mtu}");
            assert_eq!(pair.sides[1].resources.stats().stray_parts, 0, "{size} at {mtu}");
        }
    }
}

#[test]
fn metadata_and_compression_survive_several_segments() {
    let text = Bytes::from(b"all work and no play makes a dull boy ".repeat(60_000));
    let mut pair = Pair::open(8_192, Path::FAST);
    let metadata = Some(b"\x81\xa4name\xa5a.txt".to_vec());
    pair.send(
        0,
        Outgoing {
            data: text.clone().into(),
            metadata: metadata.clone(),
            compress: true,
            ..Outgoing::default()
        },
    );
    pair.run(MINUTE);
    let (data, received) = pair.received(1).unwrap();
    assert_eq!((data, received.map(|metadata| metadata.to_vec())), (&text, metadata));
    let parts = pair.log.iter().filter(|(_, _, sent)| sent.context() == Context::Resource).count();
    assert!(parts < 10, "{parts} parts are not compressed");
}

#[test]
fn requests_and_responses_keep_their_request() {
    let request = RequestId::new([9; 16]);
    let mut pair = Pair::new(500, Path::FAST, [ResourceConfig::default(), ResourceConfig::default()]);
    pair.sides[0].resources.expect_response(request, 5_000);
    pair.send(0, Outgoing { kind: Kind::Request(request), ..plain(&noise(3_000)) });
    pair.send(1, Outgoing { kind: Kind::Response(request), ..plain(&noise(5_000)) });
    pair.run(MINUTE);
    let kind = |side: usize| {
        pair.sides[side].events.iter().find_map(|event| match event {
            Event::Received { kind, .. } => Some(*kind),
            _ => None,
        })
    };
    assert_eq!((kind(1), kind(0)), (Some(Kind::Request(request)), Some(Kind::Response(request))));
    pair.sides[0].resources.forget_response(request);
    pair.send(1, Outgoing { kind: Kind::Response(request), ..plain(&noise(5_001)) });
    pair.run(MINUTE);
    assert_eq!(pair.sides[0].resources.stats().refused(Refusal::Unrequested), 1);
}

#[test]
fn both_directions_and_a_queue_share_a_link() {
    let mut pair = Pair::open(500, Path::FAST);
    for size in [40_000, 3, 90_000] {
        pair.send(0, plain(&noise(size)));
        pair.send(1, plain(&noise(size + 1)));
    }
    pair.run(MINUTE);
    for (side, extra) in [(1, 0), (0, 1)] {
        let received = pair.sides[side].events.iter().filter_map(|event| match event {
            Event::Received { data, .. } => Some(data.len()),
            _ => None,
        });
        assert_eq!(received.collect::<Vec<_>>(), [40_000 + extra, 3 + extra, 90_000 + extra]);
    }
    // Nothing is waited for: the next offer leaves in the step in which the proof came.
    let waits = pair.log.iter().filter(|(_, side, sent)| {
        *side == 0 && matches!(sent.context(), Context::ResourceAdvertisement | Context::ResourceProof)
    });
    assert!(waits.map(|(at, ..)| *at).max().unwrap() < proto_core::Instant::from_millis(500));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn loss_reordering_and_duplicates_cost_time_but_not_data(
        size in 1..70_000_usize,
        loss in 0..25_u64,
        duplicates in 0..30_u64,
        jitter in 0..40_u64,
        seed: u64,
    ) {
        let path = Path {
            latency: Duration::from_millis(10),
            jitter: Duration::from_millis(jitter),
            rate: 100_000,
            loss,
            duplicates,
        };
        let mut pair = Pair::open(500, path).seed(seed);
        let data = noise(size);
        let id = pair.send(0, plain(&data));
        pair.run(60 * MINUTE);
        let is_over = |event: &Event| matches!(event, Event::Sent { .. } | Event::Failed { .. });
        prop_assert!(pair.has(0, is_over));
        let is_failed = |event: &Event| matches!(event, Event::Failed { .. });
        // A peer that loses five offers, or a run of requests, in a row may give up; it must not deliver wrong data.
        match pair.received(1) {
            Some(received) => prop_assert_eq!(received, (&data, None)),
            None => prop_assert!(pair.has(0, is_failed), "neither received nor failed"),
        }
        if loss < 10 {
            let sent = Event::Sent { id, kind: Kind::Plain };
            prop_assert!(pair.has(0, |event| *event == sent), "given up");
        }
        prop_assert!(pair.sides.iter().all(|side| side.resources.is_idle()));
    }

    #[test]
    fn hostile_messages_of_any_kind_do_no_harm(bytes: Vec<u8>, context in 1..9_u8, seed: u64) {
        let mut pair = Pair::open(500, Path::FAST).seed(seed);
        let data = noise(30_000);
        pair.send(0, plain(&data));
        for _ in 0..3 {
            for side in 0..2 {
                pair.with(side, |resources, env, key, wire| match Context::from(context) {
                    Context::ResourceAdvertisement => resources.handle_advertisement(env, &bytes, wire),
                    Context::ResourceRequest => resources.handle_request(env, key, &bytes, wire),
                    Context::ResourceHashmapUpdate => resources.handle_hashmap_update(env, &bytes, wire),
                    Context::ResourceProof => resources.handle_proof(env, key, &bytes, wire),
                    Context::ResourceInitiatorCancel => resources.handle_sender_cancel(&bytes),
                    Context::ResourceReceiverCancel => resources.handle_receiver_cancel(env, key, &bytes, wire),
                    Context::CacheRequest => _ = resources.handle_cache_request(&bytes, wire),
                    _ => resources.handle_part(env, key, &bytes, wire),
                });
            }
            pair.run(Duration::from_micros(900));
        }
        pair.run(MINUTE);
        prop_assert_eq!(pair.received(1), Some((&data, None)));
    }
}

#[test]
fn the_window_opens_on_a_fast_link_and_stays_small_on_a_slow_one() {
    let largest = |rate| {
        let mut pair = Pair::open(500, Path { rate, ..Path::FAST });
        pair.send(0, plain(&noise(3 * MAX_SEGMENT)));
        pair.run(60 * 60 * MINUTE);
        assert!(pair.received(1).is_some());
        let windows = pair.windows();
        assert_eq!(windows.first(), Some(&Window::START));
        windows.into_iter().max().unwrap()
    };
    // The hash map comes in stretches, each one shorter than the widest window.
    assert_eq!(largest(1_000_000), ResourceAdvertisement::MAX_HASHES);
    assert_eq!(largest(1_000), Window::MAX_SLOW);
    assert_eq!(largest(200), Window::MAX_VERY_SLOW + 2, "it grows until two rounds were very slow");
}

#[test]
fn either_side_gives_a_transfer_up_and_the_other_hears_of_it() {
    for canceller in [0, 1] {
        let mut pair = Pair::open(500, Path::FAST);
        let sent = pair.send(0, plain(&noise(500_000)));
        let second = pair.send(0, plain(&noise(50)));
        pair.run_until(|pair| pair.has(1, |event| matches!(event, Event::Progress { .. })));
        let started = pair.sides[1].events.iter().find_map(|event| match event {
            Event::Started { id } => Some(*id),
            _ => None,
        });
        let id = if canceller == 0 { sent } else { started.unwrap() };
        pair.with(canceller, |resources, env, key, wire| resources.cancel(env, key, id, wire)).unwrap();
        pair.run(MINUTE);
        let reason = |side: usize| {
            pair.sides[side].events.iter().find_map(|event| match event {
                Event::Failed { reason, .. } => Some(*reason),
                _ => None,
            })
        };
        assert_eq!(reason(canceller), Some(FailReason::Cancelled));
        assert_eq!(reason(1 - canceller), Some(FailReason::CancelledByPeer));
        assert!(
            pair.has(0, |event| *event == Event::Sent { id: second, kind: Kind::Plain }),
            "the next one goes on"
        );
        let again = pair.with(canceller, |resources, env, key, wire| resources.cancel(env, key, id, wire));
        assert!(again.is_err());
    }
}

#[test]
fn an_offer_waits_for_its_answer() {
    for accept in [true, false] {
        let mut pair = Pair::new(500, Path::FAST, [accepting(), ResourceConfig::default()]);
        let data = noise(2 * MAX_SEGMENT + 5);
        let sent = pair.send(0, Outgoing { metadata: Some(b"\xc0".to_vec()), ..plain(&data) });
        pair.run(Duration::from_millis(500));
        let Some(Event::Offered(offer)) = pair.sides[1].events.pop() else { panic!("not offered") };
        assert_eq!((offer.total_size, offer.segments), (data.len() as u64 + 4, 3));
        assert!(offer.has_metadata && offer.kind == Kind::Plain);
        pair.with(1, |resources, env, _, wire| {
            if accept { resources.accept(env, offer.id, wire) } else { resources.reject(offer.id, wire) }
        })
        .unwrap();
        assert!(pair.with(1, |resources, env, _, wire| resources.accept(env, offer.id, wire)).is_err());
        pair.run(MINUTE);
        assert_eq!(pair.received(1).is_some(), accept);
        let failed = Event::Failed { id: sent, kind: Kind::Plain, reason: FailReason::Rejected };
        assert_eq!(pair.has(0, |event| *event == failed), !accept);
    }
}

#[test]
fn an_offer_that_nobody_answers_ends_on_both_sides() {
    let mut pair = Pair::new(500, Path::FAST, [accepting(), ResourceConfig::default()]);
    pair.send(0, plain(&noise(5)));
    pair.run(10 * MINUTE);
    let failed =
        |side, why| pair.has(side, |event| matches!(event, Event::Failed { reason, .. } if *reason == why));
    assert!(failed(0, FailReason::Unanswered) && failed(1, FailReason::CancelledByPeer));
    assert!(pair.sides.iter().all(|side| side.resources.is_idle()));
}

#[test]
fn a_lost_first_request_is_repeated_after_about_two_round_trips() {
    let mut pair = Pair::open(500, Path::FAST);
    pair.drops = |log, sent| {
        let requests = log.iter().filter(|(_, _, sent)| sent.context() == Context::ResourceRequest);
        sent.context() == Context::ResourceRequest && requests.count() == 1
    };
    pair.send(0, plain(&noise(1_000)));
    pair.run(MINUTE);
    assert!(pair.received(1).is_some());
    assert!(pair.now < proto_core::Instant::from_millis(10), "{:?}", pair.now);
}

#[test]
fn a_lost_proof_is_asked_for_soon() {
    let mut pair = Pair::open(500, Path::FAST);
    pair.drops = |log, sent| {
        let proofs = log.iter().filter(|(_, _, sent)| sent.context() == Context::ResourceProof);
        sent.context() == Context::ResourceProof && proofs.count() == 1
    };
    let id = pair.send(0, plain(&noise(1_000)));
    pair.run(MINUTE);
    assert!(pair.has(0, |event| *event == Event::Sent { id, kind: Kind::Plain }));
    assert!(pair.now < proto_core::Instant::from_millis(1_100), "{:?}", pair.now);
    assert_eq!(pair.sides[1].resources.stats().repeated_proofs, 1);
}

#[test]
fn segments_are_delivered_one_by_one_and_wait_for_a_slow_application() {
    let config = ResourceConfig {
        deliver: Deliver::Segments,
        max_incoming_size: u64::MAX,
        max_incoming_bytes: 4 << 20,
        max_request_size: 0,
        ..accepting()
    };
    let mut pair = Pair::new(131_072, Path::FAST, [accepting(), config]);
    pair.sides[1].takes_events = false;
    let data = noise(9 * MAX_SEGMENT - 100);
    pair.send(0, Outgoing { metadata: Some(b"\xc0".to_vec()), ..plain(&data) });
    pair.run(Duration::from_millis(1_500));
    let mut segments = Vec::new();
    while let Some(event) = pair.sides[1].resources.poll_event() {
        segments.push(event);
    }
    let held: usize = segments.iter().filter(|event| matches!(event, Event::SegmentReceived { .. })).count();
    assert!((2..=4).contains(&held), "{held} segments do not fit into the memory");
    assert!(pair.sides[1].resources.stats().refused(Refusal::NoMemory) > 0);
    pair.sides[1].takes_events = true;
    pair.run(MINUTE);
    segments.append(&mut pair.sides[1].events);
    let mut joined = Vec::new();
    for (place, event) in
        (1..).zip(segments.iter().filter(|event| matches!(event, Event::SegmentReceived { .. })))
    {
        let Event::SegmentReceived { segment, segments, data, metadata, .. } = event else { continue };
        assert_eq!((*segment, *segments, metadata.is_some()), (place, 9, place == 1));
        joined.extend_from_slice(data);
    }
    assert!(joined == data, "{} bytes of {}", joined.len(), data.len());
}

#[test]
fn a_request_that_lost_count_of_the_hash_map_ends_the_transfer() {
    let mut pair = Pair::open(500, Path::FAST);
    pair.send(0, plain(&noise(90_000)));
    let advertisement = pair.log[0].2.data().to_vec();
    let advertisement = ResourceAdvertisement::parse(&advertisement).unwrap();
    let last_known = advertisement.hashmap.iter().nth(72);
    let request = ResourceRequest { last_known, hash: advertisement.hash, wanted: Default::default() };
    pair.with(0, |resources, env, key, wire| resources.handle_request(env, key, &request.to_vec(), wire));
    let failed = |event: &Event| matches!(event, Event::Failed { reason: FailReason::OutOfSequence, .. });
    assert!(pair.has(0, failed));
    assert_eq!(pair.log.last().unwrap().2.context(), Context::ResourceInitiatorCancel);
}

#[test]
fn proofs_wait_only_for_a_peer_that_is_slow_to_offer_the_next_segment() {
    let config = |proof_delay| ResourceConfig { proof_delay, ..accepting() };
    let time = |proof_delay| {
        let mut pair = Pair::new(131_072, Path::FAST, [accepting(), config(proof_delay)]);
        pair.send(0, plain(&noise(4 * MAX_SEGMENT)));
        pair.run(MINUTE);
        assert!(pair.received(1).is_some());
        pair.now.as_millis()
    };
    let adaptive = time(ProofDelay::Adaptive(Duration::from_millis(32)));
    assert_eq!(time(ProofDelay::Off), adaptive);
    // Three of the four proofs wait.
    assert!(time(ProofDelay::Always(Duration::from_millis(5))) >= adaptive + 14);
}

#[test]
fn a_near_peer_that_takes_its_time_has_a_moment_between_two_resources_and_others_need_none() {
    let pauses = |path, resource_gap| {
        let config = ResourceConfig { resource_gap, ..accepting() };
        let mut pair = Pair::new(500, path, [config.clone(), config]);
        (0..3).for_each(|_| _ = pair.send(0, plain(&noise(1_000))));
        pair.run(MINUTE);
        assert_eq!(
            pair.sides[0].events.iter().filter(|event| matches!(event, Event::Sent { .. })).count(),
            3
        );
        let at = |from, context| {
            let log =
                pair.log.iter().filter(move |(_, side, sent)| *side == from && sent.context() == context);
            log.map(|(at, ..)| *at).collect::<Vec<_>>()
        };
        let offers = at(0, Context::ResourceAdvertisement).split_off(1);
        let proofs = at(1, Context::ResourceProof);
        offers.iter().zip(&proofs).map(|(offer, proof)| offer.saturating_since(*proof)).max().unwrap()
    };
    let gap = Duration::from_millis(20);
    let near = Path { latency: Duration::from_micros(400), ..Path::FAST };
    assert_eq!(pauses(near, gap), pauses(near, Duration::ZERO) + gap);
    assert_eq!(pauses(Path::FAST, gap), pauses(Path::FAST, Duration::ZERO));
    let distant = Path { latency: Duration::from_millis(150), ..Path::FAST };
    assert_eq!(pauses(distant, gap), pauses(distant, Duration::ZERO));
}

#[test]
fn what_the_limits_do_not_allow_is_refused_and_counted() {
    let refused = |config: ResourceConfig, size: usize, reason: Refusal| {
        let mut pair = Pair::new(500, Path::FAST, [accepting(), config]);
        pair.send(0, plain(&noise(size)));
        pair.run(MINUTE);
        assert_eq!(pair.sides[1].resources.stats().refused(reason), 1, "{reason:?}");
        assert!(pair.has(0, |event| matches!(event, Event::Failed { reason: FailReason::Rejected, .. })));
    };
    refused(ResourceConfig { strategy: Strategy::None, ..accepting() }, 10, Refusal::Unwanted);
    refused(ResourceConfig { max_incoming_size: 999, ..accepting() }, 1_000, Refusal::TooLarge);
    let tight = ResourceConfig {
        max_incoming_bytes: 4 << 20,
        max_incoming_size: 4 << 20,
        max_request_size: 0,
        ..accepting()
    };
    refused(tight, 4 << 20, Refusal::NoMemory);
}

#[test]
fn no_more_resources_than_allowed_are_under_way() {
    let mut pair = Pair::open(500, Path::FAST);
    for number in 0..6_u8 {
        let hash = proto_rns::ResourceHash::new([number; 32]);
        let advertisement = ResourceAdvertisement {
            transfer_size: 64,
            data_size: 10,
            parts: 1,
            hash,
            salt: proto_rns::wire::ResourceSalt::new([0; 4]),
            first_hash: hash,
            segment: 1,
            segments: 1,
            request: None,
            flags: ResourceFlags { encrypted: true, ..ResourceFlags::default() },
            hashmap: proto_rns::wire::MapHashes::parse(&[1, 2, 3, 4]).unwrap(),
        };
        let plaintext = advertisement.to_vec();
        pair.with(1, |resources, env, _, wire| resources.handle_advertisement(env, &plaintext, wire));
    }
    assert_eq!(pair.sides[1].resources.stats().refused(Refusal::TooMany), 2);
}
