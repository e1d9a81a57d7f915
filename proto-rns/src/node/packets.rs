//! Single packets, and the destinations of this node.

use super::{Node, Outcome, outcome_event};
use crate::{
    DestinationHash, IdentityHash, PacketHash,
    dest::{DestinationKeys, GroupKey, LocalDestination},
    iface::InterfaceId,
    wire::{Context, DestinationType, Packet, PacketType},
};
use core::time::Duration;
use proto_core::Instant;

impl Node {
    /// Adds a destination that this node receives for. A destination with this address that was there before is
    /// replaced.
    ///
    /// # Errors
    /// There are too many.
    pub fn register(
        &mut self,
        now: Instant,
        destination: LocalDestination,
    ) -> Result<DestinationHash, RegisterError> {
        self.core.see(now);
        let hash = destination.hash();
        if self.destinations.len() >= self.config.max_destinations && !self.destinations.contains_key(&hash) {
            return Err(RegisterError::TooMany { limit: self.config.max_destinations });
        }
        self.destinations.insert(hash, destination);
        self.introduce(hash);
        Ok(hash)
    }

    /// Removes a destination; its links stay open. `None` when there is none.
    pub fn deregister(&mut self, destination: DestinationHash) -> Option<LocalDestination> {
        self.introductions.cancel(destination);
        self.destinations.remove(&destination)
    }

    /// Returns a destination of this node.
    pub fn destination(&self, destination: DestinationHash) -> Option<&LocalDestination> {
        self.destinations.get(&destination)
    }

    /// Lets a destination of this node be changed.
    pub fn destination_mut(&mut self, destination: DestinationHash) -> Option<&mut LocalDestination> {
        self.destinations.get_mut(&destination)
    }

    /// Sends a packet to a destination whose announce was heard, encrypted for its identity or its ratchet. Its
    /// [`Event::Delivered`](super::Event::Delivered) or [`Event::Undelivered`](super::Event::Undelivered) follows.
    ///
    /// # Errors
    /// Nothing is known of the destination, or the data are too long for a packet.
    pub fn send(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        data: &[u8],
    ) -> Result<PacketHash, SendError> {
        let now = self.core.see(now);
        let identity = *self.known.identity(destination).ok_or(SendError::Unknown)?;
        check_len(data, ENCRYPTED_MDU)?;
        let wall = self.core.wall();
        let ratchet = self.known.ratchet(destination, wall).copied();
        let env = self.core.env();
        let sealed =
            identity.encrypt(env.crypto, env.entropy, ratchet.as_ref(), data).ok_or(SendError::UselessKey)?;
        self.known.mark_used(destination, wall);
        let packet =
            Packet::new(PacketType::Data, DestinationType::Single, destination, Context::None, &sealed);
        let hash = packet.hash();
        let hops = u32::from(self.router.hops_to(destination).unwrap_or(Packet::MAX_HOPS));
        let timeout = self.router.first_hop_timeout(destination, &self.interfaces) + PER_HOP_TIMEOUT * hops;
        if let Some(given_up) = self.receipts.open(hash, *identity.verifying_key(), now, timeout) {
            self.tell_outcome(given_up);
        }
        self.router.send_hashed(&self.core.env(), &packet, &hash, None, &mut self.interfaces);
        Ok(hash)
    }

    /// Sends a packet to a group. Nobody proves that it arrived.
    ///
    /// # Errors
    /// The data are too long for a packet.
    pub fn send_to_group(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        key: &GroupKey,
        data: &[u8],
    ) -> Result<PacketHash, SendError> {
        self.core.see(now);
        check_len(data, GROUP_MDU)?;
        let sealed = key.encrypt(&mut self.core.env(), data);
        Ok(self.broadcast(DestinationType::Group, destination, &sealed))
    }

    /// Sends a packet in the clear to everybody in reach.
    ///
    /// # Errors
    /// The data are too long for a packet.
    pub fn send_plain(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        data: &[u8],
    ) -> Result<PacketHash, SendError> {
        self.core.see(now);
        check_len(data, PLAIN_MDU)?;
        Ok(self.broadcast(DestinationType::Plain, destination, data))
    }

    /// Proves that a packet arrived, for destinations whose application decides which are proved. False when the
    /// destination or the interface is gone.
    pub fn prove(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        packet: PacketHash,
        interface: InterfaceId,
    ) -> bool {
        self.core.see(now);
        let possible = self.interfaces.get(interface).is_some()
            && self
                .destinations
                .get(&destination)
                .is_some_and(|destination| matches!(destination.keys(), DestinationKeys::Single(_)));
        if possible {
            self.send_proof(destination, packet, interface);
        }
        possible
    }

    /// Asks the network for a path to a destination; its announce follows when somebody knows one.
    pub fn request_path(&mut self, now: Instant, destination: DestinationHash) {
        self.core.see(now);
        self.router.request_path(&mut self.core.env(), destination, None, &mut self.interfaces);
    }

    /// Forgets the path to a destination, so that the next use asks for a new one. False when there is none.
    pub fn drop_path(&mut self, destination: DestinationHash) -> bool {
        self.router.drop_path(destination)
    }

    /// Forgets all paths that go by a transport node, and returns how many.
    pub fn drop_all_via(&mut self, transport: IdentityHash) -> usize {
        self.router.drop_all_via(transport)
    }

    fn broadcast(
        &mut self,
        destination_type: DestinationType,
        destination: DestinationHash,
        data: &[u8],
    ) -> PacketHash {
        let packet = Packet::new(PacketType::Data, destination_type, destination, Context::None, data);
        let hash = packet.hash();
        self.router.send_hashed(&self.core.env(), &packet, &hash, None, &mut self.interfaces);
        hash
    }

    pub(super) fn tell_outcome(&mut self, outcome: Outcome) {
        self.tell(outcome_event(outcome));
    }
}

const fn check_len(data: &[u8], limit: usize) -> Result<(), SendError> {
    if data.len() > limit { Err(SendError::TooLong { limit }) } else { Ok(()) }
}

/// The longest plaintext of a packet to a single destination (spec 1.1).
const ENCRYPTED_MDU: usize = 383;
/// The longest plaintext of a packet to a group: a token of it fits into [`PLAIN_MDU`].
const GROUP_MDU: usize = 415;
/// The longest data of a packet in the clear.
const PLAIN_MDU: usize = 464;
/// What each hop adds to the time that a proof may take.
const PER_HOP_TIMEOUT: Duration = Duration::from_secs(6);

/// A packet that is not sent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// No announce of the destination was heard.
    #[error("the destination is not known: request a path to it and wait for its announce")]
    Unknown,
    /// The data are longer than a packet carries.
    #[error("the data are longer than the {limit} bytes that a packet carries; a link takes more")]
    TooLong {
        /// How many bytes it carries.
        limit: usize,
    },
    /// The destination's key is one that no honest peer has.
    #[error("the destination's key is useless")]
    UselessKey,
}

/// A destination that is not added.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There are as many as the configuration allows.
    #[error("there are {limit} destinations already")]
    TooMany {
        /// How many it allows.
        limit: usize,
    },
}
