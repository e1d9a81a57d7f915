//! What a packet is about, beyond its type.

/// The context byte of a packet (spec 1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// An ordinary packet.
    None,
    /// A part of a resource.
    Resource,
    /// A resource is offered.
    ResourceAdvertisement,
    /// Parts of a resource are asked for.
    ResourceRequest,
    /// More of a resource's hash map.
    ResourceHashmapUpdate,
    /// A resource arrived whole.
    ResourceProof,
    /// The sender gives a resource up.
    ResourceInitiatorCancel,
    /// The receiver refuses a resource or gives it up.
    ResourceReceiverCancel,
    /// A packet is asked for again from a cache.
    CacheRequest,
    /// A request to a path of the link's destination.
    Request,
    /// The response to a request.
    Response,
    /// An announce that answers a path request.
    PathResponse,
    /// A command to an interface.
    Command,
    /// The status of a command.
    CommandStatus,
    /// A message of a link's channel.
    Channel,
    /// A link is alive.
    KeepAlive,
    /// The initiator of a link says who it is.
    LinkIdentify,
    /// A link is closed.
    LinkClose,
    /// Unused by the reference.
    LinkProof,
    /// The round-trip time, as the initiator of a link measured it.
    LinkRtt,
    /// The answer to a link request.
    LinkRequestProof,
    /// A value that the protocol does not define.
    Unknown(u8),
}

impl Context {
    const NAMED: [(u8, Self); 21] = [
        (0x00, Self::None),
        (0x01, Self::Resource),
        (0x02, Self::ResourceAdvertisement),
        (0x03, Self::ResourceRequest),
        (0x04, Self::ResourceHashmapUpdate),
        (0x05, Self::ResourceProof),
        (0x06, Self::ResourceInitiatorCancel),
        (0x07, Self::ResourceReceiverCancel),
        (0x08, Self::CacheRequest),
        (0x09, Self::Request),
        (0x0a, Self::Response),
        (0x0b, Self::PathResponse),
        (0x0c, Self::Command),
        (0x0d, Self::CommandStatus),
        (0x0e, Self::Channel),
        (0xfa, Self::KeepAlive),
        (0xfb, Self::LinkIdentify),
        (0xfc, Self::LinkClose),
        (0xfd, Self::LinkProof),
        (0xfe, Self::LinkRtt),
        (0xff, Self::LinkRequestProof),
    ];

    /// Returns the byte on the wire.
    pub fn to_byte(self) -> u8 {
        if let Self::Unknown(byte) = self {
            return byte;
        }
        Self::NAMED.iter().find(|(_, context)| *context == self).map_or(0, |(byte, _)| *byte)
    }
}

impl From<u8> for Context {
    fn from(byte: u8) -> Self {
        Self::NAMED
            .iter()
            .find(|(known, _)| *known == byte)
            .map_or(Self::Unknown(byte), |(_, context)| *context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_round_trip() {
        assert!((0..=u8::MAX).all(|byte| Context::from(byte).to_byte() == byte));
        assert_eq!(Context::from(0x0f), Context::Unknown(0x0f));
    }
}
