//! From bytes to messages and control frames.

use super::{
    Config, Role,
    assembly::{Assembly, Limits, Part},
    failure::Failure,
    frame::{Header, MAX_CONTROL, Opcode},
    mask::Mask,
    packing::Unpacker,
};
use crate::{Kind, Pool};

/// The receiving half of a session.
#[derive(Debug)]
pub(super) struct Receiver {
    role: Role,
    limits: Limits,
    pool: Pool,
    /// The start of a header that goes on in the next piece.
    stash: [u8; Header::MAX_LEN],
    stashed: usize,
    frame: Option<Frame>,
    message: Message,
    control: [u8; MAX_CONTROL],
    control_len: usize,
    unpacker: Option<Unpacker>,
    discards: bool,
}

/// A frame whose payload is arriving.
#[derive(Debug)]
struct Frame {
    opcode: Opcode,
    fin: bool,
    mask: Option<Mask>,
    remaining: usize,
    sealed: Sealed,
}

/// How much of a compressed frame was given to the unpacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sealed {
    /// What has arrived.
    Open,
    /// The whole payload.
    Payload,
    /// And, for the last frame of a message, what the peer cut off behind it.
    Message,
}

/// The message that data frames belong to.
#[derive(Debug)]
enum Message {
    /// None has begun.
    None,
    Assembly(Assembly),
    /// One that nobody wants any more.
    Discarded,
}

/// What has arrived.
#[derive(Debug)]
pub(super) enum Item {
    Part(Part),
    /// A control frame: see [`Receiver::control`].
    Ping,
    Pong,
    Close,
}

impl Receiver {
    pub(super) fn new(role: Role, config: &Config, unpacker: Option<Unpacker>) -> Self {
        Self {
            role,
            limits: Limits::new(config),
            pool: Pool::new(LONGEST_KEPT),
            stash: [0; Header::MAX_LEN],
            stashed: 0,
            frame: None,
            message: Message::None,
            control: [0; MAX_CONTROL],
            control_len: 0,
            unpacker,
            discards: false,
        }
    }

