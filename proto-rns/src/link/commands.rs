//! What an application asks of a link.

use super::{
    ChannelError, IdentifyError, Link, LinkConfig, PacketSink, Phase, RequestError, ResourceError, Role,
    SendError, StreamRead, identify,
    requests::{default_patience, is_worth_compressing},
    session::{Session, Stage, request_id},
    step::Step,
    streams::Piece,
};
use crate::{
    Env, PacketHash, PathHash, RequestId,
    crypto::TokenKey,
    identity::Identity,
    resource::{Carrier, Data, Kind, Outgoing, ResourceId, Resources, UnknownResource},
    wire::{Context, Envelope, MessageType, Request, Response, StreamData, StreamId, msgpack::Reader},
};
use alloc::vec::Vec;
use bytes::Bytes;
use core::time::Duration;

/// Data.
impl Link {
    /// Sends data in one packet, whose hash it returns; an event tells whether the peer proves it.
    ///
    /// # Errors
    /// The link is not established, the data do not fit, or too many packets wait for their proofs.
    pub fn send(
        &mut self,
        env: &mut Env<'_>,
        data: &[u8],
        out: &mut dyn PacketSink,
    ) -> Result<PacketHash, SendError> {
        let (session, mut step, _) = self.open(env, out).ok_or(SendError::NotEstablished)?;
        if data.is_empty() {
            return Err(SendError::Empty);
        }
        if data.len() > session.mdu() {
            return Err(SendError::TooLong { limit: session.mdu() });
        }
        session.receipts.check_room()?;
        let hash = session.outbox.send_hashed(&mut step, Context::None, &[data]);
        session.receipts.await_data(hash, session.rtt(), step.env.now);
        Ok(hash)
    }

    /// Proves a packet of data of the peer, for [`ProofStrategy::App`](super::ProofStrategy::App).
    ///
    /// # Errors
    /// The link is not established.
    pub fn prove(
        &mut self,
        env: &mut Env<'_>,
        packet: PacketHash,
        out: &mut dyn PacketSink,
    ) -> Result<(), SendError> {
        let (session, mut step, _) = self.open(env, out).ok_or(SendError::NotEstablished)?;
        session.keys.prove(&mut session.outbox, &mut step, packet);
        Ok(())
    }

    /// Tells the responder who the initiator is.
    ///
    /// # Errors
    /// The link is not established, or this is not the initiator.
    pub fn identify(
        &mut self,
        env: &mut Env<'_>,
        identity: &Identity,
        out: &mut dyn PacketSink,
    ) -> Result<(), IdentifyError> {
        let (session, mut step, _) = self.open(env, out).ok_or(IdentifyError::NotEstablished)?;
        if session.role != Role::Initiator {
            return Err(IdentifyError::NotInitiator);
        }
        identify::send(&mut session.outbox, &mut step, session.link, identity);
        Ok(())
    }

    /// Closes the link and tells the peer. A link that is closed already stays so.
    pub fn close(&mut self, env: &mut Env<'_>, out: &mut dyn PacketSink) {
        if !matches!(self.phase, Phase::Closed) {
            self.end(env, self.role.close_reason(), out);
        }
    }
}

