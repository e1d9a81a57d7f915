//! What commands to a link answer when they cannot be followed.

/// A link request that is not answered.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The packet is no link request.
    #[error("not a link request: {0}")]
    Malformed(#[from] crate::wire::Malformed),
    /// This end's configuration is not valid.
    #[error("{0}")]
    Config(#[from] super::LinkConfigError),
    /// The packet is of another kind.
    #[error("the packet asks for no link")]
    NotARequest,
    /// The initiator wants a cipher that this node does not have.
    #[error("the initiator wants a cipher that this node does not have")]
    Mode,
    /// The initiator's key is one that no honest peer has.
    #[error("the initiator's key leads to no secret")]
    Key,
}

/// Data that a link does not send.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The link is not established, or closed.
    #[error("the link is not established")]
    NotEstablished,
    /// There is nothing to send.
    #[error("there is nothing to send")]
    Empty,
    /// The data are longer than a packet of the link carries.
    #[error("the data are longer than the {limit} bytes that a packet of this link carries")]
    TooLong {
        /// What it carries.
        limit: usize,
    },
    /// So many packets wait for their proofs that one more is not allowed.
    #[error("too many packets wait for their proofs")]
    Full,
}

/// A request or response that a link does not send.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The link is not established, or closed.
    #[error("the link is not established")]
    NotEstablished,
    /// The data are not one MessagePack value.
    #[error("the data are not one MessagePack value")]
    Data,
    /// So many requests wait for their responses that one more is not allowed.
    #[error("too many requests wait for their responses")]
    Full,
    /// No request with this id waits for an answer.
    #[error("no request with this id waits for an answer")]
    UnknownRequest,
    /// The data need a resource, and the resource is refused.
    #[error("the data do not go as a resource: {0}")]
    Resource(#[from] crate::resource::SendError),
}

/// A resource that a link does not send.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// The link is not established, or closed.
    #[error("the link is not established")]
    NotEstablished,
    /// The resource is refused.
    #[error("{0}")]
    Refused(#[from] crate::resource::SendError),
}

/// A message that a channel does not send.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The link is not established, or closed.
    #[error("the link is not established")]
    NotEstablished,
    /// As many messages are on their way as the window allows; [`Event::ChannelReady`](super::Event::ChannelReady)
    /// tells when there is room again.
    #[error("the channel's window is full")]
    Full,
    /// The message is longer than a packet of the link carries.
    #[error("the message is longer than the {limit} bytes that fit")]
    TooLong {
        /// What fits.
        limit: usize,
    },
    /// Types from 0xF000 belong to the protocol.
    #[error("message types from 0xf000 belong to the protocol")]
    ReservedType,
}

/// A link whose initiator cannot be made known.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifyError {
    /// The link is not established, or closed.
    #[error("the link is not established")]
    NotEstablished,
    /// Only the initiator identifies itself; the responder is known by its destination.
    #[error("only the initiator of a link identifies itself")]
    NotInitiator,
}
