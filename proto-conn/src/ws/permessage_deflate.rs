//! Packing and unpacking of messages (RFC 7692 §7.2).

use alloc::{boxed::Box, vec::Vec};

use super::{
    ConfigError, Deflate, Role, assembly::Limits, failure::Failure, handshake::DeflateParams, mask::Mask,
};
use crate::{
    Filling,
    deflate::{Deflater, Inflater, Level, Stop, Wrapping},
};

/// Returns what packs and unpacks by an agreement.
pub(super) fn of_agreement(
    role: Role,
    params: Option<DeflateParams>,
    config: Deflate,
) -> Result<(Option<Packer>, Option<Unpacker>), ConfigError> {
    let packer = params.map(|params| Packer::new(role, params, config));
    Ok((packer, params.map(|params| Unpacker::new(role, params))))
}

/// Packs messages.
#[derive(Debug)]
pub(super) struct Packer {
    deflater: Deflater,
    keeps_context: bool,
    threshold: usize,
    /// Where the next part is packed to.
    memory: Vec<u8>,
}

impl Packer {
    fn new(role: Role, params: DeflateParams, config: Deflate) -> Self {
        let (window_bits, forgets) = params.of_sender(role);
        let deflater = Deflater::new(window_bits, Level::new(config.level));
        Self { deflater, keeps_context: !forgets, threshold: config.threshold, memory: Vec::new() }
    }

    /// Says whether a message of this length is worth it.
    pub(super) const fn wants(&self, len: usize) -> bool {
        len >= self.threshold
    }

    /// Packs the next part of a message, the last one if `fin`.
    pub(super) fn pack(&mut self, part: &[u8], fin: bool) -> Option<Vec<u8>> {
        let mut packed = core::mem::take(&mut self.memory);
        packed.clear();
        self.deflater.deflate(part, true, &mut packed).ok()?;
        if fin {
            match packed.strip_suffix(&TAIL) {
                Some(rest) => packed.truncate(rest.len()),
                // Nothing came since the last mark: with the tail that the peer adds, this is an empty block.
                None => packed.push(0),
            }
            if !self.keeps_context {
                self.deflater.reset();
            }
        }
        Some(packed)
    }

    /// Takes back the memory of what was packed.
    pub(super) fn reuse(&mut self, packed: Vec<u8>) {
        self.memory = packed;
    }

    /// Gives memory back. The next message does not refer to those before, which is always allowed.
    pub(super) fn release(&mut self) {
        self.deflater.release();
        self.memory = Vec::new();
    }
}

/// Unpacks messages.
///
/// Packed bytes are unpacked in blocks that begin and end at fixed places of the message, so that limits are exceeded
/// at the same place in whatever pieces it arrives.
#[derive(Debug)]
pub(super) struct Unpacker {
    inflater: Inflater,
    keeps_context: bool,
    block: Box<Block>,
    /// Packed bytes of the message up to the end of the block.
    packed: u64,
    /// How often a final block ended the stream within the message.
    ends: u32,
}

#[derive(Debug)]
struct Block {
    bytes: [u8; BLOCK],
    filled: usize,
    taken: usize,
    /// It is complete and being unpacked.
    sealed: bool,
}

impl Unpacker {
    fn new(role: Role, params: DeflateParams) -> Self {
        let (_, forgets) = params.of_sender(role.other());
        let block = Box::new(Block { bytes: [0; BLOCK], filled: 0, taken: 0, sealed: false });
        Self { inflater: Inflater::new(Wrapping::Raw), keeps_context: !forgets, block, packed: 0, ends: 0 }
    }

    /// Takes packed bytes into the block, and says how many. None once it is sealed.
    pub(super) fn take(&mut self, piece: &[u8], mask: Option<&mut Mask>) -> usize {
        let block = &mut *self.block;
        if block.sealed {
            return 0;
        }
        let room = block.bytes.get_mut(block.filled..).unwrap_or_default();
        let len = room.len().min(piece.len());
        if let (Some(room), Some(piece)) = (room.get_mut(..len), piece.get(..len)) {
            match mask {
                Some(mask) => mask.copy(piece, room),
                None => room.copy_from_slice(piece),
            }
        }
        block.filled += len;
        self.packed += len as u64;
        block.sealed = block.filled == BLOCK;
        len
    }

    /// Makes the block complete as it is: a frame has ended.
    pub(super) fn seal(&mut self) {
        self.block.sealed = true;
    }

    /// Makes the block complete with what the peer cut off at the end of the message (RFC 7692 §7.2.2).
    pub(super) fn seal_message(&mut self) {
        let block = &mut *self.block;
        // A stream that ended with a final block needs no mark.
        if self.inflater.is_within() {
            block.bytes.iter_mut().zip(TAIL).for_each(|(to, from)| *to = from);
            block.filled = TAIL.len();
        }
        block.sealed = true;
    }

    /// Says whether a complete block waits to be unpacked.
    pub(super) const fn is_sealed(&self) -> bool {
        self.block.sealed
    }

    /// Unpacks the block to the end of `output`, before which `handed_out` bytes of the message were unpacked. The block
    /// stays sealed while some of it does not fit the part.
    pub(super) fn unpack(
        &mut self,
        output: &mut Filling,
        handed_out: usize,
        limits: &Limits,
    ) -> Result<(), Failure> {
        let most = limits.most_unpacked(self.packed);
        let limit = most.saturating_sub(handed_out).saturating_add(1).min(limits.part);
        let Self { inflater, block, ends, .. } = self;
        loop {
            let rest = block.bytes.get(block.taken..block.filled).unwrap_or_default();
            let inflated = inflater.inflate(rest, output, limit).map_err(|_| Failure::deflate())?;
            block.taken += inflated.consumed;
            if handed_out.saturating_add(output.len()) > most {
                return Err(Failure::too_big("a message unpacks to more than is taken"));
            }
            match inflated.stop {
                Stop::Output => return Ok(()),
                Stop::Input => break,
                Stop::End => {
                    // A final block (RFC 7692 §7.2.3.4); what comes next may refer back to what came before.
                    *ends += 1;
                    if *ends > MAX_ENDS {
                        return Err(Failure::deflate());
                    }
                    inflater.restart_with(output.filled()).map_err(|_| Failure::deflate())?;
                    if block.taken >= block.filled {
                        break;
                    }
                }
            }
        }
        (block.filled, block.taken, block.sealed) = (0, 0, false);
        Ok(())
    }

    /// Takes note that the message is complete.
    pub(super) fn end_message(&mut self) {
        if !self.keeps_context {
            self.inflater.reset();
        }
        (self.packed, self.ends) = (0, 0);
    }

    /// Gives memory back, if the next message cannot refer to those before.
    pub(super) fn release(&mut self) {
        if !self.keeps_context {
            self.inflater.release();
        }
    }
}

/// What marks the end of what was packed, and is not sent (RFC 7692 §7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// What is unpacked at a time.
const BLOCK: usize = 4 << 10;
/// Final blocks in a message. Each costs as much as 30 KiB of text.
const MAX_ENDS: u32 = 1_024;