/// Requests.
impl Link {
    /// Asks for `path` with one MessagePack value, nil if `data` are empty. Without `timeout` the response has six
    /// round trips and 11.25 s, without `max_response` the bytes that the configuration allows.
    ///
    /// # Errors
    /// The link is not established, the data are not one value, or too many requests wait.
    pub fn request(
        &mut self,
        env: &mut Env<'_>,
        path: &str,
        data: &[u8],
        timeout: Option<Duration>,
        max_response: Option<usize>,
        out: &mut dyn PacketSink,
    ) -> Result<RequestId, RequestError> {
        let (session, mut step, config) = self.open(env, out).ok_or(RequestError::NotEstablished)?;
        check_value(data)?;
        if !session.requests.has_room() {
            return Err(RequestError::Full);
        }
        let request = Request { time: step.env.unix_seconds_f64(), path: PathHash::of(path), data };
        let mut plaintext = Vec::new();
        request.emit(&mut plaintext);
        let patience = timeout.unwrap_or_else(|| default_patience(session.rtt()));
        let max_response = max_response.unwrap_or(config.max_response_size);
        let id = if plaintext.len() <= session.mdu() {
            let id = request_id(session.outbox.send_hashed(&mut step, Context::Request, &[&plaintext]));
            session.requests.on_requested(id, patience, max_response);
            session.requests.on_sent(id, step.env.now);
            id
        } else {
            let id = Request::id_of_contents(&plaintext);
            session.send_long(&mut step, Kind::Request(id), plaintext.into(), None)?;
            session.requests.on_requested(id, patience, max_response);
            id
        };
        session.transfers.expect_response(id, max_response);
        Ok(id)
    }

    /// Answers a request of the peer with one MessagePack value, nil if `data` are empty.
    ///
    /// # Errors
    /// The link is not established, the data are not one value, or the request does not wait (any more).
    pub fn respond(
        &mut self,
        env: &mut Env<'_>,
        request: RequestId,
        data: &[u8],
        out: &mut dyn PacketSink,
    ) -> Result<(), RequestError> {
        let (session, mut step, _) = self.open(env, out).ok_or(RequestError::NotEstablished)?;
        check_value(data)?;
        if !session.requests.is_unanswered(request) {
            return Err(RequestError::UnknownRequest);
        }
        let mut plaintext = Vec::new();
        Response { request, data }.emit(&mut plaintext);
        if plaintext.len() <= session.mdu() {
            session.outbox.send(&mut step, Context::Response, &[&plaintext]);
        } else {
            session.send_long(&mut step, Kind::Response(request), plaintext.into(), None)?;
        }
        session.requests.on_answered(request);
        Ok(())
    }

    /// Answers a request of the peer with a file; `metadata` are one MessagePack value.
    ///
    /// # Errors
    /// The link is not established, the metadata are not one value, the request does not wait (any more), or the file
    /// is refused.
    pub fn respond_with_file(
        &mut self,
        env: &mut Env<'_>,
        request: RequestId,
        file: Bytes,
        metadata: Vec<u8>,
        out: &mut dyn PacketSink,
    ) -> Result<(), RequestError> {
        let (session, mut step, _) = self.open(env, out).ok_or(RequestError::NotEstablished)?;
        check_value(&metadata)?;
        if !session.requests.is_unanswered(request) {
            return Err(RequestError::UnknownRequest);
        }
        session.send_long(&mut step, Kind::Response(request), file, Some(metadata))?;
        session.requests.on_answered(request);
        Ok(())
    }
}

/// Resources.
impl Link {
    /// Sends data of any size; events tell how it goes on.
    ///
    /// # Errors
    /// The link is not established, or the resource is refused.
    pub fn send_resource(
        &mut self,
        env: &mut Env<'_>,
        data: impl Into<Data>,
        metadata: Option<Vec<u8>>,
        compress: bool,
        out: &mut dyn PacketSink,
    ) -> Result<ResourceId, ResourceError> {
        let (session, mut step, config) = self.open(env, out).ok_or(ResourceError::NotEstablished)?;
        let outgoing = Outgoing { data: data.into(), metadata, kind: Kind::Plain, compress };
        let id = session.transfers.send(&mut session.outbox, &mut step, outgoing)?;
        session.hand_over(&mut step, config);
        Ok(id)
    }

    /// Accepts a resource that the peer offers.
    ///
    /// # Errors
    /// There is no such offer.
    pub fn accept_resource(
        &mut self,
        env: &mut Env<'_>,
        id: ResourceId,
        out: &mut dyn PacketSink,
    ) -> Result<(), UnknownResource> {
        self.on_resource(env, out, |resources, env, _, carrier| resources.accept(env, id, carrier))
    }

