//! Links: an encrypted conversation with a destination (spec 1.10, 1.11, 1.13).
//!
//! A [`Link`] is one end of it, a state machine like everything here: packets, times and commands go in, packets leave
//! by a [`PacketSink`], and what the application should know is fetched with [`Link::poll_event`].
//!
//! ```text
//!              initiator                                    responder
//!
//!   initiate   LINKREQUEST  ------------------------------> accept
//!   Pending                                                 Handshake
//!              <------------------------------ LRPROOF
//!   Active     LRRTT        ------------------------------> Active
//!
//!   Active  --- nothing heard --->  Stale  --- anything heard --->  Active
//!   any     --- close, LINKCLOSE, or out of time --->  Closed
//! ```
//!
//! Proofs of delivery are verified together, which halves their cost: after a batch of packets call [`Link::settle`],
//! then fetch the events.

mod channel;
mod commands;
mod config;
mod error;
mod event;
mod handshake;
mod identify;
mod keys;
mod liveness;
mod mtu;
mod outbox;
mod policy;
mod receipts;
mod requests;
mod session;
mod sink;
mod stats;
mod step;
mod streams;
mod transfers;

pub use config::{LinkConfig, LinkConfigError, ProofStrategy};
pub use error::{ChannelError, IdentifyError, Refusal, RequestError, ResourceError, SendError};
pub use event::{CloseReason, Event, RequestFailure};
pub use mtu::{BASE_MTU, link_mdu};
pub use policy::{RequestPolicies, RequestPolicy};
pub use sink::PacketSink;
pub use stats::{DropReason, LinkStats};
pub use streams::StreamRead;

use crate::{
    DestinationHash, Env, LinkHash, ResourceHash,
    identity::{Identity, PublicIdentity},
    resource::ResourceId,
    wire::{Context, DestinationType, LinkProof, LinkRequest, Packet, PacketType},
};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::time::Duration;
use event::Events;
use handshake::Proposal;
use keys::{ProofKeys, SigningKey};
use liveness::Liveness;
use proto_core::Instant;
use session::{Session, Stage, Trouble};
use step::Step;
use streams::Streams;

/// One end of a link.
#[derive(Debug)]
pub struct Link {
    id: LinkHash,
    destination: DestinationHash,
    role: Role,
    phase: Phase,
    config: LinkConfig,
    events: Events,
    streams: Streams,
    stats: LinkStats,
}

