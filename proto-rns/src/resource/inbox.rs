//! What comes in over a link.

use super::{
    Carrier, Deliver, Event, FailReason, Kind, Offer, Refusal, ResourceId, Shared, Strategy, UnknownResource,
    Window,
    hashmap::PartHash,
    offer,
    proof_delay::ProofPacer,
    receiver::{Accepted, PartOutcome, Receiver},
    recent::{Answer, Recent},
    transfer::{Stage, Transfer, memory_for},
};
use crate::{
    Env, RequestId, ResourceHash,
    compression::Compression,
    crypto::TokenKey,
    wire::{Context, HashmapUpdate, PacketType, ResourceAdvertisement, ResourceProof},
};
use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// The resources that the peer sends.
#[derive(Debug)]
pub(super) struct Inbox {
    transfers: Vec<Transfer>,
    /// Requests whose responses may come as resources, and how large these may be.
    expected: Vec<(RequestId, u64)>,
    recent: Recent,
    /// Proofs that wait on purpose; at most one a transfer.
    held: VecDeque<(Instant, ResourceProof)>,
    pacer: ProofPacer,
    /// The window of the next segment.
    window: Window,
}

impl Inbox {
    pub(super) const fn new(pacer: ProofPacer) -> Self {
        Self {
            transfers: Vec::new(),
            expected: Vec::new(),
            recent: Recent::new(),
            held: VecDeque::new(),
            pacer,
            window: Window::new(),
        }
    }

    pub(super) fn expect_response(&mut self, request: RequestId, limit: u64) {
        self.forget_response(request);
        self.expected.push((request, limit));
    }

    pub(super) fn forget_response(&mut self, request: RequestId) {
        self.expected.retain(|(expected, _)| *expected != request);
    }

    pub(super) fn handle_advertisement(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        advertisement: &ResourceAdvertisement<'_>,
        carrier: &mut dyn Carrier,
    ) {
        if let Some(answer) = self.recent.get(advertisement.hash) {
            self.answer_again(shared, answer, carrier);
            return;
        }
        let known =
            self.transfers.iter().position(|transfer| transfer.offer.hash == advertisement.first_hash);
        let judged = match known {
            Some(index) => self.go_on(shared, now, index, advertisement, carrier),
            None => self.begin(shared, now, advertisement, carrier),
        };
        if let Err(reason) = judged {
            self.refuse(shared, advertisement.hash, reason, carrier);
        }
    }

    pub(super) fn handle_part(
        &mut self,
        shared: &mut Shared,
        env: &Env<'_>,
        key: &TokenKey,
        part: &[u8],
        carrier: &mut dyn Carrier,
    ) {
        let hash = PartHash::new(part);
        for index in 0..self.transfers.len() {
            let Some(transfer) = self.transfers.get_mut(index) else { return };
            let Some(receiver) = transfer.receiver() else { continue };
            match receiver.handle_part(env.now, env.crypto, key, part, &hash, carrier) {
                PartOutcome::Stray => continue,
                PartOutcome::Misfit => shared.stats.misfit_parts += 1,
                PartOutcome::Stored => {
                    transfer.progress().into_iter().for_each(|event| shared.events.push(event))
                }
                PartOutcome::Last => self.conclude(shared, env.now, env.compression, index, carrier),
            }
            return;
        }
        shared.stats.stray_parts += 1;
    }

    pub(super) fn handle_update(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        update: &HashmapUpdate<'_>,
        carrier: &mut dyn Carrier,
    ) {
        let mut receivers = self.transfers.iter_mut().filter_map(Transfer::receiver);
        let is_news = receivers
            .find(|receiver| receiver.hash() == update.hash)
            .is_some_and(|receiver| receiver.handle_update(now, update, carrier));
        if !is_news {
            shared.stats.stray += 1;
        }
    }

    /// The sender gives a segment up, and the resource with it.
    pub(super) fn handle_cancel(&mut self, shared: &mut Shared, hash: ResourceHash) {
        match self.transfers.iter().position(|transfer| transfer.segment_hash() == hash) {
            Some(index) => self.drop_transfer(shared, index, FailReason::CancelledByPeer),
            None => shared.stats.stray += 1,
        }
    }

