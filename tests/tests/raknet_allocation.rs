//! In a steady state nothing is allocated for a datagram: payloads share slabs, and everything else is reused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use proto_core::{Datagram, Instant, Machine};
use proto_raknet::{
    Channel, Config, ConnectOptions, Endpoint, Event, Message, PeerId, Reliability, SOCKET, limits,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    net::SocketAddr,
};
use tests::raknet::{endpoint, ms, segments};

/// Bytes of a message.
const PAYLOAD: usize = 64;

/// What the slabs of so many payloads may cost: memory and, once it is shared, a count of its owners.
fn slab_allocations(messages: u64) -> u64 {
    2 * (messages / (limits::SLAB_BYTES / PAYLOAD) as u64 + 1)
}

#[test]
fn an_echo_of_small_messages_allocates_nothing_per_datagram() {
    for reliability in [Reliability::ReliableOrdered, Reliability::Unreliable, Reliability::ReliableSequenced]
    {
        let mut wire = Wire::connected();
        wire.fill(reliability, PAYLOAD, 200);
        wire.run(500);
        let before = Counts { datagrams: wire.datagrams, messages: wire.messages };
        let allocations = allocations_of(|| wire.run(1_000));
        let (datagrams, messages) = (wire.datagrams - before.datagrams, wire.messages - before.messages);
        assert!(messages > 50_000, "{reliability:?}: the echo stands still after {messages} messages");
        println!(
            "{reliability:?}: {allocations} allocations for {datagrams} datagrams with {messages} messages"
        );
        let beyond = allocations.saturating_sub(slab_allocations(messages));
        let share = beyond as f64 / datagrams as f64;
        assert!(share < 0.1, "{reliability:?}: {share} allocations for a datagram beyond those of slabs");
        assert!(allocations * 10 < messages, "{reliability:?}: messages do not share slabs");
    }
}

#[test]
fn an_idle_session_allocates_next_to_nothing() {
    let mut wire = Wire::connected();
    wire.run(1_000);
    let allocations = allocations_of(|| wire.run(100_000));
    assert!(allocations < 500, "{allocations} allocations in ten idle seconds");
}

/// Where the machines' drivers would stand: two endpoints and a wire that loses nothing and takes no time.
struct Wire {
    ends: [Endpoint; 2],
    addresses: [SocketAddr; 2],
    peers: [Option<PeerId>; 2],
    buf: Vec<u8>,
    now: Instant,
    datagrams: u64,
    messages: u64,
}

struct Counts {
    datagrams: u64,
    messages: u64,
}

impl Wire {
    fn connected() -> Self {
        let mut wire = Self {
            ends: [endpoint(Config::default(), [1; 32]), endpoint(Config::client(), [2; 32])],
            addresses: [1, 2].map(|n| SocketAddr::from(([10, 0, 0, n], 19_132))),
            peers: [None; 2],
            buf: Vec::with_capacity(1 << 20),
            now: Instant::from_millis(1),
            datagrams: 0,
            messages: 0,
        };
        let to = wire.addresses[0];
        wire.ends[1].connect(wire.now, to, ConnectOptions::default()).unwrap();
        wire.run(100);
        assert!(wire.peers.iter().all(Option::is_some), "not connected");
        wire
    }

    /// Brings messages into play; each is sent back and forth for ever.
    fn fill(&mut self, reliability: Reliability, len: usize, count: usize) {
        for n in 0..count {
            let mut payload = vec![0xfe; len];
            payload[1] = u8::try_from(n % 256).unwrap();
            // Sequenced messages of one channel overtake each other: a channel each for a while.
            let channel = Channel::new(u8::try_from(n % 32).unwrap()).unwrap();
            let message = Message::new(payload).reliability(reliability).channel(channel);
            let peer = self.peers[1].unwrap();
            self.ends[1].send(self.now, peer, message).unwrap();
        }
    }

    /// Lets `rounds` tenths of a millisecond pass.
    fn run(&mut self, rounds: u64) {
        for _ in 0..rounds {
            for from in 0..2 {
                self.serve(from);
                self.carry(from);
            }
            self.now += ms(1) / 10;
        }
    }

    fn serve(&mut self, end: usize) {
        let machine = &mut self.ends[end];
        if machine.poll_timeout().is_some_and(|due| due <= self.now) {
            machine.handle_timeout(self.now);
        }
        while let Some(event) = machine.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.peers[end] = Some(peer),
                Event::Readable { peer } => {
                    while let Some(message) = machine.recv(peer) {
                        self.messages += 1;
                        let echo = Message::new(message.payload)
                            .reliability(message.reliability)
                            .channel(message.channel);
                        machine.send(self.now, peer, echo).unwrap();
                    }
                }
                Event::Disconnected { reason, .. } => panic!("the session ended: {reason}"),
                _ => {}
            }
        }
    }

    fn carry(&mut self, from: usize) {
        loop {
            self.buf.clear();
            let Some(transmit) = self.ends[from].poll_transmit(self.now, segments(16), &mut self.buf) else {
                return;
            };
            for data in self.buf.chunks_mut(transmit.segment_len()) {
                self.datagrams += 1;
                let datagram = Datagram::new(SOCKET, self.addresses[from], data);
                self.ends[1 - from].handle_datagram(self.now, datagram);
            }
        }
    }
}

/// Counts the allocations of this thread while `run` runs.
fn allocations_of(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter for each thread, so that tests do not count each other's.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local number without a
// destructor, which needs no allocation itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
