//! What resources may allocate, measured at the allocator.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod resource_support;

use proto_rns::{
    ResourceHash,
    resource::{Deliver, Event, MAX_SEGMENT, ResourceConfig},
    wire::{MapHashes, ResourceAdvertisement, ResourceFlags, ResourceSalt},
};
use resource_support::{Pair, Path, accepting, noise, plain};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

#[test]
fn a_stream_of_segments_takes_the_memory_of_a_few() {
    let _alone = alone();
    let config = ResourceConfig { deliver: Deliver::Segments, max_incoming_size: u64::MAX, ..accepting() };
    let mut pair = Pair::new(131_072, Path::FAST, [accepting(), config]);
    let data = noise(24 * MAX_SEGMENT);
    let mut seen = 0;
    let before = reset();
    pair.send(0, plain(&data));
    while seen < data.len() {
        pair.run(Duration::from_millis(1));
        pair.log.clear();
        for event in pair.sides[1].events.drain(..) {
            if let Event::SegmentReceived { data: segment, .. } = event {
                assert!(segment == data[seen..seen + segment.len()]);
                seen += segment.len();
            }
        }
    }
    // Two sealed segments, one that comes in, one that was handed out, and the parts in flight.
    let peak = peak() - before;
    assert!(peak < 6 * MAX_SEGMENT, "{peak} bytes");
}

#[test]
fn bombs_are_refused_before_anything_is_allocated() {
    let _alone = alone();
    let sizes = [0, 1, 16, 64, 1 << 20, 3 << 20, 1 << 32, u64::MAX];
    let counts = [0, 1, 2, 75, 1 << 20, u32::MAX];
    let mut pair = Pair::open(500, Path::FAST);
    let hashmap = [7; 4 * 74];
    let before = reset();
    let mut serial = 0_u32;
    for transfer_size in sizes {
        for data_size in sizes {
            for parts in counts {
                for segments in counts {
                    serial += 1;
                    let mut hash = [0; 32];
                    hash[..4].copy_from_slice(&serial.to_be_bytes());
                    let advertisement = ResourceAdvertisement {
                        transfer_size,
                        data_size,
                        parts,
                        hash: ResourceHash::new(hash),
                        salt: ResourceSalt::new([0; 4]),
                        first_hash: ResourceHash::new(hash),
                        segment: 1,
                        segments,
                        request: None,
                        flags: ResourceFlags {
                            encrypted: true,
                            compressed: true,
                            ..ResourceFlags::default()
                        },
                        hashmap: MapHashes::parse(&hashmap[..4 * (parts as usize).min(74)]).unwrap(),
                    };
                    let plaintext = advertisement.to_vec();
                    pair.with(1, |resources, env, _, wire| {
                        resources.handle_advertisement(env, &plaintext, wire);
                    });
                    pair.log.clear();
                    pair.sides[1].events.clear();
                }
            }
        }
    }
    // Up to four of them are possible and taken, each of at most a segment.
    let peak = peak() - before;
    assert!(peak < 5 * MAX_SEGMENT, "{peak} bytes");
}

/// Counts what is allocated, and how much that was at its most.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: every call is handed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Forgets the peak and returns what is allocated now.
fn reset() -> usize {
    let now = NOW.load(Ordering::Relaxed);
    MOST.store(now, Ordering::Relaxed);
    now
}

fn peak() -> usize {
    MOST.load(Ordering::Relaxed)
}

/// The counters are one for all tests.
fn alone() -> impl Drop {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
