//! A link whose key is agreed: what its packets mean and what its time asks for.

use super::{
    CloseReason, DropReason, Event, LinkConfig, LinkConfigError, LinkStats, ProofStrategy, RequestFailure,
    Role,
    channel::{self, Place, Receiver, Sender},
    event::Events,
    handshake::Agreement,
    identify,
    keys::ProofKeys,
    link_mdu,
    liveness::{self, Liveness},
    outbox::Outbox,
    receipts::{Receipts, Sent},
    requests::Requests,
    step::Step,
    transfers::Transfers,
};
use crate::{
    Env, LinkHash, PacketHash, RequestId,
    identity::PublicIdentity,
    wire::{
        Context, Envelope, Malformed, MessageType, Packet, PacketType, Proof, Request, Response, StreamData,
        msgpack::{Reader, ShapeError, Writer},
    },
};
use alloc::vec::Vec;
use bytes::Bytes;
use core::time::Duration;
use proto_core::Instant;

/// The state of a link with a key.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) link: LinkHash,
    pub(super) role: Role,
    pub(super) mtu: usize,
    pub(super) outbox: Outbox,
    pub(super) keys: ProofKeys,
    pub(super) stage: Stage,
    pub(super) identity: Option<PublicIdentity>,
    pub(super) receipts: Receipts,
    pub(super) requests: Requests,
    pub(super) channel: Option<Channel>,
    pub(super) transfers: Transfers,
    opened: Vec<u8>,
}

/// How far a session is.
#[derive(Debug)]
pub(super) enum Stage {
    /// The responder does not know whether the initiator has its proof.
    Unconfirmed {
        /// When the proof was sent.
        since: Instant,
        /// When the responder gives up.
        deadline: Instant,
    },
    /// Both ends know.
    Established(Liveness),
}

/// Both ends of an open channel.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
}

/// Why a packet changed nothing, or ended everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is dropped.
    Drop(DropReason),
    /// It closes the link.
    Close(CloseReason),
}

impl Session {
    /// # Errors
    /// The limits of resources contradict each other.
    pub(super) fn new(
        link: LinkHash,
        role: Role,
        agreement: Agreement,
        keys: ProofKeys,
        stage: Stage,
        config: &LinkConfig,
        now: Instant,
    ) -> Result<Self, LinkConfigError> {
        Ok(Self {
            link,
            role,
            mtu: agreement.mtu,
            outbox: Outbox::new(link, agreement.key, now),
            keys,
            stage,
            identity: None,
            receipts: Receipts::new(config.max_receipts),
            requests: Requests::new(config.max_pending_requests, config.max_unanswered_requests),
            channel: None,
            transfers: Transfers::new(link, agreement.mtu, &config.resources)?,
            opened: Vec::new(),
        })
    }

    /// Begins the life of the link, now that both ends have the key.
    pub(super) fn establish(&mut self, step: &mut Step<'_, '_>, config: &LinkConfig, rtt: Duration) {
        self.stage = Stage::Established(Liveness::new(self.role, rtt, step.env.now));
        self.transfers.on_rtt(rtt);
        if config.channel {
            self.open_channel();
        }
        step.events.push(Event::Established { rtt });
    }

    pub(super) fn open_channel(&mut self) {
        let rtt = self.rtt();
        self.channel
            .get_or_insert_with(|| Channel { sender: Sender::new(rtt), receiver: Receiver::default() });
    }

    /// Returns the round-trip time; nothing before it is known.
    pub(super) const fn rtt(&self) -> Duration {
        match &self.stage {
            Stage::Unconfirmed { .. } => Duration::ZERO,
            Stage::Established(liveness) => liveness.rtt(),
        }
    }

    pub(super) const fn mdu(&self) -> usize {
        link_mdu(self.mtu)
    }