    /// Repeats the proof that went in the packet with this hash. Says whether there was one.
    pub(super) fn handle_cache_request(
        &mut self,
        shared: &mut Shared,
        packet: &[u8],
        carrier: &mut dyn Carrier,
    ) -> bool {
        let proof = self.recent.proof_in(shared.link, packet);
        if let Some(proof) = proof {
            self.answer_again(shared, Answer::Proved(proof), carrier);
        }
        proof.is_some()
    }

    pub(super) fn accept(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        id: ResourceId,
        carrier: &mut dyn Carrier,
    ) -> Result<(), UnknownResource> {
        let index = self.position(id).ok_or(UnknownResource)?;
        let accepted = match self.transfers.get(index).map(|transfer| &transfer.stage) {
            Some(Stage::Offered { accepted, .. }) => accepted.clone(),
            Some(Stage::Receiving(_) | Stage::Between { .. }) | None => return Err(UnknownResource),
        };
        self.start(shared, now, index, &accepted, carrier);
        Ok(())
    }

    pub(super) fn reject(
        &mut self,
        shared: &mut Shared,
        id: ResourceId,
        carrier: &mut dyn Carrier,
    ) -> Result<(), UnknownResource> {
        let is_offered = |transfer: &Transfer| matches!(transfer.stage, Stage::Offered { .. });
        let index = self.position(id).ok_or(UnknownResource)?;
        if !self.transfers.get(index).is_some_and(is_offered) {
            return Err(UnknownResource);
        }
        let transfer = self.transfers.remove(index);
        self.refuse(shared, transfer.segment_hash(), Refusal::Unwanted, carrier);
        Ok(())
    }

    /// The application gives a resource up. Says whether it was one of these.
    pub(super) fn cancel(&mut self, shared: &mut Shared, id: ResourceId, carrier: &mut dyn Carrier) -> bool {
        let index = self.position(id);
        if let Some(index) = index {
            self.fail(shared, index, FailReason::Cancelled, carrier);
        }
        index.is_some()
    }

    /// The link closed.
    pub(super) fn close(&mut self, shared: &mut Shared) {
        for transfer in self.transfers.drain(..) {
            shared.events.push(transfer.failed(FailReason::Cancelled));
        }
        self.held.clear();
        self.expected.clear();
    }

