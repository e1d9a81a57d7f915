//! In a steady state, an exchange allocates nothing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use proto_conn::{
    Message, Method, Talk as _,
    http::{BodyKind, ClientSession, Config, Event, SendOptions, ServerSession},
};
use proto_core::Instant;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn an_exchange_allocates_nothing_once_the_memory_is_there() {
    let now = Instant::from_millis(1);
    let mut client = ClientSession::new(Config::default()).unwrap();
    let mut server = ServerSession::new(Config::default()).unwrap();
    let request = Message::request(Method::Post, "/some/path?query", vec![1; 64]);
    let request = request.with_header("Accept", "*/*").unwrap();
    let response = Message::response(200, vec![2; 64]).with_header("Content-Type", "text/plain").unwrap();
    let how = SendOptions { host: "example.com", ..SendOptions::default() };
    let (mut wire, mut pieces) = (Vec::new(), Vec::new());
    let mut exchange = |client: &mut ClientSession, server: &mut ServerSession| {
        client.send(now, &request, &how).unwrap();
        wire.clear();
        client.outgoing().take(&mut wire, &mut pieces);
        client.handle_sent(now);
        assert_eq!(server.handle_input(now, &wire), wire.len());
        let Some(Event::Request(asked)) = server.poll_event() else { panic!() };
        server.recycle(asked);
        server.respond(now, &response, BodyKind::Whole).unwrap();
        wire.clear();
        server.outgoing().take(&mut wire, &mut pieces);
        server.handle_sent(now);
        assert_eq!(client.handle_input(now, &wire), wire.len());
        let Some(Event::Response(answer)) = client.poll_event() else { panic!() };
        assert_eq!(answer.body.len(), 64);
        client.recycle(answer);
    };
    for _ in 0..20 {
        exchange(&mut client, &mut server);
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..100 {
        exchange(&mut client, &mut server);
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
}
