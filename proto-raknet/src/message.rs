//! Messages as the application sees them: payload, reliability, channel and priority.

use bytes::Bytes;

use crate::{limits, wire::ParseError};

/// How a message is to arrive (the eight modes of RakNet's `PacketReliability`).
///
/// The three receipt modes exist between application and machine only: on the wire they are their base mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Reliability {
    /// At most once, in any order. Discarded when it waits longer than the unreliable expiry.
    Unreliable = 0,
    /// At most once; one that arrives after a newer one of its channel is dropped.
    UnreliableSequenced = 1,
    /// Exactly once, in any order.
    Reliable = 2,
    /// Exactly once, in the order of sending within its channel.
    #[default]
    ReliableOrdered = 3,
    /// Resent until acknowledged, but dropped by the receiver if a newer one of its channel came first.
    ReliableSequenced = 4,
    /// [`Unreliable`](Self::Unreliable), and the sender learns whether it was acknowledged or lost.
    UnreliableWithReceipt = 5,
    /// [`Reliable`](Self::Reliable), and the sender learns when it was acknowledged.
    ReliableWithReceipt = 6,
    /// [`ReliableOrdered`](Self::ReliableOrdered), and the sender learns when it was acknowledged.
    ReliableOrderedWithReceipt = 7,
}

impl Reliability {
    /// All modes, by their wire value.
    pub const ALL: [Self; 8] = [
        Self::Unreliable,
        Self::UnreliableSequenced,
        Self::Reliable,
        Self::ReliableOrdered,
        Self::ReliableSequenced,
        Self::UnreliableWithReceipt,
        Self::ReliableWithReceipt,
        Self::ReliableOrderedWithReceipt,
    ];

    /// Says whether the message is resent until it is acknowledged; its frames carry a reliable number.
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::Unreliable | Self::UnreliableSequenced | Self::UnreliableWithReceipt)
    }

    /// Says whether the message waits for those sent before it on its channel.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::ReliableOrdered | Self::ReliableOrderedWithReceipt)
    }

    /// Says whether the message is dropped once a newer one of its channel was delivered.
    pub const fn is_sequenced(self) -> bool {
        matches!(self, Self::UnreliableSequenced | Self::ReliableSequenced)
    }

    /// Says whether the message belongs to an ordering channel.
    pub const fn has_channel(self) -> bool {
        self.is_ordered() || self.is_sequenced()
    }

    /// Says whether the sender is told of the message's fate.
    pub const fn has_receipt(self) -> bool {
        matches!(
            self,
            Self::UnreliableWithReceipt | Self::ReliableWithReceipt | Self::ReliableOrderedWithReceipt
        )
    }

    /// Returns the mode without its receipt: the one that is written on the wire.
    #[must_use]
    pub const fn base(self) -> Self {
        match self {
            Self::UnreliableWithReceipt => Self::Unreliable,
            Self::ReliableWithReceipt => Self::Reliable,
            Self::ReliableOrderedWithReceipt => Self::ReliableOrdered,
            Self::Unreliable
            | Self::UnreliableSequenced
            | Self::Reliable
            | Self::ReliableOrdered
            | Self::ReliableSequenced => self,
        }
    }

    /// Returns the mode that a message too long for one datagram is sent with: a lost part of an unreliable one
    /// could never be completed, so it becomes reliable (C++ `ReliabilityLayer::Send`).
    #[must_use]
    pub const fn upgraded(self) -> Self {
        match self {
            Self::Unreliable => Self::Reliable,
            Self::UnreliableSequenced => Self::ReliableSequenced,
            Self::UnreliableWithReceipt => Self::ReliableWithReceipt,
            Self::Reliable
            | Self::ReliableOrdered
            | Self::ReliableSequenced
            | Self::ReliableWithReceipt
            | Self::ReliableOrderedWithReceipt => self,
        }
    }
}

impl TryFrom<u8> for Reliability {
    type Error = ParseError;

    fn try_from(value: u8) -> Result<Self, ParseError> {
        Self::ALL.get(usize::from(value)).copied().ok_or(ParseError::Reliability)
    }
}

/// How much of the link a message gets while others wait (RakNet's `PacketPriority`).
///
/// Each level gets about twice the share of the next lower one; within a level messages leave in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Priority {
    /// Before all others, and never held back by [`FlushPolicy::Batched`](crate::FlushPolicy::Batched).
    Immediate = 0,
    /// The usual choice.
    #[default]
    High = 1,
    /// Half the share of `High`.
    Medium = 2,
    /// Half the share of `Medium`.
    Low = 3,
}

impl Priority {
    /// All priorities, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Immediate, Self::High, Self::Medium, Self::Low];
}

/// One of the 32 independent streams of order between two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Channel(u8);

impl Channel {
    /// The channel that Bedrock uses for everything.
    pub const ZERO: Self = Self(0);

    /// Creates channel `number`; `None` from 32 on.
    pub const fn new(number: u8) -> Option<Self> {
        if number < limits::CHANNELS { Some(Self(number)) } else { None }
    }

    /// Returns the number, below 32.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The bytes; not empty. They are shared, not copied, until they are written into a datagram.
    pub payload: Bytes,
    /// How it is to arrive.
    pub reliability: Reliability,
    /// The channel it is ordered or sequenced in; without meaning for the other modes.
    pub channel: Channel,
    /// How urgent it is.
    pub priority: Priority,
}

impl Message {
    /// Creates a reliable ordered message on channel 0 with high priority.
    pub fn new(payload: impl Into<Bytes>) -> Self {
        Self {
            payload: payload.into(),
            reliability: Reliability::default(),
            channel: Channel::ZERO,
            priority: Priority::default(),
        }
    }

    /// Sets the reliability.
    #[must_use]
    pub fn reliability(mut self, reliability: Reliability) -> Self {
        self.reliability = reliability;
        self
    }

    /// Sets the channel.
    #[must_use]
    pub fn channel(mut self, channel: Channel) -> Self {
        self.channel = channel;
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }
}

impl<T: Into<Bytes>> From<T> for Message {
    fn from(payload: T) -> Self {
        Self::new(payload)
    }
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The bytes. A short payload shares a 4 KiB slab with its neighbours: copy it if you keep it for long.
    pub payload: Bytes,
    /// How it was sent; never one of the receipt modes.
    pub reliability: Reliability,
    /// Its channel; channel 0 for modes without one.
    pub channel: Channel,
}

/// The machine's number for a message whose fate the sender wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiptId(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_values_name_their_modes() {
        for value in 0..8 {
            assert_eq!(Reliability::try_from(value).map(|mode| mode as u8), Ok(value));
        }
        assert!(Reliability::try_from(8).is_err());
    }

    #[test]
    fn an_upgrade_keeps_the_receipt_and_the_sequence() {
        for mode in Reliability::ALL {
            let upgraded = mode.upgraded();
            assert!(upgraded.is_reliable());
            assert_eq!(upgraded.has_receipt(), mode.has_receipt());
            assert_eq!(upgraded.is_sequenced(), mode.is_sequenced());
        }
    }

    #[test]
    fn there_are_32_channels() {
        assert_eq!(Channel::new(31).map(Channel::get), Some(31));
        assert_eq!(Channel::new(32), None);
    }
}
