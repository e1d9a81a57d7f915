//! Making this node's destinations known.

use super::Node;
use crate::{
    DestinationHash,
    dest::DestinationKeys,
    iface::InterfaceId,
    wire::{Announce, Context, DestinationType, Packet, PacketType, RandomHash},
};
use alloc::vec::Vec;
use proto_core::Instant;

impl Node {
    /// Announces one of this node's destinations on all interfaces, with `app_data` or, without, the destination's own.
    ///
    /// # Errors
    /// There is no such destination, it is not of a single identity, or the announce would not fit into a packet.
    pub fn announce(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        app_data: Option<&[u8]>,
    ) -> Result<(), AnnounceError> {
        self.core.see(now);
        let (has_ratchet, data) = self.sign_announce(destination, app_data)?;
        let packet = announce_packet(destination, Context::None, has_ratchet, &data);
        self.router.announce(&packet, None, &mut self.interfaces);
        self.introductions.cancel(destination);
        Ok(())
    }

    /// Answers a path request for one of this node's destinations on the interface that it came over.
    ///
    /// A request that comes by several ways has the same tag, by which the router lets only the first through: there is
    /// one answer, and no need to keep it for the others (the reference's `PR_TAG_WINDOW`).
    pub(super) fn answer_path_request(&mut self, destination: DestinationHash, on: InterfaceId) {
        let Ok((has_ratchet, data)) = self.sign_announce(destination, None) else { return };
        let packet = announce_packet(destination, Context::PathResponse, has_ratchet, &data);
        self.router.announce(&packet, Some(on), &mut self.interfaces);
    }

    /// Signs an announce, with a new ratchet where one is due, and returns its data.
    pub(super) fn sign_announce(
        &mut self,
        destination: DestinationHash,
        app_data: Option<&[u8]>,
    ) -> Result<(bool, Vec<u8>), AnnounceError> {
        let destination = self.destinations.get_mut(&destination).ok_or(AnnounceError::Unknown)?;
        let mut env = self.core.env();
        let ratchet = destination.ratchets.as_mut().and_then(|ratchets| {
            ratchets.rotate_if_due(&mut env);
            ratchets.public(env.crypto)
        });
        let DestinationKeys::Single(identity) = destination.keys() else {
            return Err(AnnounceError::NotSingle);
        };
        let app_data = app_data.unwrap_or(&destination.app_data);
        let seconds = env.unix_seconds();
        let random = RandomHash::generate(env.entropy, seconds);
        let announce = Announce::sign(identity, destination.name().hash(), random, ratchet, app_data);
        let mut data = Vec::new();
        announce.emit(&mut data);
        if Packet::SHORT_HEADER + data.len() > MTU {
            let limit = app_data.len() - (Packet::SHORT_HEADER + data.len() - MTU);
            return Err(AnnounceError::TooLong { limit });
        }
        Ok((ratchet.is_some(), data))
    }
}

pub(super) fn announce_packet(
    destination: DestinationHash,
    context: Context,
    has_ratchet: bool,
    data: &[u8],
) -> Packet<'_> {
    Packet {
        context_flag: has_ratchet,
        ..Packet::new(PacketType::Announce, DestinationType::Single, destination, context, data)
    }
}

/// The longest packet that every interface carries (spec 1.1).
const MTU: usize = 500;

/// An announce that is not made.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnounceError {
    /// This node has no such destination.
    #[error("this node has no such destination")]
    Unknown,
    /// Groups and plain destinations have nobody to speak for them.
    #[error("only destinations of a single identity can be announced")]
    NotSingle,
    /// The application's data do not fit into the packet.
    #[error(
        "the application's data are longer than the {limit} bytes that fit into this destination's announces"
    )]
    TooLong {
        /// How many bytes fit.
        limit: usize,
    },
}
