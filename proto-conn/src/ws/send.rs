//! From messages to bytes.

use alloc::vec::Vec;

use super::{
    Config,
    frame::{Header, MAX_CONTROL, Opcode},
    mask::{Keys, Mask},
    packing::Packer,
    utf8::Utf8,
};
use crate::{Code, Error, Kind, Outgoing, Payload, Phase};

/// The sending half of a session.
#[derive(Debug)]
pub(super) struct Sender {
    outgoing: Outgoing,
    /// A client's keys.
    keys: Option<Keys>,
    packer: Option<Packer>,
    fragment_above: usize,
    /// A long payload whose rest is masked when what is before it has left.
    deferred: Option<Deferred>,
    /// Control frames behind it.
    after: Vec<u8>,
    /// The message that the application sends in fragments.
    fragmented: Option<Fragmented>,
    pongs: Pongs,
}

#[derive(Debug)]
struct Deferred {
    payload: Payload,
    masked: usize,
    mask: Mask,
}

#[derive(Debug)]
struct Fragmented {
    kind: Kind,
    compressed: bool,
    utf8: Utf8,
}

/// Answers to pings. Those that come while too many wait are answered by one, to the last (RFC 6455 §5.5.3).
#[derive(Debug)]
struct Pongs {
    /// Written, but not handed to the carrier.
    waiting: usize,
    last: [u8; MAX_CONTROL],
    last_len: Option<usize>,
}

impl Sender {
    pub(super) fn new(config: &Config, keys: Option<Keys>, packer: Option<Packer>) -> Self {
        Self {
            outgoing: Outgoing::default(),
            keys,
            packer,
            fragment_above: config.fragment_above.unwrap_or(usize::MAX),
            deferred: None,
            after: Vec::new(),
            fragmented: None,
            pongs: Pongs { waiting: 0, last: [0; MAX_CONTROL], last_len: None },
        }
    }

    /// Sends a message.
    pub(super) fn message(&mut self, kind: Kind, payload: &Payload) -> Result<(), Error> {
        if self.fragmented.is_some() {
            return Err(error(Code::BadState, "a message is being sent in fragments"));
        }
        if kind == Kind::Text && !super::utf8::is_utf8(payload) {
            return Err(error(Code::BadMessage, "text must be UTF-8"));
        }
        let opcode = opcode_of(kind)?;
        match self.packer.as_mut().filter(|packer| packer.wants(payload.len())) {
            None => self.frames(opcode, false, payload.clone(), true),
            Some(packer) => {
                let packed = packer.pack(payload, true);
                self.packed_frames(opcode, true, packed, true)?;
            }
        }
        Ok(())
    }

    /// Sends the next fragment of a message, the last one if `fin`.
    pub(super) fn fragment(&mut self, kind: Kind, part: Payload, fin: bool) -> Result<(), Error> {
        let opcode = opcode_of(kind)?;
        let is_first = self.fragmented.is_none();
        let compressed = self.packer.as_ref().is_some_and(|packer| !fin || packer.wants(part.len()));
        let fresh = || Fragmented { kind, compressed, utf8: Utf8::default() };
        let mut message = self.fragmented.take().unwrap_or_else(fresh);
        let checked = match (message.kind == kind, kind) {
            (false, _) => Err(error(Code::BadMessage, "a message has one kind")),
            (true, Kind::Text) => {
                let mut utf8 = message.utf8.clone();
                let ok = utf8.push(&part).is_ok() && (!fin || utf8.may_end());
                if ok { Ok(utf8) } else { Err(error(Code::BadMessage, "text must be UTF-8")) }
            }
            (true, _) => Ok(Utf8::default()),
        };
        let checked = match checked {
            Ok(utf8) => utf8,
            Err(error) => {
                // As if it had not been asked for.
                self.fragmented = (!is_first).then_some(message);
                return Err(error);
            }
        };
        message.utf8 = checked;
        let opcode = if is_first { opcode } else { Opcode::Continuation };
        match &mut self.packer {
            Some(packer) if message.compressed => {
                let packed = packer.pack(&part, fin);
                self.packed_frames(opcode, is_first, packed, fin)?;
            }
            Some(_) | None => self.frames(opcode, false, part, fin),
        }
        if !fin {
            self.fragmented = Some(message);
        }
        Ok(())
    }

    /// Sends a control frame.
    pub(super) fn control(&mut self, opcode: Opcode, payload: &[u8]) {
        let mask = self.keys.as_mut().map(Keys::next);
        let header = Header { fin: true, rsv1: false, opcode, mask, len: payload.len() as u64 };
        if self.deferred.is_some() {
            write_frame(header, payload, &mut self.after);
        } else {
            self.outgoing.write(|buf| write_frame(header, payload, buf));
        }
    }

    /// Answers a ping, at once or when those before have left.
    pub(super) fn pong(&mut self, payload: &[u8]) {
        if self.pongs.waiting < MAX_PONGS {
            self.pongs.waiting += 1;
            self.control(Opcode::Pong, payload);
        } else {
            self.pongs.last.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
            self.pongs.last_len = Some(payload.len());
        }
    }

    /// Returns what is to be sent.
    pub(super) fn outgoing(&mut self) -> &mut Outgoing {
        if self.outgoing.is_empty() {
            self.mask_next(PIECE);
        }
        &mut self.outgoing
    }

