//! Content codings (RFC 9110 §8.4).

use super::{config::Limits, fault::Fault};
use crate::{
    Code, Filling, Headers,
    deflate::{Inflater, Stop, Wrapping},
};

/// Undoes one content coding: gzip or deflate.
pub(super) struct Decoding {
    inflater: Inflater,
    taken: u64,
    made: u64,
    /// The compressed stream is complete; what follows is padding.
    ended: bool,
}

impl Decoding {
    /// What a request says that asks for coded answers.
    pub(super) const ACCEPTED: &str = "gzip, deflate";

    /// Returns what undoes the coding that the fields tell; `None` if there is none, or one that is not known.
    ///
    /// A chain of codings is refused: each one would multiply what a small body unpacks to.
    pub(super) fn of(headers: &Headers) -> Result<Option<Self>, Fault> {
        let is = |coding: &[u8], name: &str| coding.eq_ignore_ascii_case(name.as_bytes());
        let mut codings = headers.list("Content-Encoding").filter(|coding| !is(coding, "identity"));
        let Some(coding) = codings.next() else { return Ok(None) };
        if codings.next().is_some() {
            return Err(Fault::new(Code::BadEncoding, 415, "more than one content coding"));
        }
        let wrapping = match coding {
            gzip if is(gzip, "gzip") || is(gzip, "x-gzip") => Wrapping::Gzip,
            deflate if is(deflate, "deflate") => Wrapping::ZlibOrRaw,
            _ => return Ok(None),
        };
        Ok(Some(Self { inflater: Inflater::new(wrapping), taken: 0, made: 0, ended: false }))
    }

    /// Decodes `input` to the end of `output` until that is `limit` bytes long. Returns how much was used; if not all,
    /// there was no more room.
    pub(super) fn decode(
        &mut self,
        input: &[u8],
        output: &mut Filling,
        limit: usize,
        limits: &Limits,
    ) -> Result<Decoded, Fault> {
        if self.ended {
            return Ok(Decoded { used: input.len(), has_more: false });
        }
        let before = output.len();
        let step = self.inflater.inflate(input, output, limit);
        let step = step.map_err(|_| Fault::new(Code::BadEncoding, 400, "corrupt compressed data"))?;
        self.taken += step.consumed as u64;
        self.made += (output.len() - before) as u64;
        if self.made > Limits::RATIO_FREE && self.made / limits.decoding_ratio.max(1) > self.taken {
            return Err(BOMB);
        }
        self.ended = step.stop == Stop::End;
        let used = if self.ended { input.len() } else { step.consumed };
        Ok(Decoded { used, has_more: step.stop == Stop::Output })
    }

    /// Checks that the coded body was complete.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        if self.inflater.is_within() {
            return Err(Fault::new(Code::BadEncoding, 400, "compressed data that ends early"));
        }
        Ok(())
    }
}

impl core::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Decoding")
            .field("taken", &self.taken)
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}

/// How far decoding came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoded {
    pub(super) used: usize,
    /// There is more to come out without more going in.
    pub(super) has_more: bool,
}

/// The body unpacks to more than it may.
pub(super) const BOMB: Fault = Fault::new(Code::Bomb, 413, "");