    pub(super) fn handle_timeout(&mut self, shared: &mut Shared, now: Instant, carrier: &mut dyn Carrier) {
        while let Some(proof) = self.due_proof(now) {
            self.pacer.on_proof(now);
            send_proof(&proof, carrier);
        }
        // From the back, so that a transfer that is dropped does not move those still to be looked at.
        for index in (0..self.transfers.len()).rev() {
            let Some(transfer) = self.transfers.get_mut(index) else { continue };
            if now < transfer.deadline() {
                continue;
            }
            let result = match &mut transfer.stage {
                Stage::Receiving(receiver) => receiver.handle_timeout(now, &mut shared.stats, carrier),
                Stage::Offered { .. } => Err(FailReason::Unanswered),
                Stage::Between { .. } => Err(FailReason::TimedOut),
            };
            if let Err(reason) = result {
                self.fail(shared, index, reason, carrier);
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let held = self.held.front().map(|(at, _)| *at);
        self.transfers.iter().map(Transfer::deadline).chain(held).min()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.transfers.is_empty() && self.held.is_empty()
    }

    /// Judges the first segment of a resource.
    fn begin(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        advertisement: &ResourceAdvertisement<'_>,
        carrier: &mut dyn Carrier,
    ) -> Result<(), Refusal> {
        let kind = offer::kind(advertisement)?;
        let (limit, deliver) = self.terms(shared, kind)?;
        if advertisement.data_size > limit {
            return Err(Refusal::TooLarge);
        }
        if self.transfers.len() >= shared.config.max_incoming || shared.events.is_full() {
            return Err(Refusal::TooMany);
        }
        if advertisement.segment > 1 || advertisement.hash != advertisement.first_hash {
            return Err(Refusal::OutOfOrder);
        }
        let accepted = offer::check(advertisement, shared.part_size)?;
        let memory = memory_for(&accepted, advertisement.data_size, advertisement.segments, deliver);
        if !self.has_memory(shared, memory) {
            return Err(Refusal::NoMemory);
        }
        let offer = Offer {
            id: shared.new_id(),
            hash: advertisement.hash,
            kind,
            total_size: advertisement.data_size,
            has_metadata: advertisement.flags.has_metadata,
            segments: advertisement.segments,
        };
        let until = now + shared.config.segment_gap;
        let stage = Stage::Offered { accepted: accepted.clone(), until };
        self.transfers.push(Transfer::new(offer, deliver, memory, stage));
        if kind == Kind::Plain && shared.config.strategy == Strategy::App {
            shared.events.push(Event::Offered(offer));
        } else {
            self.start(shared, now, self.transfers.len() - 1, &accepted, carrier);
        }
        Ok(())
    }

    /// Judges a segment of a resource that is under way.
    fn go_on(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        index: usize,
        advertisement: &ResourceAdvertisement<'_>,
        carrier: &mut dyn Carrier,
    ) -> Result<(), Refusal> {
        let has_memory = self.has_memory(shared, 0);
        let transfer = self.transfers.get_mut(index).ok_or(Refusal::OutOfOrder)?;
        if transfer.segment_hash() == advertisement.hash {
            if let Some(receiver) = transfer.receiver() {
                receiver.on_offered_again(now, carrier);
            }
            return Ok(());
        }
        let is_next = matches!(transfer.stage, Stage::Between { .. })
            && advertisement.segment == transfer.number
            && advertisement.segments == transfer.offer.segments
            && advertisement.data_size == transfer.offer.total_size
            && offer::kind(advertisement) == Ok(transfer.offer.kind);
        if !is_next {
            return Err(Refusal::OutOfOrder);
        }
        let accepted = match offer::check(advertisement, shared.part_size) {
            Ok(accepted) => accepted,
            Err(reason) => {
                self.drop_transfer(shared, index, FailReason::Corrupt);
                return Err(reason);
            }
        };
        self.pacer.on_next_offer(now, shared.pace.rtt);
        if has_memory {
            self.start(shared, now, index, &accepted, carrier);
        } else {
            // The application has not taken what came before. The sender will offer the segment again.
            shared.stats.count_refusal(Refusal::NoMemory);
        }
        Ok(())
    }

    /// Returns how large a resource of this kind may be, and how it is handed out.
    fn terms(&self, shared: &Shared, kind: Kind) -> Result<(u64, Deliver), Refusal> {
        let config = &shared.config;
        match kind {
            Kind::Plain if config.strategy == Strategy::None => Err(Refusal::Unwanted),
            Kind::Plain => Ok((config.max_incoming_size, config.deliver)),
            Kind::Request(_) => Ok((config.max_request_size, Deliver::Whole)),
            Kind::Response(request) => {
                let expected = self.expected.iter().find(|(expected, _)| *expected == request);
                expected.map(|(_, limit)| (*limit, Deliver::Whole)).ok_or(Refusal::Unrequested)
            }
        }
    }

    fn has_memory(&self, shared: &Shared, wanted: usize) -> bool {
        let reserved = self.transfers.iter().map(|transfer| transfer.reserved);
        let used = reserved.chain([shared.events.held_bytes(), wanted]).fold(0, usize::saturating_add);
        used <= shared.config.max_incoming_bytes
    }

    fn start(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        index: usize,
        accepted: &Accepted,
        carrier: &mut dyn Carrier,
    ) {
        let Some(transfer) = self.transfers.get_mut(index) else { return };
        let receiver = Receiver::new(accepted, self.window, &shared.pace, now, carrier);
        transfer.stage = Stage::Receiving(Box::new(receiver));
        if transfer.number == 1 {
            shared.events.push(Event::Started { id: transfer.id() });
        }
    }

    /// The last part of a segment came.
    fn conclude(
        &mut self,
        shared: &mut Shared,
        now: Instant,
        compression: &dyn Compression,
        index: usize,
        carrier: &mut dyn Carrier,
    ) {
        let Some(transfer) = self.transfers.get_mut(index) else { return };
        let last = transfer.segment_hash();
        let until = now + shared.config.segment_gap;
        let stage = core::mem::replace(&mut transfer.stage, Stage::Between { last, until });
        let Stage::Receiving(receiver) = stage else { return };
        self.window = receiver.window().for_next_resource();
        shared.pace.last_rate = receiver.measured_rate().or(shared.pace.last_rate);
        let stream_len = receiver.transfer_size();
        let taken = receiver.finish(compression).and_then(|assembled| {
            let event = transfer.take_segment(assembled.content, stream_len)?;
            Ok((event, assembled.proof))
        });
        let (event, proof) = match taken {
            Ok(taken) => taken,
            Err(reason) => return self.fail(shared, index, reason, carrier),
        };
        let is_last = transfer.is_last();
        transfer.number = transfer.number.saturating_add(1);
        if is_last {
            self.transfers.remove(index);
        }
        event.into_iter().for_each(|event| shared.events.push(event));
        self.prove(now, proof, is_last, carrier);
    }

    fn prove(&mut self, now: Instant, proof: ResourceProof, is_last: bool, carrier: &mut dyn Carrier) {
        self.recent.push(Answer::Proved(proof));
        let delay = if is_last { Duration::ZERO } else { self.pacer.delay() };
        if delay > Duration::ZERO {
            self.held.push_back((now + delay, proof));
            return;
        }
        if !is_last {
            self.pacer.on_proof(now);
        }
        send_proof(&proof, carrier);
    }

    fn answer_again(&mut self, shared: &mut Shared, answer: Answer, carrier: &mut dyn Carrier) {
        match answer {
            Answer::Proved(proof) => {
                self.held.retain(|(_, held)| held.hash != proof.hash);
                shared.stats.repeated_proofs += 1;
                send_proof(&proof, carrier);
            }
            Answer::Refused(hash) => carrier.send(Context::ResourceReceiverCancel, hash.as_bytes()),
        }
    }

    fn refuse(
        &mut self,
        shared: &mut Shared,
        hash: ResourceHash,
        reason: Refusal,
        carrier: &mut dyn Carrier,
    ) {
        shared.stats.count_refusal(reason);
        self.recent.push(Answer::Refused(hash));
        carrier.send(Context::ResourceReceiverCancel, hash.as_bytes());
    }

    /// Gives a transfer up and tells the sender.
    fn fail(&mut self, shared: &mut Shared, index: usize, reason: FailReason, carrier: &mut dyn Carrier) {
        if let Some(transfer) = self.transfers.get(index) {
            let hash = transfer.segment_hash();
            self.recent.push(Answer::Refused(hash));
            carrier.send(Context::ResourceReceiverCancel, hash.as_bytes());
        }
        self.drop_transfer(shared, index, reason);
    }

    fn drop_transfer(&mut self, shared: &mut Shared, index: usize, reason: FailReason) {
        if index < self.transfers.len() {
            let transfer = self.transfers.remove(index);
            shared.events.push(transfer.failed(reason));
        }
    }

    fn due_proof(&mut self, now: Instant) -> Option<ResourceProof> {
        let is_due = self.held.front().is_some_and(|(at, _)| *at <= now);
        if is_due { self.held.pop_front().map(|(_, proof)| proof) } else { None }
    }

    fn position(&self, id: ResourceId) -> Option<usize> {
        self.transfers.iter().position(|transfer| transfer.id() == id)
    }
}

fn send_proof(proof: &ResourceProof, carrier: &mut dyn Carrier) {
    carrier.send_raw(PacketType::Proof, Context::ResourceProof, &proof.to_bytes());
}
