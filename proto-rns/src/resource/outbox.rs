//! What goes out over a link: one resource at a time, one segment of it at a time.

use super::{
    Carrier, Event, FailReason, Kind, Outgoing, PrepareJob, Prepared, ResourceId, SendError, Shared,
    promptness::Promptness, segments::Segments, sender::Sender,
};
use crate::{
    Env, RequestId, ResourceHash,
    crypto::TokenKey,
    wire::{Context, ResourceAdvertisement, ResourceFlags, ResourceProof, ResourceRequest},
};
use alloc::collections::VecDeque;
use core::time::Duration;
use proto_core::Instant;

/// The resources that were given to be sent.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Item>,
    current: Option<Current>,
    /// What comes after the segment under way, ready to be offered.
    ahead: Option<Ahead>,
    /// When to get that ready: as soon as the parts before it have left.
    prepare_at: Option<Instant>,
    /// Before this the next resource is not offered.
    next_at: Option<Instant>,
    promptness: Promptness,
}

#[derive(Debug)]
struct Item {
    id: ResourceId,
    segments: Segments,
    kind: Kind,
    compress: bool,
}

#[derive(Debug)]
struct Current {
    item: Item,
    number: u32,
    first_hash: ResourceHash,
    sender: Sender,
    /// The bytes of the segments before this one.
    done: u64,
}

#[derive(Debug)]
struct Ahead {
    id: ResourceId,
    number: u32,
    prepared: Prepared,
}

impl Outbox {
    pub(super) fn send(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        outgoing: Outgoing,
        carrier: &mut dyn Carrier,
    ) -> Result<ResourceId, SendError> {
        let segments = Segments::new(outgoing.data, outgoing.metadata.as_deref())?;
        let waiting: u64 = self.waiting.iter().map(|item| item.segments.total_size()).sum();
        if self.waiting.len() >= shared.config.max_outgoing
            || waiting.saturating_add(segments.total_size()) > shared.config.max_outgoing_bytes
        {
            return Err(SendError::QueueFull);
        }
        let compress = outgoing.compress && segments.total_size() <= shared.config.compress_limit;
        let id = shared.new_id();
        self.waiting.push_back(Item { id, segments, kind: outgoing.kind, compress });
        if self.current.is_none() {
            self.start_next(shared, env, key, carrier);
        }
        Ok(id)
    }

    pub(super) fn handle_request(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        request: &ResourceRequest<'_>,
        carrier: &mut dyn Carrier,
    ) {
        let Some(current) = self.current_with(request.hash) else {
            shared.stats.stray += 1;
            return;
        };
        if current.sender.is_unanswered() && current.number == 1 {
            shared.events.push(Event::Started { id: current.item.id });
        }
        match current.sender.handle_request(env.now, shared.pace.rtt, request, &mut shared.stats) {
            Ok(()) => {
                self.promptness.on_request(env.now);
                self.flush(shared, env.now, carrier);
            }
            Err(reason) => self.fail_current(shared, env, key, reason, carrier),
        }
    }

