//! The processors that nothing here is written for.

use crate::{Alongside, HashState, Hashed, SealKey};

/// A processor with the instructions, of which there is none here.
#[derive(Clone, Copy, Debug)]
pub enum Fused {}

impl Fused {
    /// Returns `None`.
    pub const fn detect() -> Option<Self> {
        None
    }

    /// Cannot be called.
    pub fn seal(self, _: SealKey<'_>, _: [u8; 16], _: &[&[u8]], _: &mut Vec<u8>) {
        match self {}
    }

    /// Cannot be called.
    pub fn seal_alongside(
        self,
        _: SealKey<'_>,
        _: [u8; 16],
        _: &[&[u8]],
        _: &Alongside<'_>,
        _: &mut Vec<u8>,
    ) -> Hashed {
        match self {}
    }

    /// Cannot be called.
    pub fn compress_two(self, _: [&mut HashState; 2], _: [&[[u8; 64]]; 2]) -> usize {
        match self {}
    }
}
