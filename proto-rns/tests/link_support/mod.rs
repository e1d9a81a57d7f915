//! Two ends of a link in memory, under a clock of their own.

#![allow(dead_code, reason = "each test file uses a part")]

use core::time::Duration;
use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    DestinationHash, Env,
    bz2::Bz2,
    crypto::{Dalek, Entropy},
    identity::Identity,
    link::{Event, Link, LinkConfig, LinkState, PacketSink},
    wire::Packet,
};

/// The packets that a link sent, as frames.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) room: usize,
}

impl Default for Wire {
    fn default() -> Self {
        Self { frames: Vec::new(), room: 1 << 20 }
    }
}

impl PacketSink for Wire {
    fn send(&mut self, packet: &Packet<'_>) {
        self.frames.push(packet.to_vec());
        self.room = self.room.saturating_sub(packet.encoded_len());
    }

    fn room(&self) -> usize {
        self.room
    }
}

impl Wire {
    /// Returns the only frame that was sent since the last time.
    pub(crate) fn one(&mut self) -> Vec<u8> {
        assert_eq!(self.frames.len(), 1);
        self.frames.remove(0)
    }
}

/// Runs `step` at `now` with this entropy.
pub(crate) fn with_env<T>(
    now: Instant,
    entropy: &mut dyn Entropy,
    step: impl FnOnce(&mut Env<'_>) -> T,
) -> T {
    let wall = UnixTime::new(Duration::from_secs(1_700_000_000) + Duration::from_nanos(now.as_nanos()));
    step(&mut Env { now, wall, crypto: &Dalek, compression: &Bz2::default(), entropy })
}

/// The identity whose private keys are 32 times `agreement` and 32 times `seed`.
pub(crate) fn identity(agreement: u8, seed: u8) -> Identity {
    let mut secret = [agreement; 64];
    secret[32..].fill(seed);
    Identity::from_bytes(&Dalek, &secret)
}

pub(crate) fn destination() -> DestinationHash {
    "e1887775ced5edaf8858bdd9da2d5b64".parse().unwrap()
}

/// One end and what it has to say.
pub(crate) struct End {
    pub(crate) link: Link,
    pub(crate) wire: Wire,
    pub(crate) events: Vec<Event>,
}

/// What becomes of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Lost,
    Twice,
}

/// An initiator and a responder.
pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) delay: Duration,
    pub(crate) rng: Rng,
    pub(crate) initiator: End,
    pub(crate) responder: End,
    pub(crate) hops: u8,
    /// When each frame arrives, and whether at the responder.
    flights: Vec<(Instant, u64, bool, Vec<u8>)>,
    sent: u64,
}

impl Pair {
    /// Two ends that shook hands over a path of this delay.
    pub(crate) fn established(delay: Duration, config: &LinkConfig) -> Self {
        let mut pair = Self::handshaking(delay, config, None);
        pair.run(delay * 4 + Duration::from_millis(1));
        assert_eq!(pair.initiator.link.state(), LinkState::Active);
        assert_eq!(pair.responder.link.state(), LinkState::Active);
        pair.initiator.events.clear();
        pair.responder.events.clear();
        pair
    }

    /// Two ends of which the initiator does not know the answer.
    pub(crate) fn handshaking(delay: Duration, config: &LinkConfig, mtu: Option<usize>) -> Self {
        let mut rng = Rng::from_u64(7);
        let (now, owner) = (Instant::from_millis(1), identity(0x11, 0x22));
        let (mut from_initiator, mut from_responder) = (Wire::default(), Wire::default());
        let initiator = with_env(now, &mut rng, |env| {
            let timeout = Duration::from_secs(6);
            Link::initiate(env, destination(), *owner.public(), 1, mtu, timeout, config, &mut from_initiator)
                .unwrap()
        });
        let request = from_initiator.one();
        let responder = with_env(now + delay, &mut rng, |env| {
            let packet = Packet::parse(&request).unwrap();
            Link::accept(env, &packet, &owner, mtu, config, &mut from_responder).unwrap()
        });
        let mut pair = Self {
            now: now + delay,
            delay,
            rng,
            initiator: End { link: initiator, wire: from_initiator, events: Vec::new() },
            responder: End { link: responder, wire: from_responder, events: Vec::new() },
            hops: 1,
            flights: Vec::new(),
            sent: 0,
        };
        pair.launch(&mut |_, _| Fate::Arrives);
        pair
    }