    /// Says whether parts that were asked for wait for room.
    pub(super) fn wants_room(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.sender.wants_room())
    }

    /// Sends what was asked for while there is room.
    pub(super) fn flush(&mut self, shared: &mut Shared, now: Instant, carrier: &mut dyn Carrier) {
        let Some(current) = &mut self.current else { return };
        if !current.sender.flush(now, shared.pace.rtt, carrier) {
            return;
        }
        self.promptness.on_parts(now);
        let done = current.done.saturating_add(current.sender.sent_bytes());
        shared.events.push(Event::Progress { id: current.item.id, done, total: current.total() });
        if current.sender.is_all_sent() && self.ahead.is_none() && self.has_next() {
            // The parts leave before this step is due, so that the peer works on them meanwhile.
            self.prepare_at = Some(now + Duration::from_nanos(1));
        }
    }

    pub(super) fn handle_proof(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        proof: &ResourceProof,
        carrier: &mut dyn Carrier,
    ) {
        let Some(current) = self.current.take_if(|current| current.sender.is_proved_by(proof)) else {
            shared.stats.stray += 1;
            return;
        };
        self.promptness.on_proof(env.now, current.sender.segment().stream().len());
        if current.number == current.item.segments.count() {
            shared.events.push(Event::Sent { id: current.item.id, kind: current.item.kind });
            let gap = if self.promptness.is_prompt() { Duration::ZERO } else { shared.resource_gap() };
            self.next_at = Some(env.now + gap);
            self.start_next(shared, env, key, carrier);
        } else {
            let done = current.done.saturating_add(current.sender.segment().stream().len() as u64);
            let first_hash = Some(current.first_hash);
            self.offer(shared, env, key, (current.item, current.number + 1), (first_hash, done), carrier);
            self.start_next(shared, env, key, carrier);
        }
    }

    /// The receiver refuses the segment, or gives it up.
    pub(super) fn handle_cancel(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        hash: ResourceHash,
        carrier: &mut dyn Carrier,
    ) {
        let Some(current) = self.current_with(hash) else {
            shared.stats.stray += 1;
            return;
        };
        let was_unanswered = current.sender.is_unanswered();
        let reason = if was_unanswered { FailReason::Rejected } else { FailReason::CancelledByPeer };
        self.drop_current(shared, reason);
        self.start_next(shared, env, key, carrier);
    }

    /// The application gives a resource up. Says whether it was one of these.
    pub(super) fn cancel(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        id: ResourceId,
        carrier: &mut dyn Carrier,
    ) -> bool {
        if self.current.as_ref().is_some_and(|current| current.item.id == id) {
            self.fail_current(shared, env, key, FailReason::Cancelled, carrier);
            return true;
        }
        let Some(place) = self.waiting.iter().position(|item| item.id == id) else { return false };
        if let Some(item) = self.waiting.remove(place) {
            shared.events.push(item.failed(FailReason::Cancelled));
        }
        true
    }

    /// The link closed.
    pub(super) fn close(&mut self, shared: &mut Shared) {
        self.drop_current(shared, FailReason::Cancelled);
        for item in self.waiting.drain(..) {
            shared.events.push(item.failed(FailReason::Cancelled));
        }
        self.ahead = None;
        self.prepare_at = None;
    }

    pub(super) fn handle_timeout(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        carrier: &mut dyn Carrier,
    ) {
        if self.prepare_at.is_some_and(|at| at <= env.now) {
            self.prepare_at = None;
            self.prepare_ahead(shared, env, key);
        }
        self.start_next(shared, env, key, carrier);
        let Some(current) = &mut self.current else { return };
        if let Err(reason) = current.sender.handle_timeout(env.now, shared.pace.rtt, shared.link, carrier) {
            self.fail_current(shared, env, key, reason, carrier);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let current = self.current.as_ref().map(|current| current.sender.deadline());
        let next = self.next_at.filter(|_| self.current.is_none() && !self.waiting.is_empty());
        [current, self.prepare_at, next].into_iter().flatten().min()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.waiting.is_empty()
    }

    /// Returns the resource under way, and the hash of its first segment.
    pub(super) fn under_way(&self) -> Option<(ResourceId, ResourceHash)> {
        self.current.as_ref().map(|current| (current.item.id, current.first_hash))
    }

    fn prepare_ahead(&mut self, shared: &Shared, env: &mut Env<'_>, key: &TokenKey) {
        let Some((id, number, Some(job))) = self.next_job(shared) else { return };
        let prepared = job.run(env.crypto, env.compression, key, env.entropy);
        self.ahead = Some(Ahead { id, number, prepared });
    }

    /// Says whether something comes after the segment under way.
    fn has_next(&self) -> bool {
        let current = self.current.as_ref();
        !self.waiting.is_empty()
            || current.is_some_and(|current| current.number < current.item.segments.count())
    }

    /// Returns what is to be prepared next, where its data can be read: the segment after the current one, or the first of what waits.
    fn next_job(&self, shared: &Shared) -> Option<(ResourceId, u32, Option<PrepareJob>)> {
        let further = self.current.as_ref().filter(|current| current.number < current.item.segments.count());
        let (item, number) = match further {
            Some(current) => (&current.item, current.number + 1),
            None => (self.waiting.front()?, 1),
        };
        Some((item.id, number, item.job(number, shared.part_size)))
    }

    /// Offers the first of what waits, unless something is under way or it is too early.
    fn start_next(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        carrier: &mut dyn Carrier,
    ) {
        if self.next_at.is_some_and(|at| env.now < at) {
            return;
        }
        while self.current.is_none()
            && let Some(item) = self.waiting.pop_front()
        {
            self.offer(shared, env, key, (item, 1), (None, 0), carrier);
        }
    }

    /// Offers a segment, unless its data cannot be read.
    fn offer(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        (item, number): (Item, u32),
        (first_hash, done): (Option<ResourceHash>, u64),
        carrier: &mut dyn Carrier,
    ) {
        self.prepare_at = None;
        let ahead = self.ahead.take().filter(|ahead| ahead.id == item.id && ahead.number == number);
        let segment = match ahead {
            Some(ahead) => ahead.prepared,
            None => match item.job(number, shared.part_size) {
                Some(job) => job.run(env.crypto, env.compression, key, env.entropy),
                None => return shared.events.push(item.failed(FailReason::Unreadable)),
            },
        };
        let first_hash = first_hash.unwrap_or_else(|| segment.hash());
        let advertisement = item.advertisement(number, first_hash, &segment).to_vec();
        let sender = Sender::new(segment, advertisement, env.now, shared.pace.rtt, carrier);
        self.promptness.on_offer(env.now);
        self.current = Some(Current { item, number, first_hash, sender, done });
    }

    /// Tells the receiver that its resource ends here, and goes on with the next.
    fn fail_current(
        &mut self,
        shared: &mut Shared,
        env: &mut Env<'_>,
        key: &TokenKey,
        reason: FailReason,
        carrier: &mut dyn Carrier,
    ) {
        if let Some(current) = &self.current {
            let hash = current.sender.segment().hash();
            carrier.send(Context::ResourceInitiatorCancel, hash.as_bytes());
        }
        self.drop_current(shared, reason);
        self.start_next(shared, env, key, carrier);
    }

    fn drop_current(&mut self, shared: &mut Shared, reason: FailReason) {
        if let Some(current) = self.current.take() {
            shared.events.push(current.item.failed(reason));
        }
    }

    fn current_with(&mut self, hash: ResourceHash) -> Option<&mut Current> {
        self.current.as_mut().filter(|current| current.sender.segment().hash() == hash)
    }
}

