//! What stands for packing and unpacking in a build without: nothing that could exist.

use alloc::vec::Vec;

use super::{
    ConfigError, Deflate, Role, assembly::Limits, failure::Failure, handshake::DeflateParams, mask::Mask,
};
use crate::Filling;

pub(super) const fn of_agreement(
    _: Role,
    params: Option<DeflateParams>,
    _: Deflate,
) -> Result<(Option<Packer>, Option<Unpacker>), ConfigError> {
    match params {
        Some(_) => Err(ConfigError::NoDeflate),
        None => Ok((None, None)),
    }
}

#[derive(Debug)]
pub(super) enum Packer {}

impl Packer {
    pub(super) const fn wants(&self, _: usize) -> bool {
        match *self {}
    }

    pub(super) const fn pack(&mut self, _: &[u8], _: bool) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) fn reuse(&mut self, _: Vec<u8>) {
        match *self {}
    }

    pub(super) const fn release(&mut self) {
        match *self {}
    }
}

#[derive(Debug)]
pub(super) enum Unpacker {}

impl Unpacker {
    pub(super) const fn take(&mut self, _: &[u8], _: Option<&mut Mask>) -> usize {
        match *self {}
    }

    pub(super) const fn seal(&mut self) {
        match *self {}
    }

    pub(super) const fn seal_message(&mut self) {
        match *self {}
    }

    pub(super) const fn is_sealed(&self) -> bool {
        match *self {}
    }

    pub(super) const fn unpack(&mut self, _: &mut Filling, _: usize, _: &Limits) -> Result<(), Failure> {
        match *self {}
    }

    pub(super) const fn end_message(&mut self) {
        match *self {}
    }

    pub(super) const fn release(&mut self) {
        match *self {}
    }
}
