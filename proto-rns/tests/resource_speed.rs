//! How fast segments are prepared and assembled here: `cargo test --release --test resource_speed -- --ignored --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod resource_support;

use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    Env, LinkHash,
    compression::NoCompression,
    crypto::{Dalek, TokenKey},
    resource::{Carrier, MAX_SEGMENT, PrepareJob, Resources, SegmentContent},
    wire::{Context, PacketType},
};
use resource_support::{accepting, noise, plain};
use std::time::Duration;

#[test]
#[ignore = "a measurement"]
fn measure() {
    let key = TokenKey::new(&[5; 64]);
    let data = noise(MAX_SEGMENT);
    for mtu in [500, 8_192, 131_072] {
        let job = PrepareJob {
            content: SegmentContent::from_data(data.clone()),
            compress: false,
            part_size: mtu - 36,
        };
        let mut entropy = Rng::from_u64(1);
        let prepare = best(|| {
            std::hint::black_box(job.run(&Dalek, &NoCompression, &key, &mut entropy));
        });
        let runs = (0..ROUNDS).map(|_| transfer(&key, &data, mtu));
        let longest = (Duration::MAX, Duration::MAX);
        let (whole, receive) = runs.fold(longest, |best, run| (best.0.min(run.0), best.1.min(run.1)));
        let rate = |time: Duration| MAX_SEGMENT as f64 / time.as_secs_f64() / 1e6;
        println!(
            "MTU {mtu}: prepare {:.0} MB/s, receiver {:.0} MB/s, both sides in a row {:.0} MB/s",
            rate(prepare),
            rate(receive),
            rate(whole)
        );
    }
}

/// Sends one segment; returns the time of it all and of the receiver's steps.
fn transfer(key: &TokenKey, data: &bytes::Bytes, mtu: usize) -> (Duration, Duration) {
    let new = || Resources::new(accepting(), LinkHash::new([7; 16]), mtu).unwrap();
    let (mut sender, mut receiver) = (new(), new());
    let (mut out, mut back) = (Queue::default(), Queue::default());
    let (mut a, mut b) = (Rng::from_u64(1), Rng::from_u64(2));
    let mut receiving = Duration::ZERO;
    let start = clock();
    sender.send(&mut env(&mut a), key, plain(data), &mut out).unwrap();
    while !(out.0.is_empty() && back.0.is_empty()) {
        let begin = clock();
        for (packet_type, context, bytes) in std::mem::take(&mut out.0) {
            match (packet_type, context) {
                (_, Context::ResourceAdvertisement) => {
                    receiver.handle_advertisement(&env(&mut b), &bytes, &mut back);
                }
                (_, Context::ResourceHashmapUpdate) => {
                    receiver.handle_hashmap_update(&env(&mut b), &bytes, &mut back);
                }
                _ => receiver.handle_part(&env(&mut b), key, &bytes, &mut back),
            }
        }
        receiving += begin.elapsed();
        for (packet_type, _, bytes) in std::mem::take(&mut back.0) {
            match packet_type {
                PacketType::Proof => sender.handle_proof(&mut env(&mut a), key, &bytes, &mut out),
                _ => sender.handle_request(&mut env(&mut a), key, &bytes, &mut out),
            }
        }
    }
    let whole = start.elapsed();
    assert!(sender.is_idle() && receiver.is_idle());
    (whole, receiving)
}

fn env(entropy: &mut Rng) -> Env<'_> {
    Env {
        now: Instant::from_millis(1),
        wall: UnixTime::new(Duration::ZERO),
        crypto: &Dalek,
        compression: &NoCompression,
        entropy,
    }
}

#[derive(Default)]
struct Queue(Vec<(PacketType, Context, Vec<u8>)>);

impl Carrier for Queue {
    fn send(&mut self, context: Context, plaintext: &[u8]) {
        self.0.push((PacketType::Data, context, plaintext.to_vec()));
    }

    fn send_raw(&mut self, packet_type: PacketType, context: Context, data: &[u8]) {
        self.0.push((packet_type, context, data.to_vec()));
    }

    fn room(&self) -> usize {
        usize::MAX
    }
}

fn best(mut step: impl FnMut()) -> Duration {
    let time = |step: &mut dyn FnMut()| {
        let start = clock();
        step();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| time(&mut step)).min().unwrap()
}

#[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

const ROUNDS: usize = 30;