impl Item {
    fn job(&self, number: u32, part_size: usize) -> Option<PrepareJob> {
        Some(PrepareJob { content: self.segments.get(number)?, compress: self.compress, part_size })
    }

    fn advertisement<'a>(
        &self,
        number: u32,
        first_hash: ResourceHash,
        segment: &'a Prepared,
    ) -> ResourceAdvertisement<'a> {
        ResourceAdvertisement {
            transfer_size: segment.stream().len() as u64,
            data_size: self.segments.total_size(),
            parts: u32::try_from(segment.parts()).unwrap_or(u32::MAX),
            hash: segment.hash(),
            salt: segment.salt(),
            first_hash,
            segment: number,
            segments: self.segments.count(),
            request: self.kind.request(),
            flags: ResourceFlags {
                encrypted: true,
                compressed: segment.is_compressed(),
                split: self.segments.count() > 1,
                is_request: matches!(self.kind, Kind::Request(_)),
                is_response: matches!(self.kind, Kind::Response(_)),
                has_metadata: self.segments.has_metadata(),
            },
            hashmap: segment.hashes(0..ResourceAdvertisement::MAX_HASHES),
        }
    }

    fn failed(&self, reason: FailReason) -> Event {
        Event::Failed { id: self.id, kind: self.kind, reason }
    }
}

impl Current {
    /// Returns about how many bytes go over the link: only the sealed segment's length is known.
    fn total(&self) -> u64 {
        if self.item.segments.count() == 1 {
            self.sender.segment().stream().len() as u64
        } else {
            self.item.segments.total_size()
        }
    }
}

impl Kind {
    /// Returns the request that this is, or answers.
    pub const fn request(self) -> Option<RequestId> {
        match self {
            Self::Plain => None,
            Self::Request(request) | Self::Response(request) => Some(request),
        }
    }
}