    /// Gives a command to the initiator.
    pub(crate) fn initiator<T>(
        &mut self,
        command: impl FnOnce(&mut Link, &mut Env<'_>, &mut Wire) -> T,
    ) -> T {
        let Self { now, rng, initiator, .. } = self;
        with_env(*now, rng, |env| command(&mut initiator.link, env, &mut initiator.wire))
    }

    /// Gives a command to the responder.
    pub(crate) fn responder<T>(
        &mut self,
        command: impl FnOnce(&mut Link, &mut Env<'_>, &mut Wire) -> T,
    ) -> T {
        let Self { now, rng, responder, .. } = self;
        with_env(*now, rng, |env| command(&mut responder.link, env, &mut responder.wire))
    }

    /// Lets both ends do what they have to for so long, on a path that loses nothing.
    pub(crate) fn run(&mut self, time: Duration) {
        self.run_with(time, |_, _| Fate::Arrives);
    }

    /// Lets both ends do what they have to for so long; `fate` decides over each frame, given whether it goes to the
    /// responder.
    pub(crate) fn run_with(&mut self, time: Duration, mut fate: impl FnMut(bool, &[u8]) -> Fate) {
        let end = self.now + time;
        for _ in 0..1_000_000 {
            self.launch(&mut fate);
            self.drain();
            let flight = self.flights.iter().map(|(at, ..)| *at).min();
            let timeouts = [self.initiator.link.poll_timeout(), self.responder.link.poll_timeout()];
            let next = timeouts.into_iter().flatten().chain(flight).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            self.step();
        }
        panic!("the ends never come to rest");
    }

    fn launch(&mut self, fate: &mut impl FnMut(bool, &[u8]) -> Fate) {
        let outgoing = self.initiator.wire.frames.drain(..).map(|frame| (true, frame));
        let incoming = self.responder.wire.frames.drain(..).map(|frame| (false, frame));
        for (to_responder, frame) in outgoing.chain(incoming) {
            let times = match fate(to_responder, &frame) {
                Fate::Lost => 0,
                Fate::Arrives => 1,
                Fate::Twice => 2,
            };
            for _ in 0..times {
                self.sent += 1;
                self.flights.push((self.now + self.delay, self.sent, to_responder, frame.clone()));
            }
        }
        self.initiator.wire.room = 1 << 20;
        self.responder.wire.room = 1 << 20;
    }

    fn step(&mut self) {
        let Self { now, rng, initiator, responder, flights, hops, .. } = self;
        flights.sort_by_key(|(at, number, ..)| (*at, *number));
        let arriving = flights.iter().take_while(|(at, ..)| at <= now).count();
        for (_, _, to_responder, mut frame) in flights.drain(..arriving) {
            let end = if to_responder { &mut *responder } else { &mut *initiator };
            frame[1] += *hops;
            let packet = Packet::parse(&frame).unwrap();
            with_env(*now, rng, |env| end.link.handle_packet(env, &packet, &mut end.wire));
        }
        for end in [initiator, responder] {
            with_env(*now, rng, |env| {
                if end.link.poll_timeout().is_some_and(|at| at <= env.now) {
                    end.link.handle_timeout(env, &mut end.wire);
                    let next = end.link.poll_timeout();
                    assert!(next.is_none_or(|at| at > env.now), "a deadline stays due");
                }
                end.link.settle(env);
            });
        }
    }

    fn drain(&mut self) {
        for end in [&mut self.initiator, &mut self.responder] {
            end.events.extend(core::iter::from_fn(|| end.link.poll_event()));
        }
    }
}
