//! A link's resources: carried by its packets, used by its requests (spec 1.11, 1.12).

use super::{
    CloseReason, DropReason, Event, LinkConfig, LinkStats, PacketSink, RequestFailure,
    outbox::{self, Outbox},
    session::{Session, Trouble},
    step::Step,
};
use crate::{
    Env, LinkHash, RequestId, ResourceHash,
    crypto::TokenKey,
    resource::{
        Carrier, Event as ResourceEvent, FailReason, Kind, Outgoing, ResourceConfig, ResourceConfigError,
        ResourceId, Resources, SendError,
    },
    wire::{Context, PacketType, Request, ResourceAdvertisement, Response},
};
use alloc::{collections::BTreeMap, vec::Vec};
use bytes::Bytes;
use core::time::Duration;
use proto_core::Instant;

/// The resources of a link.
#[derive(Debug)]
pub(super) struct Transfers {
    link: LinkHash,
    resources: Resources,
    /// Which of the resources under way are requests or responses; their progress is not the application's.
    kinds: BTreeMap<ResourceId, Kind>,
    /// What the advertisement that is being taken is for: only then does an incoming resource tell.
    advertised: Kind,
}

impl Transfers {
    /// Says whether parts that were asked for wait for room.
    pub(super) fn wants_room(&self) -> bool {
        self.resources.wants_room()
    }

    pub(super) fn new(
        link: LinkHash,
        mtu: usize,
        config: &ResourceConfig,
    ) -> Result<Self, ResourceConfigError> {
        let mut resources = Resources::new(config.clone(), link, mtu)?;
        resources.set_establishment_bytes(HANDSHAKE_BYTES);
        Ok(Self { link, resources, kinds: BTreeMap::new(), advertised: Kind::Plain })
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.resources.set_rtt(rtt);
    }

    /// Returns the resource that is being sent, and its hash.
    pub(super) fn outgoing(&self) -> Option<(ResourceId, ResourceHash)> {
        self.resources.outgoing()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.resources.poll_timeout()
    }

    pub(super) const fn resources(&mut self) -> &mut Resources {
        &mut self.resources
    }

    /// Expects a response that may come as a resource.
    pub(super) fn expect_response(&mut self, id: RequestId, limit: usize) {
        self.resources.expect_response(id, u64::try_from(limit).unwrap_or(u64::MAX));
    }

    /// No longer takes a resource as the response to this request.
    pub(super) fn forget_response(&mut self, id: RequestId) {
        self.resources.forget_response(id);
    }

    /// Lets the resources do something that may need packets sent.
    pub(super) fn drive<T>(
        &mut self,
        outbox: &mut Outbox,
        step: &mut Step<'_, '_>,
        action: impl FnOnce(&mut Resources, &mut Env<'_>, &TokenKey, &mut dyn Carrier) -> T,
    ) -> T {
        let mut carrier = LinkCarrier {
            link: self.link,
            out: &mut *step.out,
            stats: &mut *step.stats,
            sent: false,
            control: Vec::new(),
        };
        let result = action(&mut self.resources, step.env, outbox.key(), &mut carrier);
        let LinkCarrier { sent, control, .. } = carrier;
        if sent {
            outbox.on_sent(step.env.now);
        }
        for (context, plaintext) in control {
            outbox.send(step, context, &[&plaintext]);
        }
        result
    }

    /// Sends data as a resource.
    pub(super) fn send(
        &mut self,
        outbox: &mut Outbox,
        step: &mut Step<'_, '_>,
        outgoing: Outgoing,
    ) -> Result<ResourceId, SendError> {
        let kind = outgoing.kind;
        let id = self.drive(outbox, step, |resources, env, key, carrier| {
            resources.send(env, key, outgoing, carrier)
        })?;
        if kind != Kind::Plain {
            self.kinds.insert(id, kind);
        }
        Ok(id)
    }
}

impl Session {
    /// Passes on what happened to resources: to the application, or to the request that one stands for.
    ///
    /// # Errors
    /// What the peer sent is not what it said, which is dropped or closes the link.
    pub(super) fn on_transfers(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
    ) -> Result<(), Trouble> {
        let mut result = Ok(());
        while let Some(event) = self.transfers.resources().poll_event() {
            let outcome = self.on_transfer(step, config, event);
            result = result.and(outcome);
        }
        result
    }

