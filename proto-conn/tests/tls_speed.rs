//! How fast TLS is in memory: `cargo test --release -p proto-conn --test tls_speed -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_precision_loss, reason = "test code")]
#![cfg(all(feature = "tls", any(feature = "ring", feature = "aws-lc-rs")))]

mod tls_support;

use proto_conn::{
    Payload,
    tls::{Ciphers, TlsConfig},
};
use std::time::{Duration, Instant};
use tls_support::*;

fn open(ciphers: Ciphers) -> (Side, Side) {
    let (client, server) = configs();
    let (mut client, mut server) = pair(TlsConfig { ciphers, ..client }, server);
    exchange(&mut client, &mut server);
    (client, server)
}

/// Carries what waits from one side to the other, in writes of at most `limit` bytes, and returns how much arrived.
fn carry(from: &mut Side, to: &mut Side, limit: usize, buf: &mut Vec<u8>) -> usize {
    let mut arrived = 0;
    while !from.outgoing.is_empty() {
        buf.clear();
        from.layer.encrypt(&mut from.outgoing, limit, buf).unwrap();
        let mut rest = buf.as_slice();
        while !rest.is_empty() {
            let spare = to.layer.spare();
            let (now, later) = rest.split_at(spare.len().min(rest.len()));
            spare[..now.len()].copy_from_slice(now);
            rest = later;
            let take = &mut |plain: &[u8]| {
                arrived += plain.len();
                plain.len()
            };
            to.layer.advance(now.len(), take).unwrap();
        }
    }
    arrived
}

/// Many and short, so that some fall between other programs' work.
const SAMPLES: u32 = 60;

/// The shortest of several times, each of `rounds` rounds, for one round.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn best(rounds: u32, mut round: impl FnMut()) -> Duration {
    let times = (0..SAMPLES).map(|_| {
        let start = Instant::now();
        (0..rounds).for_each(|_| round());
        start.elapsed() / rounds
    });
    times.min().unwrap()
}

#[test]
#[ignore = "measures speed"]
fn throughput_and_round_trips() {
    for ciphers in [Ciphers::Fast, Ciphers::Long] {
        let (mut client, mut server) = open(ciphers);
        println!("{}", client.layer.info().unwrap().cipher);
        let mut buf = Vec::new();
        let body = Payload::from(vec![7; 1 << 20]);
        for len in [16 << 10, 128 << 10, 1 << 20] {
            for limit in [16_500, 33_000, 49_300, 60_000, 70_000, 140_000] {
                let rounds = u32::try_from((4 << 20) / len).unwrap();
                let time = best(rounds, || {
                    client.say(&[1; 100]);
                    client.outgoing.push(body.slice(0..len));
                    assert_eq!(carry(&mut client, &mut server, limit, &mut buf), 100 + len);
                });
                let speed = len as f64 / time.as_secs_f64() / 1e6;
                println!(
                    "  {len:>8} B, writes of {limit:>6} B: {:>9.1} µs {speed:>7.0} MB/s",
                    time.as_secs_f64() * 1e6
                );
            }
        }
        let time = best(1_000, || {
            client.say(&[1; 64]);
            carry(&mut client, &mut server, 60_000, &mut buf);
            server.say(&[1; 64]);
            carry(&mut server, &mut client, 60_000, &mut buf);
        });
        println!("  64 B there and back: {} ns", time.as_nanos());
    }
}
