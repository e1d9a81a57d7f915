//! The resources of a link whose peer holds the key and means no good.

use proto_core::{Instant, UnixTime};
use proto_rns::{
    Env, LinkHash,
    bz2::Bz2,
    crypto::{Dalek, SecureEntropy, TokenKey},
    resource::{Carrier, Kind, Outgoing, ResourceConfig, Resources, Strategy},
    wire::{Context, PacketType},
};
use std::time::Duration;

/// Obeys a script: each byte picks a message or a moment, the ones after it are its contents.
pub fn resource(data: &[u8]) {
    let config = ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() };
    let mut resources = Resources::new(config, LinkHash::new([1; 16]), 500).unwrap();
    let (key, mut entropy) = (TokenKey::new(&[3; 64]), SecureEntropy::new([4; 32]));
    let mut now = Instant::from_millis(1_000);
    let mut carrier = Counted(0);
    let mut script = data;
    for _ in 0..256 {
        let [op, len, rest @ ..] = script else { break };
        let (contents, rest) = rest.split_at(usize::from(*len).min(rest.len()));
        script = rest;
        let mut env = Env {
            now,
            wall: UnixTime::default(),
            crypto: &Dalek,
            compression: &Bz2::default(),
            entropy: &mut entropy,
        };
        match op % 10 {
            0 => resources.handle_advertisement(&env, contents, &mut carrier),
            1 => resources.handle_request(&mut env, &key, contents, &mut carrier),
            2 => resources.handle_hashmap_update(&env, contents, &mut carrier),
            3 => resources.handle_part(&env, &key, contents, &mut carrier),
            4 => resources.handle_proof(&mut env, &key, contents, &mut carrier),
            5 => resources.handle_sender_cancel(contents),
            6 => resources.handle_receiver_cancel(&mut env, &key, contents, &mut carrier),
            7 => {
                let data = contents.repeat(20).into();
                let outgoing = Outgoing { data, metadata: None, kind: Kind::Plain, compress: op & 0x80 != 0 };
                let _ = resources.send(&mut env, &key, outgoing, &mut carrier);
            }
            8 => now += Duration::from_millis(u64::from(*len) * u64::from(*len)),
            _ => resources.flush(&env, &mut carrier),
        }
        let mut env = Env {
            now,
            wall: UnixTime::default(),
            crypto: &Dalek,
            compression: &Bz2::default(),
            entropy: &mut entropy,
        };
        for _ in 0..64 {
            if resources.poll_timeout().is_none_or(|due| due > now) {
                break;
            }
            resources.handle_timeout(&mut env, &key, &mut carrier);
        }
        assert!(resources.poll_timeout().is_none_or(|due| due > now), "a deadline stays past");
        while resources.poll_event().is_some() {}
    }
    // A message may cause a round of parts, but not more than that.
    assert!(carrier.0 <= 256 * 256, "{} packets for 256 messages", carrier.0);
}

struct Counted(usize);

impl Carrier for Counted {
    fn send(&mut self, _context: Context, _plaintext: &[u8]) {
        self.0 += 1;
    }

    fn send_raw(&mut self, _packet_type: PacketType, _context: Context, _data: &[u8]) {
        self.0 += 1;
    }

    fn room(&self) -> usize {
        100_000
    }
}
