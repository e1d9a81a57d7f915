//! A message that is made of frames (RFC 6455 §5.4).

use super::{Config, Receive, failure::Failure, mask::Mask, packing::Unpacker, utf8::Utf8};
use crate::{Filling, Flags, Kind, Payload, Pool};

/// What is taken from the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) frame: u64,
    pub(super) message: usize,
    pub(super) fragments: u32,
    pub(super) ratio: u32,
    /// The longest part that is handed out. In whole, messages have one part without a limit of its own.
    pub(super) part: usize,
    /// Whether messages are handed out in parts.
    pub(super) streamed: bool,
}

impl Limits {
    pub(super) const fn new(config: &Config) -> Self {
        let (part, streamed) = match config.receive {
            Receive::Whole => (usize::MAX, false),
            Receive::Streamed { part } => (part, true),
        };
        let Config { max_frame, max_message, max_fragments, max_ratio, .. } = *config;
        Self {
            frame: max_frame,
            message: max_message,
            fragments: max_fragments,
            ratio: max_ratio,
            part,
            streamed,
        }
    }

    /// Returns how many bytes a message may have of which `packed` bytes have arrived.
    #[cfg_attr(not(feature = "deflate"), allow(dead_code, reason = "only what is packed has a ratio"))]
    pub(super) fn most_unpacked(&self, packed: u64) -> usize {
        let by_ratio = packed.saturating_mul(u64::from(self.ratio)).max(FREE_OF_RATIO);
        self.message.min(usize::try_from(by_ratio).unwrap_or(usize::MAX))
    }
}

/// A message in the making.
#[derive(Debug)]
pub(super) struct Assembly {
    kind: Kind,
    compressed: bool,
    filling: Filling,
    /// For text.
    utf8: Option<Utf8>,
    /// Frames so far.
    fragments: u32,
    /// Bytes of payload in these, in whole, whether they have arrived or not.
    announced: usize,
    /// Bytes that were handed out in parts.
    handed_out: usize,
}

/// A message, or a part of it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) body: Payload,
    pub(super) flags: Flags,
}

impl Assembly {
    /// Begins a message whose first frame has `len` bytes.
    pub(super) fn new(kind: Kind, compressed: bool, len: usize, pool: &mut Pool) -> Self {
        let utf8 = matches!(kind, Kind::Text).then(Utf8::default);
        let filling = pool.fill(len);
        Self { kind, compressed, filling, utf8, fragments: 0, announced: 0, handed_out: 0 }
    }

    pub(super) const fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Takes note of a frame with `len` bytes.
    pub(super) fn begin_frame(&mut self, len: usize, limits: &Limits) -> Result<(), Failure> {
        self.fragments = self.fragments.saturating_add(1);
        if self.fragments > limits.fragments {
            return Err(Failure::too_big("a message in more frames than are taken"));
        }
        self.announced = self.announced.saturating_add(len);
        if !self.compressed && self.announced > limits.message {
            return Err(Failure::too_big("a message longer than is taken"));
        }
        Ok(())
    }

    /// Takes in bytes of a frame's payload, and says how many: fewer than there are if the part is full.
    pub(super) fn take(
        &mut self,
        piece: &[u8],
        mut mask: Option<&mut Mask>,
        limits: &Limits,
    ) -> Result<usize, Failure> {
        let Self { filling, utf8, .. } = self;
        let mut taken = 0;
        loop {
            let rest = piece.get(taken..).unwrap_or_default();
            let room = filling.spare(rest.len().min(limits.part.saturating_sub(filling.len())));
            let len = room.len().min(rest.len());
            let (Some(room), Some(rest)) = (room.get_mut(..len), rest.get(..len)) else { return Ok(taken) };
            if len == 0 {
                return Ok(taken);
            }
            match &mut mask {
                Some(mask) => mask.copy(rest, room),
                None => room.copy_from_slice(rest),
            }
            check(utf8, room)?;
            filling.advance(len);
            taken += len;
        }
    }

    /// Lends the place for the next bytes of a frame's payload, at most `limit`.
    pub(super) fn spare(&mut self, limit: usize, limits: &Limits) -> &mut [u8] {
        self.filling.spare(limit.min(limits.part.saturating_sub(self.filling.len())))
    }

    /// Takes in the first `len` bytes of the place that was lent.
    pub(super) fn advance(&mut self, len: usize, mask: Option<&mut Mask>) -> Result<(), Failure> {
        let Self { filling, utf8, .. } = self;
        let before = filling.len();
        filling.advance(len);
        let arrived = filling.filled_mut().get_mut(before..).unwrap_or_default();
        if let Some(mask) = mask {
            mask.apply(arrived);
        }
        check(utf8, arrived)
    }

    /// Unpacks the block that waits, as far as the part has room.
    pub(super) fn unpack(&mut self, unpacker: &mut Unpacker, limits: &Limits) -> Result<(), Failure> {
        let Self { filling, utf8, handed_out, .. } = self;
        let before = filling.len();
        unpacker.unpack(filling, *handed_out, limits)?;
        check(utf8, filling.filled().get(before..).unwrap_or_default())
    }

    /// Says whether what has arrived is to be handed out: the part is full.
    pub(super) const fn is_full(&self, limits: &Limits) -> bool {
        self.filling.len() >= limits.part
    }

    /// Says whether nothing waits to be handed out.
    pub(super) const fn is_empty(&self) -> bool {
        self.filling.is_empty()
    }

    /// Hands out what has arrived as a part that is not the last.
    pub(super) fn part(&mut self, pool: &mut Pool) -> Part {
        self.handed_out = self.handed_out.saturating_add(self.filling.len());
        let next = pool.fill(self.filling.len());
        let filling = core::mem::replace(&mut self.filling, next);
        Part { kind: self.kind, body: filling.finish(pool), flags: self.flags().with(Flags::STREAMED) }
    }

    /// Hands out the message, or its last part.
    pub(super) fn finish(self, pool: &mut Pool, limits: &Limits) -> Result<Part, Failure> {
        if self.utf8.as_ref().is_some_and(|utf8| !utf8.may_end()) {
            return Err(Failure::utf8());
        }
        let flags = self.flags();
        let flags = if limits.streamed { flags.with(Flags::STREAMED).with(Flags::FIN) } else { flags };
        Ok(Part { kind: self.kind, body: self.filling.finish(pool), flags })
    }

    fn flags(&self) -> Flags {
        if self.compressed { Flags::COMPRESSED } else { Flags::default() }
    }
}

fn check(utf8: &mut Option<Utf8>, bytes: &[u8]) -> Result<(), Failure> {
    match utf8 {
        Some(utf8) => utf8.push(bytes).map_err(|_| Failure::utf8()),
        None => Ok(()),
    }
}

/// Up to this length, a message may unpack to any multiple of its packed length.
const FREE_OF_RATIO: u64 = 1 << 20;