    /// As [`on_transfers`](Self::on_transfers), after a command: what the application does is no fault of the peer.
    pub(super) fn hand_over(&mut self, step: &mut Step<'_, '_>, config: &LinkConfig) {
        let _ = self.on_transfers(step, config);
    }

    /// Takes one of the packets by which the ends of a resource understand each other.
    ///
    /// # Errors
    /// As for [`on_transfers`](Self::on_transfers).
    pub(super) fn on_resource_control(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        context: Context,
        plaintext: &[u8],
    ) -> Result<(), Trouble> {
        if context == Context::ResourceAdvertisement {
            self.on_advertisement(step, plaintext);
        }
        self.transfers.drive(&mut self.outbox, step, |resources, env, key, carrier| {
            if context == Context::ResourceAdvertisement {
                resources.handle_advertisement(env, plaintext, carrier);
            } else if context == Context::ResourceRequest {
                resources.handle_request(env, key, plaintext, carrier);
            } else if context == Context::ResourceHashmapUpdate {
                resources.handle_hashmap_update(env, plaintext, carrier);
            } else if context == Context::ResourceInitiatorCancel {
                resources.handle_sender_cancel(plaintext);
            } else {
                resources.handle_receiver_cancel(env, key, plaintext, carrier);
            }
        });
        let result = self.on_transfers(step, config);
        self.transfers.advertised = Kind::Plain;
        result
    }

    /// Looks at what is offered before the resource does: a response that is too long ends its request at once.
    fn on_advertisement(&mut self, step: &mut Step<'_, '_>, plaintext: &[u8]) {
        let Ok(advertisement) = ResourceAdvertisement::parse(plaintext) else { return };
        let Some(id) = advertisement.request else { return };
        if advertisement.flags.is_request {
            self.transfers.advertised = Kind::Request(id);
        } else if advertisement.flags.is_response {
            self.transfers.advertised = Kind::Response(id);
            if !self.requests.allows_response(id, advertisement.data_size) {
                self.on_request_failed(step, id, RequestFailure::TooLarge);
            }
        }
    }

    fn on_transfer(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        event: ResourceEvent,
    ) -> Result<(), Trouble> {
        match event {
            ResourceEvent::Received { id, kind: Kind::Request(_), data, .. } => {
                self.transfers.kinds.remove(&id);
                self.on_request(step, config, Request::id_of_contents(&data), &data)
            }
            ResourceEvent::Received { id, kind: Kind::Response(request), data, metadata } => {
                self.transfers.kinds.remove(&id);
                self.on_long_response(step, request, data, metadata)
            }
            ResourceEvent::Sent { id, kind: Kind::Request(request) } => {
                self.transfers.kinds.remove(&id);
                self.requests.on_sent(request, step.env.now);
                Ok(())
            }
            ResourceEvent::Sent { id, kind: Kind::Response(_) } => {
                self.transfers.kinds.remove(&id);
                Ok(())
            }
            ResourceEvent::Failed { id, kind, reason } => {
                self.transfers.kinds.remove(&id);
                match kind {
                    Kind::Plain => step.events.push(Event::Resource(event)),
                    Kind::Request(request) => self.on_request_failed(step, request, RequestFailure::NotSent),
                    Kind::Response(request) => {
                        self.on_request_failed(step, request, response_failure(reason));
                    }
                }
                // A peer that sends something else than it says cannot be trusted with the rest.
                if reason == FailReason::Corrupt {
                    return Err(Trouble::Close(CloseReason::CorruptResource));
                }
                Ok(())
            }
            ResourceEvent::Started { id } if self.transfers.advertised != Kind::Plain => {
                let kind = self.transfers.advertised;
                self.transfers.kinds.insert(id, kind);
                if let Kind::Response(request) = kind {
                    self.requests.on_response_started(request);
                }
                Ok(())
            }
            ResourceEvent::Progress { id, done, total } => {
                match self.transfers.kinds.get(&id) {
                    None => step.events.push(Event::Resource(event)),
                    Some(Kind::Response(request)) if self.requests.is_pending(*request) => {
                        let id = *request;
                        step.events.push(Event::ResponseProgress { id, received: done, total });
                    }
                    Some(Kind::Plain | Kind::Request(_) | Kind::Response(_)) => {}
                }
                Ok(())
            }
            ResourceEvent::Started { id } if self.transfers.kinds.contains_key(&id) => Ok(()),
            ResourceEvent::Offered(_)
            | ResourceEvent::Started { .. }
            | ResourceEvent::SegmentReceived { .. }
            | ResourceEvent::Received { kind: Kind::Plain, .. }
            | ResourceEvent::Sent { kind: Kind::Plain, .. } => {
                step.events.push(Event::Resource(event));
                Ok(())
            }
        }
    }