    /// Refuses a resource that the peer offers.
    ///
    /// # Errors
    /// There is no such offer.
    pub fn reject_resource(
        &mut self,
        env: &mut Env<'_>,
        id: ResourceId,
        out: &mut dyn PacketSink,
    ) -> Result<(), UnknownResource> {
        self.on_resource(env, out, |resources, _, _, carrier| resources.reject(id, carrier))
    }

    /// Gives up a resource, in either direction.
    ///
    /// # Errors
    /// There is no such resource.
    pub fn cancel_resource(
        &mut self,
        env: &mut Env<'_>,
        id: ResourceId,
        out: &mut dyn PacketSink,
    ) -> Result<(), UnknownResource> {
        self.on_resource(env, out, |resources, env, key, carrier| resources.cancel(env, key, id, carrier))
    }

    /// Lets `action` decide about a resource, and passes on what comes of it.
    fn on_resource(
        &mut self,
        env: &mut Env<'_>,
        out: &mut dyn PacketSink,
        action: impl FnOnce(
            &mut Resources,
            &mut Env<'_>,
            &TokenKey,
            &mut dyn Carrier,
        ) -> Result<(), UnknownResource>,
    ) -> Result<(), UnknownResource> {
        let (session, mut step, config) = self.open(env, out).ok_or(UnknownResource)?;
        session.transfers.drive(&mut session.outbox, &mut step, action)?;
        session.hand_over(&mut step, config);
        Ok(())
    }
}

/// The channel and its streams.
impl Link {
    /// Takes the peer's channel messages from now on; before, they are neither taken nor proved. Sending opens the
    /// channel, too.
    ///
    /// # Errors
    /// The link is not established.
    pub fn open_channel(&mut self) -> Result<(), ChannelError> {
        match &mut self.phase {
            Phase::Open(session) if matches!(session.stage, Stage::Established(_)) => {
                session.open_channel();
                Ok(())
            }
            Phase::Pending(_) | Phase::Open(_) | Phase::Closed => Err(ChannelError::NotEstablished),
        }
    }

    /// Returns the most data that a message of the channel carries, less two bytes for a piece of a stream.
    pub fn channel_mdu(&self) -> usize {
        channel_mdu(self.mdu())
    }

    /// Sends a message on the channel. It arrives in order, or the link closes.
    ///
    /// # Errors
    /// The link is not established, the message is too long, its type is reserved, or the window is full.
    pub fn channel_send(
        &mut self,
        env: &mut Env<'_>,
        message_type: MessageType,
        data: &[u8],
        out: &mut dyn PacketSink,
    ) -> Result<(), ChannelError> {
        let (session, mut step, _) = self.open(env, out).ok_or(ChannelError::NotEstablished)?;
        if message_type.is_reserved() {
            return Err(ChannelError::ReservedType);
        }
        session.send_message(&mut step, message_type, data)
    }