impl Link {
    /// Asks for a link to `destination` of `identity`, `hops` away, over an interface that carries packets of `mtu`
    /// bytes; `None` for the 500 that all carry. Draws the X25519, then the Ed25519 key.
    ///
    /// # Errors
    /// The configuration is not valid. Nothing is sent then.
    #[allow(
        clippy::too_many_arguments,
        reason = "a link begins with all of these, and none belongs to another"
    )]
    pub fn initiate(
        env: &mut Env<'_>,
        destination: DestinationHash,
        identity: PublicIdentity,
        hops: u8,
        mtu: Option<usize>,
        first_hop_timeout: Duration,
        config: &LinkConfig,
        out: &mut dyn PacketSink,
    ) -> Result<Self, LinkConfigError> {
        config.validate()?;
        let proposal = Proposal::new(env, identity, hops, mtu, first_hop_timeout);
        let request = proposal.request(env);
        let mut data = Vec::with_capacity(request.encoded_len());
        request.emit(&mut data);
        let packet =
            Packet::new(PacketType::LinkRequest, DestinationType::Single, destination, Context::None, &data);
        let id = LinkRequest::link_of(&packet);
        let mut link =
            Self::new(id, destination, Role::Initiator, Phase::Pending(Box::new(proposal)), config);
        link.stats.count_sent(data.len());
        out.send(&packet);
        Ok(link)
    }

    /// Answers the request in `packet` for a link to a destination of `owner`, over an interface that carries packets
    /// of `interface_mtu` bytes. Draws the X25519 key.
    ///
    /// # Errors
    /// The packet is no request that can be answered. Nothing is sent then.
    pub fn accept(
        env: &mut Env<'_>,
        packet: &Packet<'_>,
        owner: &Identity,
        interface_mtu: Option<usize>,
        config: &LinkConfig,
        out: &mut dyn PacketSink,
    ) -> Result<Self, Refusal> {
        if packet.packet_type != PacketType::LinkRequest {
            return Err(Refusal::NotARequest);
        }
        config.validate()?;
        let request = LinkRequest::parse(packet.data)?;
        let id = LinkRequest::link_of(packet);
        let (agreement, proof) = handshake::answer(env, id, &request, owner, interface_mtu)?;
        let keys = ProofKeys::new(SigningKey::Owner(owner.clone()), request.verifying_key);
        let stage = Stage::Unconfirmed {
            since: env.now,
            deadline: handshake::responder_deadline(env.now, packet.hops),
        };
        let session = Session::new(id, Role::Responder, agreement, keys, stage, config, env.now)?;
        let phase = Phase::Open(Box::new(session));
        let mut link = Self::new(id, packet.destination, Role::Responder, phase, config);
        let mut data = Vec::with_capacity(proof.encoded_len());
        proof.emit(&mut data);
        link.stats.count_received(packet.data.len());
        link.stats.count_sent(data.len());
        out.send(&outbox::packet(id, PacketType::Proof, Context::LinkRequestProof, &data));
        Ok(link)
    }

    /// Takes a packet that carries the link's number. Bulk that it allows to be sent leaves as far as there is room.
    pub fn handle_packet(&mut self, env: &mut Env<'_>, packet: &Packet<'_>, out: &mut dyn PacketSink) {
        let result = match &mut self.phase {
            Phase::Pending(_) => self.handle_answer(env, packet, out),
            Phase::Open(session) => {
                let Self { events, streams, stats, .. } = self;
                session.handle_packet(&mut Step { env, out, events, streams, stats }, &self.config, packet)
            }
            Phase::Closed => Err(DropReason::State.into()),
        };
        match result {
            Ok(()) => self.stats.count_received(packet.data.len()),
            Err(Trouble::Drop(reason)) => self.stats.count_drop(reason),
            Err(Trouble::Close(reason)) => self.end(env, reason, out),
        }
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, env: &mut Env<'_>, out: &mut dyn PacketSink) {
        let result = match &mut self.phase {
            Phase::Pending(proposal) if env.now >= proposal.deadline() => Err(CloseReason::NotEstablished),
            Phase::Pending(_) | Phase::Closed => Ok(()),
            Phase::Open(session) => {
                let Self { events, streams, stats, .. } = self;
                session.handle_timeout(&mut Step { env, out, events, streams, stats }, &self.config)
            }
        };
        if let Err(reason) = result {
            self.end(env, reason, out);
        }
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Pending(proposal) => Some(proposal.deadline()),
            Phase::Open(session) => Some(session.deadline()),
            Phase::Closed => None,
        }
    }

    /// Verifies the proofs that have arrived since the last time, all at once.
    pub fn settle(&mut self, env: &Env<'_>) {
        if let Phase::Open(session) = &mut self.phase {
            session.settle(env, &mut self.events, &mut self.stats);
        }
    }

    /// Goes on with bulk data, now that the sink has room again.
    pub fn flush(&mut self, env: &mut Env<'_>, out: &mut dyn PacketSink) {
        if let Phase::Open(session) = &mut self.phase {
            let Self { events, streams, stats, .. } = self;
            session.flush(&mut Step { env, out, events, streams, stats }, &self.config);
        }
    }

    /// Says whether bulk data wait for room in the sink.
    pub fn wants_room(&self) -> bool {
        match &self.phase {
            Phase::Open(session) => session.transfers.wants_room(),
            Phase::Pending(_) | Phase::Closed => false,
        }
    }

    /// Returns what happened next; after [`settle`](Self::settle).
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Returns the link's number, which its packets carry.
    pub const fn id(&self) -> LinkHash {
        self.id
    }

    /// Returns the destination of the link.
    pub const fn destination(&self) -> DestinationHash {
        self.destination
    }

    /// Returns which end this is.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Returns how far the link is.
    pub const fn state(&self) -> LinkState {
        match &self.phase {
            Phase::Pending(_) => LinkState::Pending,
            Phase::Closed => LinkState::Closed,
            Phase::Open(session) => match &session.stage {
                Stage::Unconfirmed { .. } => LinkState::Handshake,
                Stage::Established(liveness) if liveness.is_stale() => LinkState::Stale,
                Stage::Established(_) => LinkState::Active,
            },
        }
    }

    /// Returns the round-trip time, as the handshake measured it.
    pub fn rtt(&self) -> Option<Duration> {
        self.liveness().map(Liveness::rtt)
    }

    /// Returns how long the link may be quiet before a sign of life is sent.
    pub fn keepalive(&self) -> Option<Duration> {
        self.liveness().map(Liveness::keepalive)
    }

    /// Returns the longest packet, header included.
    pub const fn mtu(&self) -> usize {
        match &self.phase {
            Phase::Open(session) => session.mtu,
            Phase::Pending(_) | Phase::Closed => BASE_MTU,
        }
    }

    /// Returns the most data that one packet carries.
    pub const fn mdu(&self) -> usize {
        link_mdu(self.mtu())
    }

    /// Returns who the initiator is, once a responder was told.
    pub const fn identity(&self) -> Option<&PublicIdentity> {
        match &self.phase {
            Phase::Open(session) => session.identity.as_ref(),
            Phase::Pending(_) | Phase::Closed => None,
        }
    }

    /// Returns the resource that is being sent, be it a request or a response, and the hash that the peer knows it by.
    pub fn outgoing_resource(&self) -> Option<(ResourceId, ResourceHash)> {
        match &self.phase {
            Phase::Open(session) => session.transfers.outgoing(),
            Phase::Pending(_) | Phase::Closed => None,
        }
    }

    /// Offers other paths to the peer from now on.
    pub fn set_requests(&mut self, requests: Arc<RequestPolicies>) {
        self.config.requests = requests;
    }

    /// Returns the counters.
    pub const fn stats(&self) -> &LinkStats {
        &self.stats
    }

    fn new(
        id: LinkHash,
        destination: DestinationHash,
        role: Role,
        phase: Phase,
        config: &LinkConfig,
    ) -> Self {
        Self {
            id,
            destination,
            role,
            phase,
            config: config.clone(),
            events: Events::new(config.max_events),
            streams: Streams::new(config.max_streams, config.max_stream_bytes),
            stats: LinkStats::default(),
        }
    }

    /// Takes the answer to this end's request.
    fn handle_answer(
        &mut self,
        env: &mut Env<'_>,
        packet: &Packet<'_>,
        out: &mut dyn PacketSink,
    ) -> Result<(), Trouble> {
        if (packet.packet_type, packet.context) != (PacketType::Proof, Context::LinkRequestProof) {
            return Err(DropReason::State.into());
        }
        let proof = LinkProof::parse(packet.data)?;
        let proposal = match core::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Pending(proposal) => proposal,
            other @ (Phase::Open(_) | Phase::Closed) => {
                self.phase = other;
                return Err(DropReason::State.into());
            }
        };
        let agreement = match proposal.conclude(env, self.id, &proof) {
            Ok(agreement) => agreement,
            Err(reason) => {
                self.phase = Phase::Pending(proposal);
                return Err(reason.into());
            }
        };
        if packet.hops != proposal.hops() {
            self.events.push(Event::HopsChanged { hops: packet.hops });
        }
        let rtt = env.now.saturating_since(proposal.requested_at());
        let peer = *proposal.identity().verifying_key();
        let keys = ProofKeys::new(proposal.into_signing_key(), peer);
        let stage = Stage::Established(Liveness::new(Role::Initiator, rtt, env.now));
        let mut session =
            Session::new(self.id, Role::Initiator, agreement, keys, stage, &self.config, env.now)
                .map_err(|_| Trouble::Close(CloseReason::NotEstablished))?;
        let Self { events, streams, stats, .. } = self;
        let mut step = Step { env, out, events, streams, stats };
        session.establish(&mut step, &self.config, rtt);
        session.tell_rtt(&mut step, rtt);
        self.phase = Phase::Open(Box::new(session));
        Ok(())
    }

    /// Closes the link, telling the peer unless it knows, and wipes its keys.
    fn end(&mut self, env: &mut Env<'_>, reason: CloseReason, out: &mut dyn PacketSink) {
        let phase = core::mem::replace(&mut self.phase, Phase::Closed);
        if let Phase::Open(mut session) = phase {
            let Self { events, streams, stats, .. } = self;
            let mut step = Step { env, out, events, streams, stats };
            if reason != self.role.peer().close_reason() && reason != CloseReason::NotEstablished {
                session.outbox.send(&mut step, Context::LinkClose, &[self.id.as_bytes()]);
            }
            session.abandon(&mut step, &self.config);
        }
        self.events.push(Event::Closed { reason });
    }

    const fn liveness(&self) -> Option<&Liveness> {
        match &self.phase {
            Phase::Open(session) => match &session.stage {
                Stage::Established(liveness) => Some(liveness),
                Stage::Unconfirmed { .. } => None,
            },
            Phase::Pending(_) | Phase::Closed => None,
        }
    }
}