    fn on_long_response(
        &mut self,
        step: &mut Step<'_, '_>,
        id: RequestId,
        data: Bytes,
        metadata: Option<Bytes>,
    ) -> Result<(), Trouble> {
        if let Some(metadata) = metadata {
            if !self.requests.on_failed(id) {
                return Err(DropReason::UnknownResponse.into());
            }
            self.transfers.forget_response(id);
            step.events.push(Event::ResponseFile { id, data, metadata });
            return Ok(());
        }
        match Response::parse(&data) {
            Ok(response) if response.request == id => {
                let contents = data.slice_ref(response.data);
                self.on_response_data(step, id, contents)
            }
            Ok(_) | Err(_) => {
                self.on_request_failed(step, id, RequestFailure::Broken);
                Err(DropReason::Malformed.into())
            }
        }
    }

    /// Ends a request of this end. One of the peer, or its response, ends silently: the peer has a clock.
    fn on_request_failed(&mut self, step: &mut Step<'_, '_>, id: RequestId, reason: RequestFailure) {
        if self.requests.on_failed(id) {
            self.transfers.forget_response(id);
            step.events.push(Event::RequestFailed { id, reason });
        }
    }
}

/// The link as resources see it.
///
/// What needs sealing is sealed once the resource has finished its step, because its vector comes from the entropy that
/// the resource itself is drawing from.
struct LinkCarrier<'a> {
    link: LinkHash,
    out: &'a mut dyn PacketSink,
    stats: &'a mut LinkStats,
    sent: bool,
    control: Vec<(Context, Vec<u8>)>,
}

impl Carrier for LinkCarrier<'_> {
    fn send(&mut self, context: Context, plaintext: &[u8]) {
        self.control.push((context, plaintext.into()));
    }

    fn send_raw(&mut self, packet_type: PacketType, context: Context, data: &[u8]) {
        self.sent = true;
        self.stats.count_sent(data.len());
        self.out.send(&outbox::packet(self.link, packet_type, context, data));
    }

    fn room(&self) -> usize {
        self.out.room()
    }
}

const fn response_failure(reason: FailReason) -> RequestFailure {
    match reason {
        FailReason::TooLarge => RequestFailure::TooLarge,
        FailReason::Cancelled
        | FailReason::CancelledByPeer
        | FailReason::Rejected
        | FailReason::Unanswered
        | FailReason::TimedOut
        | FailReason::Unproved
        | FailReason::OutOfSequence
        | FailReason::Corrupt
        | FailReason::Unreadable => RequestFailure::Broken,
    }
}

/// The bytes of a request for a link and of its proof: with the round trip, the first guess at the link's rate.
const HANDSHAKE_BYTES: u64 = 86 + 118;