    /// Takes note that everything has been handed to the carrier.
    pub(super) fn handle_sent(&mut self) {
        self.pongs.waiting = 0;
        if let Some(len) = self.pongs.last_len.take() {
            let payload = self.pongs.last;
            self.pong(payload.get(..len).unwrap_or_default());
        }
    }

    /// Returns how many bytes wait to be sent.
    pub(super) fn waiting(&self) -> usize {
        let deferred = self.deferred.as_ref().map_or(0, |it| it.payload.len().saturating_sub(it.masked));
        self.outgoing.len() + deferred + self.after.len()
    }

    /// Drops what waits to be sent.
    pub(super) fn clear(&mut self) {
        self.outgoing.clear();
        self.deferred = None;
        self.after = Vec::new();
        self.pongs.last_len = None;
    }

    /// Gives back memory that is only kept for speed.
    pub(super) fn release(&mut self) {
        // Within a message, the parts refer to those before.
        if let (None, Some(packer)) = (&self.fragmented, &mut self.packer) {
            packer.release();
        }
    }

    /// Sends a payload in as many frames as it takes.
    fn frames(&mut self, opcode: Opcode, rsv1: bool, payload: Payload, fin: bool) {
        if payload.len() <= self.fragment_above {
            return self.frame(opcode, rsv1, payload, fin);
        }
        let (mut opcode, mut rsv1, mut start) = (opcode, rsv1, 0);
        while start < payload.len() {
            let end = start.saturating_add(self.fragment_above).min(payload.len());
            self.frame(opcode, rsv1, payload.slice(start..end), fin && end == payload.len());
            (opcode, rsv1, start) = (Opcode::Continuation, false, end);
        }
    }

    /// Sends what was packed in as many frames as it takes. A short one is copied, and its memory packs the next.
    fn packed_frames(
        &mut self,
        opcode: Opcode,
        rsv1: bool,
        packed: Option<Vec<u8>>,
        fin: bool,
    ) -> Result<(), Error> {
        let packed = packed.ok_or_else(|| error(Code::NoMemory, "no memory to compress with"))?;
        if packed.len() > self.fragment_above.min(Outgoing::COPIED) {
            self.frames(opcode, rsv1, packed.into(), fin);
            return Ok(());
        }
        self.mask_next(usize::MAX);
        let mask = self.keys.as_mut().map(Keys::next);
        let header = Header { fin, rsv1, opcode, mask, len: packed.len() as u64 };
        self.outgoing.write(|buf| write_frame(header, &packed, buf));
        if let Some(packer) = &mut self.packer {
            packer.reuse(packed);
        }
        Ok(())
    }

    fn frame(&mut self, opcode: Opcode, rsv1: bool, payload: Payload, fin: bool) {
        // Frames must not overtake each other: what is left of a long one is masked now.
        self.mask_next(usize::MAX);
        let mask = self.keys.as_mut().map(Keys::next);
        let header = Header { fin, rsv1, opcode, mask, len: payload.len() as u64 };
        let (Some(key), Some(Keys::Secret(_))) = (mask, &self.keys) else {
            self.outgoing.write(|buf| header.emit(buf));
            return self.outgoing.push(payload);
        };
        let mut mask = Mask::new(key);
        let first = payload.len().min(PIECE - Header::MAX_LEN);
        self.outgoing.write(|buf| {
            header.emit(buf);
            mask.append(payload.get(..first).unwrap_or_default(), buf);
        });
        if first < payload.len() {
            self.deferred = Some(Deferred { payload, masked: first, mask });
        }
    }

    /// Masks at most `limit` bytes of the payload that was put off, and moves on to what is behind it.
    fn mask_next(&mut self, limit: usize) {
        let Some(Deferred { payload, masked, mask }) = &mut self.deferred else { return };
        let end = masked.saturating_add(limit).min(payload.len());
        let piece = payload.get(*masked..end).unwrap_or_default();
        self.outgoing.write(|buf| mask.append(piece, buf));
        *masked = end;
        if end == payload.len() {
            self.deferred = None;
            self.outgoing.write(|buf| buf.append(&mut self.after));
        }
    }
}

fn opcode_of(kind: Kind) -> Result<Opcode, Error> {
    match kind {
        Kind::Text => Ok(Opcode::Text),
        Kind::Binary => Ok(Opcode::Binary),
        Kind::Ping => Ok(Opcode::Ping),
        Kind::Pong => Ok(Opcode::Pong),
        Kind::Request | Kind::Response | Kind::Informational | Kind::Close | Kind::Datagram => {
            Err(error(Code::BadMessage, "WebSocket sends text, binary, ping and pong"))
        }
    }
}

fn write_frame(header: Header, payload: &[u8], buf: &mut Vec<u8>) {
    header.emit(buf);
    match header.mask {
        Some(key) => Mask::new(key).append(payload, buf),
        None => buf.extend_from_slice(payload),
    }
}

fn error(code: Code, detail: &str) -> Error {
    Error::new(code, Phase::Send).with_detail(detail)
}

/// What is masked at a time. Linux moves sends of a little less than 64 KiB through the loopback interface best, and the
/// peer can read one piece while the next is masked.
const PIECE: usize = 60_000;
/// Pongs that may wait at a time, besides the last.
const MAX_PONGS: usize = 16;