    /// Takes a packet of the link.
    ///
    /// # Errors
    /// It is dropped, or closes the link.
    pub(super) fn handle_packet(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        packet: &Packet<'_>,
    ) -> Result<(), Trouble> {
        match (packet.packet_type, packet.context) {
            (PacketType::Proof, Context::ResourceProof) => {
                self.on_heard(step);
                self.transfers.drive(&mut self.outbox, step, |resources, env, key, carrier| {
                    resources.handle_proof(env, key, packet.data, carrier);
                });
                self.on_transfers(step, config)
            }
            (PacketType::Proof, Context::None) => self.on_proof(step, packet.data),
            (PacketType::Data, Context::KeepAlive) => self.on_keepalive(step, packet.data),
            (PacketType::Data, Context::Resource) => {
                self.on_heard(step);
                self.transfers.drive(&mut self.outbox, step, |resources, env, key, carrier| {
                    resources.handle_part(env, key, packet.data, carrier);
                });
                self.on_transfers(step, config)
            }
            (PacketType::Data, Context::CacheRequest) => {
                let known = self.transfers.drive(&mut self.outbox, step, |resources, _, _, carrier| {
                    resources.handle_cache_request(packet.data, carrier)
                });
                if known { Ok(()) } else { Err(DropReason::UnknownProof.into()) }
            }
            (PacketType::Data, _) => self.on_sealed(step, config, packet),
            (PacketType::Proof | PacketType::Announce | PacketType::LinkRequest, _) => {
                Err(DropReason::Context.into())
            }
        }
    }

    /// Does what is due.
    ///
    /// # Errors
    /// The link is to close.
    pub(super) fn handle_timeout(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
    ) -> Result<(), CloseReason> {
        let now = step.env.now;
        self.settle(step.env, step.events, step.stats);
        while let Some(hash) = self.receipts.expire(now) {
            step.events.push(Event::Undelivered { hash });
        }
        while let Some(id) = self.requests.expire(now) {
            self.transfers.forget_response(id);
            step.events.push(Event::RequestFailed { id, reason: RequestFailure::Timeout });
        }
        while let Some(due) = self.channel.as_mut().and_then(|channel| channel.sender.handle_timeout(now)) {
            match due {
                channel::Due::Resend(sequence) => {
                    step.stats.resent_messages += 1;
                    self.transmit_message(step, sequence);
                }
                channel::Due::GiveUp => return Err(CloseReason::ChannelTimeout),
            }
        }
        self.transfers.drive(&mut self.outbox, step, |resources, env, key, carrier| {
            resources.handle_timeout(env, key, carrier);
        });
        match self.on_transfers(step, config) {
            Err(Trouble::Close(reason)) => return Err(reason),
            Err(Trouble::Drop(reason)) => step.stats.count_drop(reason),
            Ok(()) => {}
        }
        self.watch(step)
    }

    /// Returns when something is due next.
    pub(super) fn deadline(&self) -> Instant {
        let watch = match &self.stage {
            Stage::Unconfirmed { deadline, .. } => *deadline,
            Stage::Established(liveness) => liveness.deadline(self.outbox.last_sent()),
        };
        let channel = self.channel.as_ref().and_then(|channel| channel.sender.deadline());
        [self.receipts.deadline(), self.requests.deadline(), channel, self.transfers.deadline()]
            .into_iter()
            .flatten()
            .fold(watch, Instant::min)
    }

    /// Verifies the proofs that have arrived.
    pub(super) fn settle(&mut self, env: &Env<'_>, events: &mut Events, stats: &mut LinkStats) {
        if !self.receipts.has_arrived() {
            return;
        }
        let Self { receipts, channel, .. } = self;
        let mut old_tries = Vec::new();
        let forged = receipts.settle(env.crypto, self.keys.peer(), |proved| match proved.what {
            Sent::Data => events.push(Event::Delivered { hash: proved.hash, rtt: proved.rtt }),
            Sent::Message(sequence) => {
                if let Some(channel) = channel
                    && channel.sender.on_proved(sequence, env.now, |hash| old_tries.push(hash))
                {
                    events.push(Event::ChannelReady);
                }
            }
        });
        old_tries.into_iter().for_each(|hash| receipts.forget(hash));
        (0..forged).for_each(|_| stats.count_drop(DropReason::Signature));
    }

