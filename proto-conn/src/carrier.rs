//! One stream link, with or without TLS, between the driver and a protocol.

use alloc::{boxed::Box, vec::Vec};
use bytes::Bytes;
use proto_core::{Instant, LinkEvent, LinkId, Transmit};

use crate::{
    Error, StreamEnd, Talk,
    tls::{TlsLayer, WRITE_LIMIT},
};

/// Carries a protocol's bytes over a link.
///
/// Plain bytes go to and from the protocol without a copy where the protocol lends its memory. With TLS, bytes are read
/// into the layer's own memory, opened there, and copied once to where they belong.
#[derive(Debug)]
pub(crate) struct Carrier {
    link: LinkId,
    tls: Option<Box<dyn TlsLayer>>,
    /// Plain bytes that the protocol could not take yet.
    kept: Vec<u8>,
    /// Long payloads that follow the bytes of the last transmit.
    pieces: Vec<Bytes>,
    is_blocked: bool,
    end: Option<StreamEnd>,
    /// The protocol was told of the end.
    has_ended: bool,
    /// What the protocol had to send was handed on, and the protocol does not know yet.
    has_drained: bool,
}

impl Carrier {
    pub(crate) const fn new(link: LinkId, tls: Option<Box<dyn TlsLayer>>) -> Self {
        Self {
            link,
            tls,
            kept: Vec::new(),
            pieces: Vec::new(),
            is_blocked: false,
            end: None,
            has_ended: false,
            has_drained: false,
        }
    }

    /// Starts TLS on what was plain so far: behind a proxy.
    pub(crate) fn start_tls(&mut self, layer: Box<dyn TlsLayer>) {
        self.tls = Some(layer);
    }

