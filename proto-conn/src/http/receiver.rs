//! The receiving half of a session, the same in both roles: a head, its body, and so on.

use alloc::vec::Vec;
use proto_core::Instant;

#[cfg(feature = "deflate")]
use super::decoding::Decoding;
use super::{
    body::BodyReader,
    chunked::Piece,
    collector::{Collector, Wanted},
    config::Config,
    event::{Event, Inbox},
    facts::Facts,
    fault::Fault,
    framing::Framing,
    head::{HeadReader, HeadRules},
};
use crate::{Flags, Kind, Message};

/// Turns a stream's bytes into messages and parts of them.
#[derive(Debug)]
pub(super) struct Receiver {
    rules: HeadRules,
    head: HeadReader,
    body: BodyReader,
    collector: Collector,
    inbox: Inbox,
    /// The message that is being received; of a streamed one, the trailers.
    message: Message,
    stage: Stage,
    /// Messages whose memory is used again.
    spares: Vec<Message>,
}

/// Where in a message the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Head,
    Body,
    /// Behind a body's end, parts of which the application has yet to read.
    End,
}

/// How a body is received.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyPlan {
    pub(super) framing: Framing,
    pub(super) wanted: Wanted,
    /// Whether a content coding is undone.
    pub(super) decode: bool,
}

impl Receiver {
    pub(super) fn new(config: &Config, rules: HeadRules) -> Self {
        Self {
            rules,
            head: HeadReader::default(),
            body: BodyReader::default(),
            collector: Collector::new(config),
            inbox: Inbox::default(),
            message: Message::default(),
            stage: Stage::Head,
            spares: Vec::new(),
        }
    }

    /// Takes the next bytes of a head from the front of `input`. Returns what it says once it is whole.
    pub(super) fn read_head(&mut self, input: &mut &[u8]) -> Result<Option<Facts>, Fault> {
        self.head.read(input, &mut self.message, &self.rules)
    }

    /// The message whose head is whole.
    pub(super) const fn message(&mut self) -> &mut Message {
        &mut self.message
    }

    /// Takes the message out, whole.
    #[inline]
    pub(super) fn take_message(&mut self, now: Instant) -> Message {
        self.message.received = Some(now);
        let fresh = self.spares.pop().unwrap_or_default();
        core::mem::replace(&mut self.message, fresh)
    }

    /// Begins with the body of the message whose head is whole. True if there is none: it has been handed out.
    pub(super) fn begin_body(&mut self, now: Instant, plan: BodyPlan) -> Result<bool, Fault> {
        let BodyPlan { framing, wanted, decode } = plan;
        self.body.begin(framing);
        if self.body.is_done() {
            self.hand_out(now);
            return Ok(true);
        }
        let announced = if let Framing::Length(length) = framing { length } else { 0 };
        self.collector.begin(wanted, announced)?;
        #[cfg(feature = "deflate")]
        {
            let decoding = if decode { Decoding::of(&self.message.headers)? } else { None };
            if decoding.is_some() {
                // They describe what travelled, not what is handed out.
                self.message.headers.remove("Content-Encoding");
                self.message.headers.remove("Content-Length");
                self.message.flags = self.message.flags.with(Flags::COMPRESSED);
            }
            self.collector.decode(decoding);
        }
        #[cfg(not(feature = "deflate"))]
        let _ = decode;
        if framing == Framing::UntilClose {
            self.message.flags = self.message.flags.with(Flags::BODY_BY_CLOSE);
        }
        if wanted == Wanted::Parts {
            self.message.flags = self.message.flags.with(Flags::STREAMED);
            self.hand_out(now);
        }
        self.stage = Stage::Body;
        Ok(false)
    }

    /// Takes the next bytes of the body from the front of `input`. True once it is complete.
    pub(super) fn read_body(&mut self, now: Instant, input: &mut &[u8]) -> Result<bool, Fault> {
        while !self.collector.is_full(&self.inbox) {
            match self.body.next(input, &mut self.message.trailers, &self.rules.limits)? {
                Piece::More => return Ok(false),
                Piece::Content(content) => {
                    self.collector.add(content, &mut self.inbox)?;
                    if self.body.is_done() {
                        return self.on_end(now).map(|()| true);
                    }
                }
                Piece::End => return self.on_end(now).map(|()| true),
            }
        }
        Ok(false)
    }

    /// Takes note that the stream ended where the body does, if it does.
    pub(super) fn end_body_by_close(&mut self, now: Instant) -> Result<bool, Fault> {
        if !self.body.is_until_close() {
            return Ok(false);
        }
        self.body.begin(Framing::None);
        self.on_end(now).map(|()| true)
    }