    /// Sends a message of the channel, for the first time or again.
    pub(super) fn transmit_message(&mut self, step: &mut Step<'_, '_>, sequence: u16) {
        let Some(channel) = &mut self.channel else { return };
        let Some(envelope) = channel.sender.envelope(sequence) else { return };
        let hash = self.outbox.send_hashed(step, Context::Channel, &[envelope]);
        channel.sender.on_sent(sequence, hash, step.env.now);
        self.receipts.await_message(hash, sequence, step.env.now);
    }

    /// Tells the responder that its proof arrived, and how long that took.
    pub(super) fn tell_rtt(&mut self, step: &mut Step<'_, '_>, rtt: Duration) {
        let mut plaintext = Vec::new();
        Writer::new(&mut plaintext).float(rtt.as_secs_f64());
        self.outbox.send(step, Context::LinkRtt, &[&plaintext]);
    }

    /// Goes on with parts of resources that were asked for.
    pub(super) fn flush(&mut self, step: &mut Step<'_, '_>, config: &LinkConfig) {
        self.transfers.drive(&mut self.outbox, step, |resources, env, _, carrier| {
            resources.flush(env, carrier);
        });
        self.hand_over(step, config);
    }

    /// Gives up everything that waits, with an event for each.
    pub(super) fn abandon(&mut self, step: &mut Step<'_, '_>, config: &LinkConfig) {
        self.settle(step.env, step.events, step.stats);
        while let Some(hash) = self.receipts.abandon() {
            step.events.push(Event::Undelivered { hash });
        }
        while let Some(id) = self.requests.abandon() {
            step.events.push(Event::RequestFailed { id, reason: RequestFailure::LinkClosed });
        }
        self.transfers.resources().close();
        self.hand_over(step, config);
    }

    /// Keeps an eye on the peer.
    fn watch(&mut self, step: &mut Step<'_, '_>) -> Result<(), CloseReason> {
        let now = step.env.now;
        loop {
            let due = match &mut self.stage {
                Stage::Unconfirmed { deadline, .. } if now >= *deadline => {
                    return Err(CloseReason::NotEstablished);
                }
                Stage::Unconfirmed { .. } => return Ok(()),
                Stage::Established(liveness) => liveness.handle_timeout(now, self.outbox.last_sent()),
            };
            match due {
                None => return Ok(()),
                Some(liveness::Due::Keepalive) => self.send_keepalive(step, INITIATOR_ALIVE),
                Some(liveness::Due::Stale) => step.events.push(Event::Stale),
                Some(liveness::Due::GiveUp) => return Err(CloseReason::Timeout),
            }
        }
    }

    fn send_keepalive(&mut self, step: &mut Step<'_, '_>, sign: u8) {
        self.outbox.send_plain(step, PacketType::Data, Context::KeepAlive, &[sign]);
    }

    fn on_heard(&mut self, step: &mut Step<'_, '_>) {
        if let Stage::Established(liveness) = &mut self.stage
            && liveness.on_heard(step.env.now)
        {
            step.events.push(Event::Revived);
        }
    }

    fn on_proof(&mut self, step: &mut Step<'_, '_>, data: &[u8]) -> Result<(), Trouble> {
        let proof = Proof::parse(data)?;
        let hash = proof.packet.ok_or(DropReason::Malformed)?;
        if !self.receipts.on_proof(hash, proof.signature, step.env.now) {
            return Err(DropReason::UnknownProof.into());
        }
        self.on_heard(step);
        if self.receipts.is_batch_full() {
            self.settle(step.env, step.events, step.stats);
        }
        Ok(())
    }

    /// Takes a sign of life; the initiator's is answered by a responder that had nothing else to say.
    fn on_keepalive(&mut self, step: &mut Step<'_, '_>, data: &[u8]) -> Result<(), Trouble> {
        match (self.role, data) {
            (Role::Responder, [INITIATOR_ALIVE]) => {
                self.on_heard(step);
                let last_sent = self.outbox.last_sent();
                if let Stage::Established(liveness) = &self.stage
                    && liveness.owes_answer(step.env.now, last_sent)
                {
                    self.send_keepalive(step, RESPONDER_ALIVE);
                }
                Ok(())
            }
            (Role::Initiator, [RESPONDER_ALIVE]) => {
                self.on_heard(step);
                Ok(())
            }
            (Role::Initiator | Role::Responder, _) => Err(DropReason::Role.into()),
        }
    }

