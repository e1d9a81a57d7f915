//! Where a body's content goes.

use alloc::vec::Vec;

#[cfg(feature = "deflate")]
use super::decoding::{self, Decoding};
use super::{
    config::{Config, Limits},
    event::{Event, Inbox},
    fault::Fault,
};
use crate::{Filling, Payload, Pool};

/// Gathers one body after the other: whole, in parts, or not at all.
#[derive(Debug)]
pub(super) struct Collector {
    pool: Pool,
    limits: Limits,
    unread: usize,
    wanted: Wanted,
    filling: Option<Filling>,
    #[cfg(feature = "deflate")]
    decoding: Option<Decoding>,
    /// Coded bytes for whose content there is no room: at most one input.
    coded: Vec<u8>,
    /// Undecoded content may be left in the decoder or in `coded`.
    is_clogged: bool,
}

/// What the application wants of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it, at once.
    #[default]
    Whole,
    /// Parts, as they arrive.
    Parts,
    /// Nothing; so many bytes are dropped before the connection is given up.
    Nothing { left: u64 },
}

impl Collector {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            pool: Pool::new(config.pooled),
            limits: config.limits,
            unread: config.unread,
            wanted: Wanted::Whole,
            filling: None,
            #[cfg(feature = "deflate")]
            decoding: None,
            coded: Vec::new(),
            is_clogged: false,
        }
    }

    /// Begins with a body of which so many bytes are announced.
    pub(super) fn begin(&mut self, wanted: Wanted, announced: u64) -> Result<(), Fault> {
        self.wanted = wanted;
        self.filling = None;
        self.coded.clear();
        self.is_clogged = false;
        if wanted == Wanted::Whole {
            if announced > self.limits.body {
                return Err(Fault::body());
            }
            if announced > 0 {
                self.filling = Some(self.pool.fill(size_of_memory(announced)));
            }
        }
        Ok(())
    }

    /// Has the body decoded.
    #[cfg(feature = "deflate")]
    pub(super) fn decode(&mut self, decoding: Option<Decoding>) {
        self.decoding = decoding;
    }

    /// Takes in content.
    pub(super) fn add(&mut self, content: &[u8], inbox: &mut Inbox) -> Result<(), Fault> {
        if let Wanted::Nothing { left } = &mut self.wanted {
            *left = left.checked_sub(content.len() as u64).ok_or(Fault::body())?;
            return Ok(());
        }
        #[cfg(feature = "deflate")]
        if self.decoding.is_some() {
            self.coded.extend_from_slice(content);
            return self.decode_coded(inbox);
        }
        let mut rest = content;
        while !rest.is_empty() {
            let len = rest.len().min(self.room()?);
            let (now, later) = rest.split_at(len);
            self.filling().extend(now);
            self.cut_if_full(inbox);
            rest = later;
        }
        Ok(())
    }

    /// Lends the place for the content that comes next, `ahead` bytes of which are certain.
    pub(super) fn spare(&mut self, ahead: u64) -> Option<&mut [u8]> {
        if ahead < LENT || self.is_decoding() || matches!(self.wanted, Wanted::Nothing { .. }) {
            return None;
        }
        let limit = usize::try_from(ahead).unwrap_or(usize::MAX).min(self.room().ok()?);
        Some(self.filling().spare(limit)).filter(|room| !room.is_empty())
    }

    /// Takes note that content was put where [`spare`](Self::spare) said.
    pub(super) fn advance(&mut self, len: usize, inbox: &mut Inbox) {
        if let Some(filling) = &mut self.filling {
            filling.advance(len);
        }
        self.cut_if_full(inbox);
    }

    /// Goes on decoding what there was no room for.
    pub(super) fn unclog(&mut self, inbox: &mut Inbox) -> Result<(), Fault> {
        #[cfg(feature = "deflate")]
        if self.is_clogged {
            return self.decode_coded(inbox);
        }
        let _ = inbox;
        Ok(())
    }

    /// Makes a part of what has arrived.
    pub(super) fn cut(&mut self, inbox: &mut Inbox) {
        if self.wanted == Wanted::Parts
            && let Some(filling) = self.filling.take_if(|filling| !filling.is_empty())
        {
            inbox.push(Event::BodyPart(filling.finish(&mut self.pool)));
        }
    }

    /// Ends the body, and returns the content if it was wanted whole.
    pub(super) fn finish(&mut self, inbox: &mut Inbox) -> Result<Payload, Fault> {
        #[cfg(feature = "deflate")]
        if let Some(decoding) = self.decoding.take() {
            decoding.finish()?;
        }
        self.cut(inbox);
        Ok(match self.filling.take() {
            Some(filling) => filling.finish(&mut self.pool),
            None => Payload::new(),
        })
    }

    /// Drops what has arrived, and wants no more than so many bytes that are dropped as well.
    pub(super) fn give_up(&mut self, left: u64) {
        self.wanted = Wanted::Nothing { left };
        self.filling = None;
        #[cfg(feature = "deflate")]
        {
            self.decoding = None;
        }
        self.coded = Vec::new();
        self.is_clogged = false;
    }

    pub(super) const fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Says whether the application has to read before more can be taken in.
    pub(super) fn is_full(&self, inbox: &Inbox) -> bool {
        self.wanted == Wanted::Parts
            && (self.is_clogged
                || inbox.unread() + self.filling.as_ref().map_or(0, Filling::len) >= self.unread)
    }

    pub(super) const fn is_clogged(&self) -> bool {
        self.is_clogged
    }

    const fn is_decoding(&self) -> bool {
        #[cfg(feature = "deflate")]
        if self.decoding.is_some() {
            return true;
        }
        false
    }

    fn filling(&mut self) -> &mut Filling {
        let Self { pool, filling, .. } = self;
        let expected = if self.wanted == Wanted::Parts { PART } else { 0 };
        filling.get_or_insert_with(|| pool.fill(expected))
    }

    /// Returns how many bytes there is room for in what is being filled.
    fn room(&self) -> Result<usize, Fault> {
        let filled = self.filling.as_ref().map_or(0, Filling::len);
        let room = match self.wanted {
            Wanted::Parts => PART.saturating_sub(filled),
            Wanted::Whole => size_of_memory(self.limits.body).saturating_sub(filled),
            Wanted::Nothing { .. } => usize::MAX,
        };
        if room == 0 { Err(Fault::body()) } else { Ok(room) }
    }

    fn cut_if_full(&mut self, inbox: &mut Inbox) {
        if self.filling.as_ref().is_some_and(|filling| filling.len() >= PART) {
            self.cut(inbox);
        }
    }

    /// Decodes as far as there is room.
    #[cfg(feature = "deflate")]
    fn decode_coded(&mut self, inbox: &mut Inbox) -> Result<(), Fault> {
        let (mut used, limit) = (
            0,
            match self.wanted {
                Wanted::Parts => PART,
                // One more than allowed, to see whether there is one.
                Wanted::Whole | Wanted::Nothing { .. } => size_of_memory(self.limits.body).saturating_add(1),
            },
        );
        loop {
            self.is_clogged = false;
            if self.is_full(inbox) {
                self.is_clogged = true;
                break;
            }
            let Self { pool, filling, decoding: Some(decoding), coded, limits, .. } = self else { break };
            let output = filling.get_or_insert_with(|| pool.fill(PART));
            let step = decoding.decode(coded.get(used..).unwrap_or_default(), output, limit, limits)?;
            used += step.used;
            if self.wanted == Wanted::Whole
                && self.filling.as_ref().is_some_and(|filling| filling.len() >= limit)
            {
                return Err(decoding::BOMB);
            }
            self.cut_if_full(inbox);
            if !step.has_more {
                break;
            }
        }
        self.coded.drain(..used.min(self.coded.len()));
        Ok(())
    }
}

/// A part of a streamed body has at most so many bytes.
const PART: usize = 64 << 10;

/// Content is read in place if at least so many bytes are certain to come: less is copied faster than asked for.
const LENT: u64 = 8 << 10;

/// What is longer than the address space is as long as that.
fn size_of_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