    pub(super) fn spare(&mut self) -> Option<&mut [u8]> {
        if self.stage != Stage::Body || self.is_full() {
            return None;
        }
        self.collector.spare(self.body.ahead())
    }

    /// Takes note that content was put where [`spare`](Self::spare) said. True once the body is complete.
    pub(super) fn advance(&mut self, now: Instant, len: usize) -> Result<bool, Fault> {
        self.body.advance(len);
        self.collector.advance(len, &mut self.inbox);
        if self.body.is_done() { self.on_end(now).map(|()| true) } else { Ok(false) }
    }

    /// Returns the next event. Parts are cut when they are asked for, so that what arrived in many pieces is one.
    #[inline]
    pub(super) fn poll_event(&mut self) -> Result<Option<Event>, Fault> {
        if let Some(event) = self.inbox.pop() {
            return Ok(Some(event));
        }
        match self.stage {
            Stage::Head => return Ok(None),
            Stage::Body => {
                self.collector.unclog(&mut self.inbox)?;
                self.collector.cut(&mut self.inbox);
            }
            Stage::End => {
                self.collector.unclog(&mut self.inbox)?;
                if !self.collector.is_clogged() {
                    self.finish_parts()?;
                }
            }
        }
        Ok(self.inbox.pop())
    }

    /// Adds an event behind those that wait.
    pub(super) fn push(&mut self, event: Event) {
        self.collector.cut(&mut self.inbox);
        self.inbox.push(event);
    }

    /// Drops what is there of a body, and what is still to come, if that is not more than `left` bytes. False if it is
    /// more, or may last for ever.
    pub(super) fn give_up_body(&mut self, left: u64) -> bool {
        self.inbox.drop_parts();
        match self.stage {
            Stage::Head => true,
            Stage::Body => {
                self.collector.give_up(left);
                !self.body.is_until_close() && self.body.ahead() <= left
            }
            Stage::End => {
                self.collector.give_up(left);
                self.message.clear();
                self.stage = Stage::Head;
                true
            }
        }
    }

    pub(super) fn recycle(&mut self, mut message: Message) {
        if self.spares.len() < MAX_SPARES {
            message.clear();
            self.spares.push(message);
        }
    }

    pub(super) const fn stage(&self) -> Stage {
        self.stage
    }

    /// Says whether no byte of the next message has arrived.
    pub(super) fn is_between_messages(&self) -> bool {
        self.stage == Stage::Head && self.head.is_empty()
    }

    /// Returns how many bytes of content wait for the application.
    pub(super) const fn unread(&self) -> usize {
        self.inbox.unread()
    }

    /// Says whether a body is being received that nobody wants.
    pub(super) fn is_given_up(&self) -> bool {
        self.stage == Stage::Body && matches!(self.collector.wanted(), Wanted::Nothing { .. })
    }

    /// Returns how many bytes of the body come next, for certain.
    pub(super) const fn ahead(&self) -> u64 {
        self.body.ahead()
    }

    /// Says whether the body that is being received lasts until the connection ends.
    pub(super) const fn is_body_until_close(&self) -> bool {
        self.body.is_until_close()
    }

    /// Says whether the application has to read before more can be taken in.
    pub(super) fn is_full(&self) -> bool {
        self.stage == Stage::End || (self.stage == Stage::Body && self.collector.is_full(&self.inbox))
    }

    fn on_end(&mut self, now: Instant) -> Result<(), Fault> {
        match self.collector.wanted() {
            Wanted::Whole => {
                self.message.body = self.collector.finish(&mut self.inbox)?;
                self.stage = Stage::Head;
                self.hand_out(now);
            }
            Wanted::Parts if self.collector.is_clogged() => self.stage = Stage::End,
            Wanted::Parts => self.finish_parts()?,
            Wanted::Nothing { .. } => {
                self.stage = Stage::Head;
                self.message.clear();
            }
        }
        Ok(())
    }

    fn finish_parts(&mut self) -> Result<(), Fault> {
        self.collector.finish(&mut self.inbox)?;
        self.stage = Stage::Head;
        self.inbox.push(Event::BodyEnd(core::mem::take(&mut self.message.trailers)));
        Ok(())
    }

    fn hand_out(&mut self, now: Instant) {
        let message = self.take_message(now);
        self.inbox.push(match message.kind {
            Kind::Request => Event::Request(message),
            Kind::Informational => Event::Informational(message),
            Kind::Response
            | Kind::Text
            | Kind::Binary
            | Kind::Ping
            | Kind::Pong
            | Kind::Close
            | Kind::Datagram => Event::Response(message),
        });
    }
}

/// Messages that are kept for their memory.
const MAX_SPARES: usize = 4;
