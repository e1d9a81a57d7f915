//! How fast the passes are here: `cargo test --release -p fused-crypto --test speed -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use fused_crypto::{Alongside, Fused};
use std::{hint::black_box, time::Duration};
use support::{Keys, part_hashes, state_after};

#[test]
#[ignore = "a measurement"]
fn measure() {
    let Some(fused) = Fused::detect() else { return };
    let keys = Keys::new([1; 32], [2; 32]);
    let data = vec![0x5a; 1 << 20];
    let mut out = Vec::with_capacity(data.len() + 64);
    let mut show = |name: &str, step: &mut dyn FnMut(&mut Vec<u8>)| {
        let time = best(|| {
            out.clear();
            step(&mut out);
        });
        println!("{name}: {:.0} MB/s", data.len() as f64 / time.as_secs_f64() / 1e6);
    };
    show("SHA-256 in one lane", &mut |_| {
        black_box(state_after(&data));
    });
    let blocks = data.as_chunks().0;
    show("SHA-256 in two lanes, each", &mut |_| {
        let (mut a, mut b) = (state_after(&[]), state_after(&[]));
        black_box(fused.compress_two([&mut a, &mut b], [blocks, blocks]));
    });
    show("seal in two passes", &mut |_| {
        black_box(keys.seal([3; 16], &data));
    });
    show("seal", &mut |out| fused.seal(keys.seal_key(), [3; 16], &[&data], out));
    show("seal, content", &mut |out| {
        let alongside = Alongside { content: &[&data], part_size: usize::MAX, suffix: [1; 4] };
        black_box(fused.seal_alongside(keys.seal_key(), [3; 16], &[&data], &alongside, out));
    });
    for part_size in [464, 8_156, 131_036] {
        let alongside = Alongside { content: &[&data], part_size, suffix: [1; 4] };
        show(&format!("seal, content and parts of {part_size}"), &mut |out| {
            black_box(fused.seal_alongside(keys.seal_key(), [3; 16], &[&data], &alongside, out));
        });
        show(&format!("parts of {part_size} alone"), &mut |_| {
            black_box(part_hashes(&data, part_size, [1; 4]));
        });
    }
    for len in [16, 100, 250, 400] {
        let time = best(|| {
            for _ in 0..1_000 {
                out.clear();
                fused.seal(keys.seal_key(), [3; 16], &[&data[..len]], &mut out);
            }
        });
        println!("seal {len} bytes: {:.0} ns", time.as_secs_f64() * 1e6);
    }
}

fn best(mut step: impl FnMut()) -> Duration {
    let time = |step: &mut dyn FnMut()| {
        let start = clock();
        step();
        start.elapsed()
    };
    (0..40).map(|_| time(&mut step)).min().unwrap()
}

#[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}