    /// Opens a packet in the link's scratch and takes what it says.
    fn on_sealed(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        packet: &Packet<'_>,
    ) -> Result<(), Trouble> {
        let needs_application = matches!(packet.context, Context::None | Context::Request | Context::Channel);
        if needs_application && step.events.is_full() {
            return Err(DropReason::Backlog.into());
        }
        let mut opened = core::mem::take(&mut self.opened);
        opened.clear();
        opened.extend_from_slice(packet.data);
        let result = match self.outbox.key().open(&mut opened) {
            Ok(plaintext) => self.on_plaintext(step, config, packet, plaintext),
            Err(_) => Err(DropReason::Undecryptable.into()),
        };
        self.opened = opened;
        result
    }

    fn on_plaintext(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        packet: &Packet<'_>,
        plaintext: &[u8],
    ) -> Result<(), Trouble> {
        self.on_heard(step);
        if let Stage::Unconfirmed { since, .. } = self.stage {
            let measured = step.env.now.saturating_since(since);
            // The round trip that the initiator tells may get lost. Any packet under the key confirms as much.
            let told = if packet.context == Context::LinkRtt { told_rtt(plaintext)? } else { Duration::ZERO };
            self.establish(step, config, measured.max(told));
        }
        match packet.context {
            Context::None => {
                let hash = packet.hash();
                step.events.push(Event::Data { hash, data: Bytes::copy_from_slice(plaintext) });
                if config.proofs == ProofStrategy::All {
                    self.keys.prove(&mut self.outbox, step, hash);
                }
                Ok(())
            }
            Context::Request => self.on_request(step, config, request_id(packet.hash()), plaintext),
            Context::Response => self.on_response(step, plaintext),
            Context::Channel => self.on_message(step, packet, plaintext),
            Context::LinkIdentify => self.on_identify(step, plaintext),
            Context::LinkClose => self.on_close(plaintext),
            // A second one has nothing new to say.
            Context::LinkRtt => Ok(()),
            Context::ResourceAdvertisement
            | Context::ResourceRequest
            | Context::ResourceHashmapUpdate
            | Context::ResourceInitiatorCancel
            | Context::ResourceReceiverCancel => {
                self.on_resource_control(step, config, packet.context, plaintext)
            }
            Context::Resource
            | Context::ResourceProof
            | Context::CacheRequest
            | Context::PathResponse
            | Context::Command
            | Context::CommandStatus
            | Context::KeepAlive
            | Context::LinkProof
            | Context::LinkRequestProof
            | Context::Unknown(_) => Err(DropReason::Context.into()),
        }
    }

    pub(super) fn on_request(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        id: RequestId,
        plaintext: &[u8],
    ) -> Result<(), Trouble> {
        if u64::try_from(plaintext.len()).map_or(true, |len| len > config.resources.max_request_size) {
            return Err(DropReason::TooLarge.into());
        }
        let request = Request::parse(plaintext)?;
        let path = config.requests.judge(request.path, self.identity.map(|identity| identity.hash()))?;
        self.requests.on_asked(id);
        step.events.push(Event::Request {
            id,
            path_hash: request.path,
            path: path.into(),
            data: Bytes::copy_from_slice(request.data),
            requested_at: request.time,
            identity: self.identity,
        });
        Ok(())
    }

    fn on_response(&mut self, step: &mut Step<'_, '_>, plaintext: &[u8]) -> Result<(), Trouble> {
        let response = Response::parse(plaintext)?;
        self.on_response_data(step, response.request, Bytes::copy_from_slice(response.data))
    }

    /// Hands a response to whoever waits for it.
    pub(super) fn on_response_data(
        &mut self,
        step: &mut Step<'_, '_>,
        id: RequestId,
        data: Bytes,
    ) -> Result<(), Trouble> {
        let answered = self.requests.on_response(id, data.len());
        self.transfers.forget_response(id);
        match answered {
            Ok(true) => step.events.push(Event::Response { id, data }),
            Ok(false) => return Err(DropReason::UnknownResponse.into()),
            Err(reason) => step.events.push(Event::RequestFailed { id, reason }),
        }
        Ok(())
    }