/// Which end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The end that asked for the link.
    Initiator,
    /// The destination.
    Responder,
}

impl Role {
    /// Returns the other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }

    /// Returns why a link is closed that this end closed.
    const fn close_reason(self) -> CloseReason {
        match self {
            Self::Initiator => CloseReason::InitiatorClosed,
            Self::Responder => CloseReason::DestinationClosed,
        }
    }
}

/// How far a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// The initiator waits for the answer.
    Pending,
    /// The responder answered and waits to hear that the answer arrived.
    Handshake,
    /// Data flow.
    Active,
    /// Nothing was heard of the peer for a while.
    Stale,
    /// Nothing flows any more.
    Closed,
}

/// What a link holds at each state.
#[derive(Debug)]
enum Phase {
    Pending(Box<Proposal>),
    Open(Box<Session>),
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compression::NoCompression,
        crypto::{Dalek, Entropy},
    };
    use proptest::prelude::*;
    use proto_core::{Rng, UnixTime};

    /// Keeps frames.
    #[derive(Default)]
    struct Frames(Vec<Vec<u8>>);

    impl PacketSink for Frames {
        fn send(&mut self, packet: &Packet<'_>) {
            self.0.push(packet.to_vec());
        }

        fn room(&self) -> usize {
            1 << 20
        }
    }

    fn env(now: Instant, entropy: &mut dyn Entropy) -> Env<'_> {
        let wall = UnixTime::new(Duration::from_secs(1_700_000_000));
        Env { now, wall, crypto: &Dalek, compression: &NoCompression, entropy }
    }

    /// Returns an initiator and a responder that shook hands.
    fn pair(entropy: &mut dyn Entropy) -> (Link, Link) {
        let (mut env, mut frames) = (env(Instant::ZERO, entropy), Frames::default());
        let owner = Identity::from_bytes(&Dalek, &[7; 64]);
        let config = LinkConfig { channel: true, max_events: 16, ..LinkConfig::default() };
        let destination = DestinationHash::new([1; 16]);
        let second = Duration::from_secs(1);
        let mut initiator =
            Link::initiate(&mut env, destination, *owner.public(), 0, None, second, &config, &mut frames)
                .unwrap();
        let request = frames.0.remove(0);
        let request = Packet::parse(&request).unwrap();
        let mut responder = Link::accept(&mut env, &request, &owner, None, &config, &mut frames).unwrap();
        let proof = frames.0.remove(0);
        initiator.handle_packet(&mut env, &Packet::parse(&proof).unwrap(), &mut frames);
        let rtt = frames.0.remove(0);
        responder.handle_packet(&mut env, &Packet::parse(&rtt).unwrap(), &mut frames);
        assert_eq!((initiator.state(), responder.state()), (LinkState::Active, LinkState::Active));
        (initiator, responder)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A peer has the key, so that nothing it says is trusted the more for being encrypted.
        #[test]
        fn a_peer_may_say_anything_under_the_key(
            messages in prop::collection::vec(
                (prop_oneof![0..16_u8, 0xf8..=0xff_u8], prop::collection::vec(any::<u8>(), 0..60), any::<bool>(), 0..3_000_u64),
                0..40,
            )
        ) {
            let mut entropy = Rng::from_u64(5);
            let (mut initiator, mut responder) = pair(&mut entropy);
            let (mut frames, mut now) = (Frames::default(), Instant::ZERO);
            for (context, plaintext, from_initiator, wait) in messages {
                now += Duration::from_millis(wait);
                let mut env = env(now, &mut entropy);
                let (from, to) =
                    if from_initiator { (&mut initiator, &mut responder) } else { (&mut responder, &mut initiator) };
                let Phase::Open(session) = &mut from.phase else { break };
                let Link { events, streams, stats, .. } = from;
                let mut step = Step { env: &mut env, out: &mut frames, events, streams, stats };
                session.outbox.send(&mut step, Context::from(context), &[&plaintext]);
                let frame = frames.0.pop().unwrap();
                to.handle_packet(&mut env, &Packet::parse(&frame).unwrap(), &mut frames);
                to.handle_timeout(&mut env, &mut frames);
                prop_assert!(to.poll_timeout().is_none_or(|at| at > now));
                to.settle(&env);
            }
            prop_assert!(core::iter::from_fn(|| responder.poll_event()).count() <= 16 + 48 + 10);
        }
    }
}
