//! How long a frame of a link that passes takes. Run with `--ignored --nocapture --release`.

use crate::world::{Handshake, OWN, World, data, link_request, via};
use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    Env,
    compression::NoCompression,
    crypto::Dalek,
    iface::{InterfaceId, InterfaceProperties, Interfaces},
    transport::Verdict,
    wire::{Context, Packet},
};
use std::time::Duration;

/// Interfaces that only count, as cheap as a slab lookup.
struct Sinks {
    interfaces: Vec<InterfaceProperties>,
    bytes: usize,
}

impl Interfaces for Sinks {
    fn properties(&self, id: InterfaceId) -> Option<&InterfaceProperties> {
        self.interfaces.get(usize::try_from(id.0).ok()?.checked_sub(1)?)
    }

    fn ids(&self) -> Vec<InterfaceId> {
        Vec::new()
    }

    fn send(&mut self, _to: InterfaceId, packet: &Packet<'_>) {
        self.bytes += packet.encoded_len() + usize::from(packet.header()[1]);
    }
}

/// Prints the time of one round in the fastest of many batches, which a busy machine disturbs the least.
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn time(name: &str, mut each: impl FnMut(u32)) {
    const BATCH: u32 = 10_000;
    let fastest = (0..100).map(|batch| {
        let start = std::time::Instant::now();
        (batch * BATCH..(batch + 1) * BATCH).for_each(&mut each);
        start.elapsed() / BATCH
    });
    println!("{name}: {:?}", fastest.min().unwrap_or_default());
}

#[test]
#[ignore = "it measures"]
fn relaying_a_link_frame_and_a_single_packet() {
    let mut world = World::transport();
    let to = world.learn(1, 2, 3);
    let handshake = Handshake::new(1, 1, None);
    world.receive(1, &via(OWN, link_request(to, &handshake.request)));
    world.receive(2, &handshake.proof(3));
    let mut sinks = Sinks { interfaces: world.net.interfaces.values().cloned().collect(), bytes: 0 };
    let mut rng = Rng::from_u64(1);
    let now = Instant::ZERO + world.now;
    let World { router, known, home, .. } = &mut world;
    let mut env = Env {
        now,
        wall: UnixTime::new(Duration::from_secs(1_700_000_000)),
        crypto: &Dalek,
        compression: &NoCompression,
        entropy: &mut rng,
    };
    let payload = [7; 464];
    for context in [Context::Resource, Context::None] {
        let frame = handshake.traffic(1, context, &payload).to_vec();
        time(&format!("link frame, {context:?}"), |_| {
            let packet = Packet::parse(&frame).unwrap();
            let verdict = router.handle_packet(&mut env, InterfaceId(1), &packet, home, known, &mut sinks);
            assert_eq!(verdict, Verdict::Handled);
        });
    }
    let mut frame = via(OWN, data(to, &payload[..400])).to_vec();
    time("single packet", |round| {
        frame[40..44].copy_from_slice(&round.to_be_bytes());
        let packet = Packet::parse(&frame).unwrap();
        let verdict = router.handle_packet(&mut env, InterfaceId(1), &packet, home, known, &mut sinks);
        assert_eq!(verdict, Verdict::Handled);
    });
    assert!(sinks.bytes > 0);
}