    /// Takes in bytes up to the end of the next item. Returns how many those were, and the item, if it is complete.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(usize, Option<Item>), Failure> {
        let mut consumed = 0;
        loop {
            let rest = data.get(consumed..).unwrap_or_default();
            if self.frame.is_none() {
                let (used, complete) = self.take_header(rest)?;
                consumed += used;
                if !complete {
                    return Ok((consumed, None));
                }
                continue;
            }
            if self.has_pending() || self.is_frame_complete() {
                match self.step()? {
                    Some(item) => return Ok((consumed, Some(item))),
                    None => continue,
                }
            }
            if rest.is_empty() {
                return Ok((consumed, None));
            }
            consumed += self.take_payload(rest)?;
        }
    }

    /// Says whether something can be handed out without further bytes.
    pub(super) fn has_pending(&self) -> bool {
        match &self.message {
            Message::Assembly(message) if message.is_compressed() => {
                message.is_full(&self.limits) || self.unpacker.as_ref().is_some_and(Unpacker::is_sealed)
            }
            Message::Assembly(message) => message.is_full(&self.limits),
            Message::None | Message::Discarded => false,
        }
    }

    /// Lends the place for the next bytes, if they are part of a long payload.
    pub(super) fn spare(&mut self) -> Option<&mut [u8]> {
        let frame = self.frame.as_ref()?;
        if frame.opcode.is_control() || frame.remaining < LONG {
            return None;
        }
        match &mut self.message {
            Message::Assembly(message) if !message.is_compressed() => {
                let place = message.spare(frame.remaining, &self.limits);
                (!place.is_empty()).then_some(place)
            }
            Message::None | Message::Assembly(_) | Message::Discarded => None,
        }
    }

    /// Takes in the first `len` bytes of the place that was lent.
    pub(super) fn advance(&mut self, len: usize) -> Result<(), Failure> {
        let (Some(frame), Message::Assembly(message)) = (&mut self.frame, &mut self.message) else {
            return Ok(());
        };
        let len = len.min(frame.remaining);
        message.advance(len, frame.mask.as_mut())?;
        frame.remaining -= len;
        Ok(())
    }

    /// Returns the payload of the control frame that [`take`](Self::take) returned.
    pub(super) fn control(&self) -> &[u8] {
        self.control.get(..self.control_len).unwrap_or_default()
    }

    /// Drops messages from now on, the one in the making included. Control frames still count.
    pub(super) fn discard(&mut self) {
        self.discards = true;
        if matches!(self.message, Message::Assembly(_)) {
            self.message = Message::Discarded;
        }
    }

    /// Gives back memory that is only kept for speed.
    pub(super) fn release(&mut self) {
        if let (Message::None, Some(unpacker)) = (&self.message, &mut self.unpacker) {
            unpacker.release();
        }
    }

    /// Takes in bytes of a header. Returns how many, and whether the frame has begun.
    fn take_header(&mut self, rest: &[u8]) -> Result<(usize, bool), Failure> {
        if self.stashed == 0
            && let Some((header, len)) = Header::parse(rest)?
        {
            self.begin_frame(header)?;
            return Ok((len, true));
        }
        let before = self.stashed;
        let room = self.stash.get_mut(before..).unwrap_or_default();
        let copied = room.iter_mut().zip(rest).map(|(to, from)| *to = *from).count();
        let Some((header, len)) = Header::parse(self.stash.get(..before + copied).unwrap_or_default())?
        else {
            self.stashed += copied;
            return Ok((copied, false));
        };
        self.stashed = 0;
        self.begin_frame(header)?;
        Ok((len.saturating_sub(before), true))
    }

    fn begin_frame(&mut self, header: Header) -> Result<(), Failure> {
        let Header { fin, rsv1, opcode, mask, len } = header;
        match (self.role, mask) {
            (Role::Client, Some(_)) => {
                return Err(Failure::protocol("a masked frame of a server (RFC 6455 §5.1)"));
            }
            (Role::Server, None) => {
                return Err(Failure::protocol("an unmasked frame of a client (RFC 6455 §5.1)"));
            }
            (Role::Client, None) | (Role::Server, Some(_)) => {}
        }
        if rsv1 && self.unpacker.is_none() {
            return Err(Failure::protocol("a reserved bit is set (RFC 6455 §5.2)"));
        }
        if rsv1 && (opcode.is_control() || opcode == Opcode::Continuation) {
            return Err(Failure::protocol("the bit for compression is not on a first frame (RFC 7692 §6)"));
        }
        if len > self.limits.frame {
            return Err(Failure::too_big("a frame longer than is taken"));
        }
        let remaining = usize::try_from(len).map_err(|_| Failure::too_big("a frame longer than is taken"))?;
        if opcode.is_control() {
            self.control_len = 0;
        } else {
            self.begin_data_frame(opcode, rsv1, remaining)?;
        }
        self.frame = Some(Frame { opcode, fin, mask: mask.map(Mask::new), remaining, sealed: Sealed::Open });
        Ok(())
    }

    fn begin_data_frame(&mut self, opcode: Opcode, rsv1: bool, len: usize) -> Result<(), Failure> {
        let is_first = matches!(self.message, Message::None);
        match opcode {
            Opcode::Continuation if is_first => {
                return Err(Failure::protocol("a continuation of nothing (RFC 6455 §5.4)"));
            }
            Opcode::Text | Opcode::Binary if !is_first => {
                return Err(Failure::protocol("a message within another (RFC 6455 §5.4)"));
            }
            Opcode::Text | Opcode::Binary if self.discards => self.message = Message::Discarded,
            Opcode::Text => {
                self.message = Message::Assembly(Assembly::new(Kind::Text, rsv1, len, &mut self.pool));
            }
            Opcode::Binary => {
                self.message = Message::Assembly(Assembly::new(Kind::Binary, rsv1, len, &mut self.pool));
            }
            Opcode::Continuation | Opcode::Close | Opcode::Ping | Opcode::Pong => {}
        }
        match &mut self.message {
            Message::Assembly(message) => message.begin_frame(len, &self.limits),
            Message::None | Message::Discarded => Ok(()),
        }
    }

    fn is_frame_complete(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.remaining == 0)
    }

    /// Takes in bytes of a payload, and says how many.
    fn take_payload(&mut self, rest: &[u8]) -> Result<usize, Failure> {
        let Self { frame: Some(frame), message, limits, unpacker, control, control_len, .. } = self else {
            return Ok(0);
        };
        let piece = rest.get(..rest.len().min(frame.remaining)).unwrap_or_default();
        let taken = if frame.opcode.is_control() {
            let room = control.get_mut(*control_len..).unwrap_or_default();
            let len = room.len().min(piece.len());
            if let (Some(room), Some(piece)) = (room.get_mut(..len), piece.get(..len)) {
                match &mut frame.mask {
                    Some(mask) => mask.copy(piece, room),
                    None => room.copy_from_slice(piece),
                }
            }
            *control_len += len;
            len
        } else {
            match (message, unpacker) {
                (Message::Assembly(message), Some(unpacker)) if message.is_compressed() => {
                    unpacker.take(piece, frame.mask.as_mut())
                }
                (Message::Assembly(message), _) => message.take(piece, frame.mask.as_mut(), limits)?,
                (Message::None | Message::Discarded, _) => piece.len(),
            }
        };
        frame.remaining -= taken;
        Ok(taken)
    }

    /// Goes on with what needs no further bytes: a block to unpack, a part that is full, a frame that is complete.
    fn step(&mut self) -> Result<Option<Item>, Failure> {
        let Self { frame, message, limits, unpacker, pool, .. } = self;
        let Some(current) = frame else { return Ok(None) };
        let Message::Assembly(assembly) = message else { return self.end_frame() };
        if current.opcode.is_control() {
            return self.end_frame();
        }
        if assembly.is_full(limits) {
            return Ok(Some(Item::Part(assembly.part(pool))));
        }
        if let (true, Some(unpacker)) = (assembly.is_compressed(), unpacker) {
            match current.sealed {
                _ if unpacker.is_sealed() => assembly.unpack(unpacker, limits)?,
                Sealed::Open => {
                    unpacker.seal();
                    current.sealed = Sealed::Payload;
                }
                Sealed::Payload if current.fin => {
                    unpacker.seal_message();
                    current.sealed = Sealed::Message;
                }
                Sealed::Payload | Sealed::Message => return self.end_frame(),
            }
            return Ok(None);
        }
        self.end_frame()
    }

    fn end_frame(&mut self) -> Result<Option<Item>, Failure> {
        let Some(Frame { opcode, fin, .. }) = self.frame.take() else { return Ok(None) };
        match opcode {
            Opcode::Ping => return Ok(Some(Item::Ping)),
            Opcode::Pong => return Ok(Some(Item::Pong)),
            Opcode::Close => return Ok(Some(Item::Close)),
            Opcode::Continuation | Opcode::Text | Opcode::Binary => {}
        }
        let Self { message, limits, pool, unpacker, .. } = self;
        match core::mem::replace(message, Message::None) {
            Message::Assembly(assembly) if fin => {
                if let (true, Some(unpacker)) = (assembly.is_compressed(), unpacker) {
                    unpacker.end_message();
                }
                Ok(Some(Item::Part(assembly.finish(pool, limits)?)))
            }
            Message::Assembly(mut assembly) => {
                let part = (limits.streamed && !assembly.is_empty()).then(|| Item::Part(assembly.part(pool)));
                *message = Message::Assembly(assembly);
                Ok(part)
            }
            Message::Discarded if !fin => {
                *message = Message::Discarded;
                Ok(None)
            }
            Message::Discarded | Message::None => Ok(None),
        }
    }
}

/// Payloads that lie in memory of this size or less leave it for later ones.
const LONGEST_KEPT: usize = 1 << 20;
/// From this length on, what is left of a payload is read straight into its place.
const LONG: usize = 16 << 10;