    /// Writes to a stream on the channel as much as the window allows, and returns how many bytes that were.
    ///
    /// # Errors
    /// The link is not established, or the window is full.
    pub fn stream_write(
        &mut self,
        env: &mut Env<'_>,
        stream: StreamId,
        data: &[u8],
        out: &mut dyn PacketSink,
    ) -> Result<usize, ChannelError> {
        let (session, mut step, config) = self.open(env, out).ok_or(ChannelError::NotEstablished)?;
        let mut rest = data;
        while !rest.is_empty() {
            match session.write_piece(&mut step, config, stream, rest) {
                Ok(consumed) => rest = rest.get(consumed..).unwrap_or_default(),
                Err(ChannelError::Full) if rest.len() < data.len() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(data.len() - rest.len())
    }

    /// Ends a stream on the channel.
    ///
    /// # Errors
    /// The link is not established, or the window is full.
    pub fn stream_close(
        &mut self,
        env: &mut Env<'_>,
        stream: StreamId,
        out: &mut dyn PacketSink,
    ) -> Result<(), ChannelError> {
        let (session, mut step, _) = self.open(env, out).ok_or(ChannelError::NotEstablished)?;
        session.send_piece(&mut step, &StreamData { stream, end: true, compressed: false, data: &[] })
    }

    /// Returns the next bytes of a stream of the peer, also after the link closed.
    pub fn stream_read(&mut self, stream: StreamId) -> StreamRead {
        self.streams.read(stream)
    }

    /// Returns the session of an established link with what a step needs.
    fn open<'s, 'e>(
        &'s mut self,
        env: &'s mut Env<'e>,
        out: &'s mut dyn PacketSink,
    ) -> Option<(&'s mut Session, Step<'s, 'e>, &'s LinkConfig)> {
        let Self { phase, config, events, streams, stats, .. } = self;
        match phase {
            Phase::Open(session) if matches!(session.stage, Stage::Established(_)) => {
                Some((session, Step { env, out, events, streams, stats }, config))
            }
            Phase::Pending(_) | Phase::Open(_) | Phase::Closed => None,
        }
    }
}

impl Session {
    /// Sends a request or response that does not fit into a packet.
    fn send_long(
        &mut self,
        step: &mut Step<'_, '_>,
        kind: Kind,
        data: Bytes,
        metadata: Option<Vec<u8>>,
    ) -> Result<(), RequestError> {
        let compress = is_worth_compressing(data.len(), self.rtt());
        let outgoing = Outgoing { data: data.into(), metadata, kind, compress };
        self.transfers.send(&mut self.outbox, step, outgoing)?;
        Ok(())
    }

    fn send_message(
        &mut self,
        step: &mut Step<'_, '_>,
        message_type: MessageType,
        data: &[u8],
    ) -> Result<(), ChannelError> {
        let limit = channel_mdu(self.mdu());
        if data.len() > limit {
            return Err(ChannelError::TooLong { limit });
        }
        self.open_channel();
        let Some(channel) = &mut self.channel else { return Err(ChannelError::NotEstablished) };
        if !channel.sender.is_ready() {
            return Err(ChannelError::Full);
        }
        let sequence = channel.sender.push(message_type, data);
        self.transmit_message(step, sequence);
        Ok(())
    }

    fn write_piece(
        &mut self,
        step: &mut Step<'_, '_>,
        config: &LinkConfig,
        stream: StreamId,
        data: &[u8],
    ) -> Result<usize, ChannelError> {
        self.open_channel();
        if !self.channel.as_mut().is_some_and(|channel| channel.sender.is_ready()) {
            return Err(ChannelError::Full);
        }
        let room = channel_mdu(self.mdu()).saturating_sub(StreamData::HEADER);
        let compression = config.compress_streams.then_some(step.env.compression);
        let Piece { consumed, compressed } = Piece::cut(compression, data, room);
        let plain = data.get(..consumed).unwrap_or(data);
        let piece = StreamData {
            stream,
            end: false,
            compressed: compressed.is_some(),
            data: compressed.as_deref().unwrap_or(plain),
        };
        self.send_piece(step, &piece)?;
        Ok(consumed)
    }

    fn send_piece(&mut self, step: &mut Step<'_, '_>, piece: &StreamData<'_>) -> Result<(), ChannelError> {
        let mut message = Vec::with_capacity(piece.encoded_len());
        piece.emit(&mut message);
        self.send_message(step, MessageType::STREAM_DATA, &message)
    }
}

/// Makes sure that `data` are one MessagePack value, or none.
fn check_value(data: &[u8]) -> Result<(), RequestError> {
    let is_value = data.is_empty() || Reader::new(data).value().is_ok_and(|value| value.len() == data.len());
    if is_value { Ok(()) } else { Err(RequestError::Data) }
}

/// Returns the most data in a message of the channel, given the most in a packet.
fn channel_mdu(mdu: usize) -> usize {
    mdu.saturating_sub(Envelope::HEADER).min(Envelope::MAX_DATA)
}