    /// Takes a message of the channel. It is proved whenever it is taken or was before: a proof that got lost must not
    /// end the link. What cannot be taken is not proved, so that it comes again.
    fn on_message(
        &mut self,
        step: &mut Step<'_, '_>,
        packet: &Packet<'_>,
        plaintext: &[u8],
    ) -> Result<(), Trouble> {
        let channel = self.channel.as_mut().ok_or(DropReason::ChannelClosed)?;
        let envelope = Envelope::parse(plaintext)?;
        let place = channel.receiver.place(envelope.sequence);
        if place == Place::Beyond {
            return Err(DropReason::OutsideWindow.into());
        }
        if place == Place::New
            && envelope.message_type == MessageType::STREAM_DATA
            && StreamData::parse(envelope.data).is_ok_and(|piece| !step.streams.has_room(piece.stream))
        {
            return Err(DropReason::Backlog.into());
        }
        self.keys.prove(&mut self.outbox, step, packet.hash());
        if place == Place::Known {
            return Err(DropReason::OutsideWindow.into());
        }
        let data = Bytes::copy_from_slice(envelope.data);
        channel.receiver.hold(envelope.sequence, envelope.message_type, data);
        while let Some((message_type, data)) = channel.receiver.pop() {
            if message_type == MessageType::STREAM_DATA {
                take_piece(step, &data);
            } else {
                step.events.push(Event::Message { message_type, data });
            }
        }
        Ok(())
    }

    /// Learns who the initiator is; the first identity stays.
    fn on_identify(&mut self, step: &mut Step<'_, '_>, plaintext: &[u8]) -> Result<(), Trouble> {
        if self.role == Role::Initiator || self.identity.is_some() {
            return Err(DropReason::Role.into());
        }
        let identity = identify::verify(step.env, self.link, plaintext)?;
        self.identity = Some(identity);
        step.events.push(Event::Identified { identity });
        Ok(())
    }

    fn on_close(&self, plaintext: &[u8]) -> Result<(), Trouble> {
        if plaintext != self.link.as_bytes() {
            return Err(DropReason::Malformed.into());
        }
        Err(Trouble::Close(self.role.peer().close_reason()))
    }
}

impl From<DropReason> for Trouble {
    fn from(reason: DropReason) -> Self {
        Self::Drop(reason)
    }
}

impl From<Malformed> for Trouble {
    fn from(_: Malformed) -> Self {
        Self::Drop(DropReason::Malformed)
    }
}

/// Adds a piece to its stream. One that is damaged was proved already, so all that is left is to count it.
fn take_piece(step: &mut Step<'_, '_>, message: &Bytes) {
    let taken = StreamData::parse(message).map_err(|_| DropReason::Malformed).and_then(|piece| {
        let readable = step.streams.on_piece(step.env.compression, &piece, message);
        readable.map(|readable| readable.then_some(piece.stream)).map_err(|_| DropReason::Malformed)
    });
    match taken {
        Ok(Some(stream)) => step.events.push(Event::StreamReadable { stream }),
        Ok(None) => {}
        Err(reason) => step.stats.count_drop(reason),
    }
}

/// Returns the round trip that an initiator tells. One that is no time at all is not believed, nor one longer than a
/// handshake lasts.
fn told_rtt(plaintext: &[u8]) -> Result<Duration, Trouble> {
    let number = |plaintext| -> Result<f64, ShapeError> {
        let mut reader = Reader::new(plaintext);
        let seconds = reader.number()?;
        reader.end()?;
        Ok(seconds)
    };
    let seconds = number(plaintext).map_err(|_| DropReason::Malformed)?;
    let rtt = Duration::try_from_secs_f64(seconds).map_err(|_| DropReason::Malformed)?;
    Ok(rtt.min(LONGEST_RTT))
}

/// Returns the id of the request that is in the packet with this hash.
pub(super) fn request_id(packet: PacketHash) -> RequestId {
    RequestId::new(*packet.truncated().as_bytes())
}

const INITIATOR_ALIVE: u8 = 0xff;
const RESPONDER_ALIVE: u8 = 0xfe;
const LONGEST_RTT: Duration = Duration::from_secs(360);
