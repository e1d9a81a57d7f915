//! In a steady state, no message costs an allocation.

#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do, and an allocator that counts is an allocator"
)]

mod ws_support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use proto_conn::{
    Message, Talk as _,
    ws::{Event, Role, Session, handshake::Agreed},
};
use proto_core::Instant;
use ws_support::{config, session};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system's allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(place, layout, len) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Hands over all that waits, as a driver with a buffer of its own does.
fn carry(from: &mut Session, to: &mut Session, buf: &mut Vec<u8>, pieces: &mut Vec<bytes::Bytes>) {
    let now = Instant::ZERO;
    loop {
        buf.clear();
        pieces.clear();
        if from.outgoing().take(buf, pieces) == (0, 0) {
            break;
        }
        feed(to, buf);
        pieces.iter().for_each(|piece| feed(to, piece));
    }
    from.handle_sent(now);
}

fn feed(to: &mut Session, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let now = Instant::ZERO;
        let taken = match to.spare() {
            Some(place) => {
                let len = place.len().min(bytes.len());
                place[..len].copy_from_slice(&bytes[..len]);
                to.advance(now, len);
                len
            }
            None => to.handle_input(now, bytes),
        };
        bytes = &bytes[taken..];
    }
}

#[test]
fn echoes_cost_no_allocation_once_the_memory_is_there() {
    for (len, agreed) in [
        (64, Agreed::default()),
        (5_000, Agreed::default()),
        (128 << 10, Agreed::default()),
        (1 << 20, Agreed::default()),
        #[cfg(feature = "deflate")]
        (5_000, ws_support::agreed_deflate(15, false)),
    ] {
        let now = Instant::ZERO;
        let mut client = session(Role::Client, &config(), &agreed);
        let mut server = session(Role::Server, &config(), &agreed);
        let message = Message::binary(vec![7; len]);
        let (mut buf, mut pieces) = (Vec::new(), Vec::new());
        let mut round = || {
            client.send(now, &message).unwrap();
            carry(&mut client, &mut server, &mut buf, &mut pieces);
            let Some(Event::Message(received)) = server.poll_event() else { panic!() };
            server.send(now, &received).unwrap();
            drop(received);
            carry(&mut server, &mut client, &mut buf, &mut pieces);
            pieces.clear();
            let Some(Event::Message(echo)) = client.poll_event() else { panic!() };
            assert_eq!(echo.body.len(), len);
        };
        (0..20).for_each(|_| round());
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        (0..100).for_each(|_| round());
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        // A long payload that is sent without a copy costs a reference to it, which is one.
        let allowed = if len > proto_conn::Outgoing::COPIED { 100 } else { 0 };
        assert!(allocations <= allowed, "{allocations} allocations in 100 echoes of {len} bytes");
    }
}