    /// Takes in bytes that the driver read.
    pub(crate) fn handle_stream(
        &mut self,
        now: Instant,
        data: &[u8],
        talk: &mut dyn Talk,
    ) -> Result<(), Error> {
        let Self { tls, kept, .. } = self;
        let Some(tls) = tls else {
            let taken = if kept.is_empty() { talk.handle_input(now, data) } else { 0 };
            kept.extend_from_slice(data.get(taken..).unwrap_or_default());
            return Ok(());
        };
        let mut rest = data;
        while !rest.is_empty() {
            let taken = tls.handle_ciphertext(rest, &mut |plain| talk.handle_input(now, plain))?;
            if taken == 0 {
                // The protocol is behind; the driver stops reading as soon as it asks.
                kept.extend_from_slice(rest);
                break;
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.note_goodbye(now, talk);
        Ok(())
    }

    /// Lends the memory to read into.
    pub(crate) fn recv_buffer<'a>(&'a mut self, talk: &'a mut dyn Talk) -> Option<&'a mut [u8]> {
        match &mut self.tls {
            Some(tls) => Some(tls.spare()).filter(|spare| !spare.is_empty()),
            None if self.kept.is_empty() => talk.spare(),
            None => None,
        }
    }

    /// Takes note that the lent memory was filled.
    pub(crate) fn handle_filled(
        &mut self,
        now: Instant,
        len: usize,
        talk: &mut dyn Talk,
    ) -> Result<(), Error> {
        match &mut self.tls {
            Some(tls) => {
                tls.advance(len, &mut |plain| talk.handle_input(now, plain))?;
                self.note_goodbye(now, talk);
            }
            None => talk.advance(now, len),
        }
        Ok(())
    }

    /// Gives the protocol what it could not take before, once it can; and the end, once it had everything.
    pub(crate) fn resume(&mut self, now: Instant, talk: &mut dyn Talk) -> Result<(), Error> {
        if !talk.wants_input() {
            return Ok(());
        }
        if let Some(tls) = &mut self.tls {
            tls.resume(&mut |plain| talk.handle_input(now, plain))?;
        }
        if !self.kept.is_empty() {
            let kept = core::mem::take(&mut self.kept);
            self.handle_stream(now, &kept, talk)?;
        }
        self.note_end(now, talk);
        Ok(())
    }

    /// Takes note of the link's changes.
    pub(crate) fn handle_link(&mut self, now: Instant, event: &LinkEvent, talk: &mut dyn Talk) {
        match event {
            LinkEvent::Blocked => self.is_blocked = true,
            LinkEvent::Writable => self.is_blocked = false,
            LinkEvent::Eof => {
                let end = self.tls.as_mut().map_or(StreamEnd::Closed, |tls| tls.handle_eof());
                self.end.get_or_insert(end);
                self.note_end(now, talk);
            }
            LinkEvent::Down(_) => {
                self.end.get_or_insert(StreamEnd::Reset);
                self.kept.clear();
                self.note_end(now, talk);
            }
            LinkEvent::Up { .. }
            | LinkEvent::Accepted { .. }
            | LinkEvent::Resolved { .. }
            | LinkEvent::TooBig { .. }
            | LinkEvent::Unreachable(_)
            | _ => {}
        }
    }

    /// Moves what the protocol has to send to `buf`, and what follows to the next [`poll_gather`](Self::poll_gather).
    pub(crate) fn poll_transmit(
        &mut self,
        talk: &mut dyn Talk,
        buf: &mut Vec<u8>,
    ) -> Result<Option<Transmit>, Error> {
        if self.is_blocked {
            return Ok(None);
        }
        let before = buf.len();
        let outgoing = talk.outgoing();
        let had_some = !outgoing.is_empty();
        match &mut self.tls {
            Some(tls) => tls.encrypt(outgoing, WRITE_LIMIT, buf)?,
            None => {
                outgoing.take(buf, &mut self.pieces);
            }
        }
        self.has_drained |= had_some && outgoing.is_empty();
        let len = buf.len() - before;
        let some = len > 0 || !self.pieces.is_empty();
        Ok(some.then(|| Transmit::stream(self.link, len)))
    }

    /// Tells the protocol that everything was handed on, if so, and says whether it did.
    pub(crate) fn settle(&mut self, now: Instant, talk: &mut dyn Talk) -> bool {
        let drained = core::mem::take(&mut self.has_drained);
        if drained {
            talk.handle_sent(now);
        }
        drained
    }

    /// Hands out the payloads behind the last transmit.
    pub(crate) fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        pieces.append(&mut self.pieces);
    }

    /// Says goodbye in TLS, where there is TLS.
    pub(crate) fn say_goodbye(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
    }

    pub(crate) const fn link(&self) -> LinkId {
        self.link
    }

    pub(crate) fn tls(&self) -> Option<&dyn TlsLayer> {
        self.tls.as_deref()
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Says whether bytes wait to leave.
    pub(crate) fn wants_output(&self, talk: &mut dyn Talk) -> bool {
        !talk.outgoing().is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_output())
    }

    pub(crate) fn wants_read(&self, talk: &dyn Talk) -> bool {
        let handshaking = self.is_handshaking();
        let room = self.tls.as_ref().is_none_or(|tls| tls.wants_input());
        self.kept.is_empty() && room && (handshaking || talk.wants_input())
    }

    /// Returns how the input ended.
    pub(crate) const fn end(&self) -> Option<StreamEnd> {
        self.end
    }

    fn note_goodbye(&mut self, now: Instant, talk: &mut dyn Talk) {
        if let Some(end) = self.tls.as_ref().and_then(|tls| tls.has_ended()) {
            self.end.get_or_insert(end);
            self.note_end(now, talk);
        }
    }

    fn note_end(&mut self, now: Instant, talk: &mut dyn Talk) {
        let has_all = self.kept.is_empty() && self.tls.as_ref().is_none_or(|tls| tls.wants_input());
        if let Some(end) = self.end
            && !self.has_ended
            && has_all
        {
            self.has_ended = true;
            talk.handle_end(now, end);
        }
    }
}
