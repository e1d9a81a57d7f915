//! Bodies, whatever marks their end.

use super::{
    chunked::{ChunkedReader, Piece},
    config::Limits,
    fault::Fault,
    framing::Framing,
};
use crate::Headers;

/// Finds one body's content and end after the other.
#[derive(Debug, Default)]
pub(super) struct BodyReader {
    stage: Stage,
    chunks: ChunkedReader,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Done,
    Length {
        left: u64,
    },
    Chunked,
    UntilClose,
}

impl BodyReader {
    pub(super) fn begin(&mut self, framing: Framing) {
        self.stage = match framing {
            Framing::None | Framing::Length(0) => Stage::Done,
            Framing::Length(left) => Stage::Length { left },
            Framing::Chunked => {
                self.chunks.reset();
                Stage::Chunked
            }
            Framing::UntilClose => Stage::UntilClose,
        };
    }

    /// Takes the next piece from the front of `input`; trailer fields go to `trailers`.
    pub(super) fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        trailers: &mut Headers,
        limits: &Limits,
    ) -> Result<Piece<'a>, Fault> {
        match (self.stage, *input) {
            (Stage::Done, _) => Ok(Piece::End),
            (Stage::Chunked, _) => {
                let piece = self.chunks.next(input, trailers, limits)?;
                if piece == Piece::End {
                    self.stage = Stage::Done;
                }
                Ok(piece)
            }
            (Stage::Length { .. } | Stage::UntilClose, []) => Ok(Piece::More),
            (Stage::Length { left }, data) => {
                let (content, rest) =
                    data.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(data.len()));
                *input = rest;
                self.advance(content.len());
                Ok(Piece::Content(content))
            }
            (Stage::UntilClose, content) => {
                *input = &[];
                Ok(Piece::Content(content))
            }
        }
    }

    /// Returns how many bytes of content come next, for certain.
    pub(super) const fn ahead(&self) -> u64 {
        match self.stage {
            Stage::Done | Stage::UntilClose => 0,
            Stage::Length { left } => left,
            Stage::Chunked => self.chunks.ahead(),
        }
    }

    /// Takes note that `len` bytes of the content [`ahead`](Self::ahead) have been read.
    pub(super) const fn advance(&mut self, len: usize) {
        match &mut self.stage {
            Stage::Length { left } => {
                *left = left.saturating_sub(len as u64);
                if *left == 0 {
                    self.stage = Stage::Done;
                }
            }
            Stage::Chunked => self.chunks.advance(len),
            Stage::Done | Stage::UntilClose => {}
        }
    }

    pub(super) const fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Says whether the connection's end is the body's.
    pub(super) const fn is_until_close(&self) -> bool {
        matches!(self.stage, Stage::UntilClose)
    }
}
