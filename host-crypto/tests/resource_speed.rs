//! How fast segments are prepared and assembled here, and short messages sealed, with each provider:
//! `cargo test --release -p host-crypto --test resource_speed -- --ignored --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    Env, LinkHash,
    compression::NoCompression,
    crypto::{CryptoProvider, Dalek, TokenKey, sha256},
    resource::{
        Carrier, MAX_SEGMENT, Outgoing, PrepareJob, ResourceConfig, Resources, SegmentContent, Strategy,
    },
    wire::{Context, PacketType},
};
use std::time::Duration;

#[test]
#[ignore = "a measurement"]
fn segments() {
    let (key, data) = (TokenKey::new(&[5; 64]), noise(MAX_SEGMENT));
    for crypto in [&Dalek as &dyn CryptoProvider, &*host_crypto::provider()] {
        println!("{crypto:?}");
        for mtu in [500, 8_192, 131_072] {
            let content = SegmentContent::from_data(data.clone());
            let job = PrepareJob { content, compress: false, part_size: mtu - 36 };
            let mut entropy = Rng::from_u64(1);
            let prepare = best(|| {
                std::hint::black_box(job.run(crypto, &NoCompression, &key, &mut entropy));
            });
            let runs = (0..ROUNDS).map(|_| transfer(crypto, &key, &data, mtu));
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
}

#[test]
#[ignore = "a measurement"]
fn messages() {
    let (key, data) = (TokenKey::new(&[5; 64]), noise(431));
    for crypto in [&Dalek as &dyn CryptoProvider, &*host_crypto::provider()] {
        println!("{crypto:?}");
        for len in [16, 64, 250, 431] {
            let (mut out, plaintext) = (Vec::new(), &data[..len]);
            let seal = best(|| {
                for _ in 0..1_000 {
                    out.clear();
                    crypto.seal(&key, [7; 16], &[plaintext], &mut out);
                }
            });
            let mut token = Vec::new();
            let open = best(|| {
                for _ in 0..1_000 {
                    token.clone_from(&out);
                    std::hint::black_box(key.open(&mut token).unwrap());
                }
            });
            let hash = best(|| {
                for _ in 0..1_000 {
                    std::hint::black_box(sha256(&[&out]));
                }
            });
            let [seal, open, hash] = [seal, open, hash].map(|time| time.as_secs_f64() * 1e6);
            println!("{len} bytes: seal {seal:.0} ns, open {open:.0} ns, hash of the token {hash:.0} ns");
        }
    }
}

/// Sends one segment; returns the time of it all and of the receiver's steps.
fn transfer(
    crypto: &dyn CryptoProvider,
    key: &TokenKey,
    data: &bytes::Bytes,
    mtu: usize,
) -> (Duration, Duration) {
    let config = ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() };
    let new = || Resources::new(config.clone(), LinkHash::new([7; 16]), mtu).unwrap();
    let (mut sender, mut receiver) = (new(), new());
    let (mut out, mut back) = (Queue::default(), Queue::default());
    let (mut a, mut b) = (Rng::from_u64(1), Rng::from_u64(2));
    let mut receiving = Duration::ZERO;
    let outgoing = Outgoing { data: data.clone().into(), ..Outgoing::default() };
    let start = clock();
    sender.send(&mut env(crypto, &mut a), key, outgoing, &mut out).unwrap();
    while !(out.0.is_empty() && back.0.is_empty()) {
        let begin = clock();
        for (packet_type, context, bytes) in std::mem::take(&mut out.0) {
            match (packet_type, context) {
                (_, Context::ResourceAdvertisement) => {
                    receiver.handle_advertisement(&env(crypto, &mut b), &bytes, &mut back);
                }
                (_, Context::ResourceHashmapUpdate) => {
                    receiver.handle_hashmap_update(&env(crypto, &mut b), &bytes, &mut back);
                }
                _ => receiver.handle_part(&env(crypto, &mut b), key, &bytes, &mut back),
            }
        }
        receiving += begin.elapsed();
        for (packet_type, _, bytes) in std::mem::take(&mut back.0) {
            match packet_type {
                PacketType::Proof => sender.handle_proof(&mut env(crypto, &mut a), key, &bytes, &mut out),
                _ => sender.handle_request(&mut env(crypto, &mut a), key, &bytes, &mut out),
            }
        }
    }
    let whole = start.elapsed();
    assert!(sender.is_idle() && receiver.is_idle());
    (whole, receiving)
}

fn env<'a>(crypto: &'a dyn CryptoProvider, entropy: &'a mut Rng) -> Env<'a> {
    Env {
        now: Instant::from_millis(1),
        wall: UnixTime::new(Duration::ZERO),
        crypto,
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

/// Data that do not compress.
fn noise(len: usize) -> bytes::Bytes {
    let mut data = vec![0; len];
    Rng::from_u64(len as u64).fill(&mut data);
    data.into()
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
