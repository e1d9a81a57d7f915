//! What can go wrong for applications.

use proto_rns::{
    link::{
        ChannelError, CloseReason, IdentifyError, RequestError, RequestFailure, ResourceError,
        SendError as LinkSendError,
    },
    node::{OpenLinkError, SendError},
    resource::FailReason,
};

/// A packet of which nobody proved that it arrived, within the time that a proof may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no proof came that the packet arrived")]
pub struct Undelivered;

/// The node has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node has ended")]
pub struct NodeEnded;

/// A node that does not start.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum SpawnFailed {
    /// A value of the configuration is out of its range.
    #[error("the node's settings: {0}")]
    Config(#[from] proto_rns::node::NodeConfigError),
    /// An interface's settings are out of their range.
    #[error("the interface \"{name}\": {error}")]
    Interface {
        /// The interface's name.
        name: String,
        /// What is wrong with it.
        error: proto_rns::node::AddInterfaceError,
    },
    /// The operating system did not give what is needed.
    #[error("the operating system: {0}")]
    Io(#[from] std::io::Error),
}

/// No way to a destination was found in time.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFailed {
    /// Nobody answered.
    #[error("nobody knows a path to the destination")]
    TimedOut,
    /// The node has ended.
    #[error("the node has ended")]
    NodeEnded,
}

/// A packet that was not sent, or of which nobody proved that it arrived.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendFailed {
    /// It was not sent.
    #[error(transparent)]
    Refused(#[from] SendError),
    /// It was not sent on the link.
    #[error(transparent)]
    LinkRefused(#[from] LinkSendError),
    /// No proof came.
    #[error(transparent)]
    Undelivered(#[from] Undelivered),
    /// The link is closed.
    #[error(transparent)]
    Closed(#[from] LinkClosed),
}

/// A link that is not established.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectFailed {
    /// It was not asked for.
    #[error(transparent)]
    Refused(#[from] OpenLinkError),
    /// No path to the destination was found.
    #[error(transparent)]
    NoPath(#[from] PathFailed),
    /// The destination did not answer.
    #[error("the destination did not answer: {0}")]
    NoAnswer(LinkClosed),
}

/// A link is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the link is closed{}", why(*reason))]
pub struct LinkClosed {
    /// Why; `None` where the node ended.
    pub reason: Option<CloseReason>,
}

/// A request without a response.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestFailed {
    /// It was not sent.
    #[error(transparent)]
    Refused(#[from] RequestError),
    /// No response came, or not the one that was asked for.
    #[error("no response: {}", match .0 {
        RequestFailure::Timeout => "none came in time (the path may not exist, or not be allowed)",
        RequestFailure::NotSent => "the request did not arrive",
        RequestFailure::TooLarge => "it is longer than the request allows",
        RequestFailure::Broken => "it did not arrive whole",
        RequestFailure::LinkClosed | _ => "the link closed",
    })]
    Failed(RequestFailure),
    /// The link is closed.
    #[error(transparent)]
    Closed(#[from] LinkClosed),
}

/// A resource that did not arrive.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferFailed {
    /// It was not sent.
    #[error(transparent)]
    Refused(#[from] ResourceError),
    /// It came to nothing.
    #[error("the resource came to nothing: {0:?}")]
    Failed(FailReason),
    /// The link is closed.
    #[error(transparent)]
    Closed(#[from] LinkClosed),
}

/// A message or piece of a stream that a channel does not take.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelFailed {
    /// The message is not one that a channel takes.
    #[error(transparent)]
    Refused(#[from] ChannelError),
    /// The link is closed.
    #[error(transparent)]
    Closed(#[from] LinkClosed),
}

/// An identity that is not made known.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifyFailed {
    /// The link is not one to identify on.
    #[error(transparent)]
    Refused(#[from] IdentifyError),
    /// The link is closed.
    #[error(transparent)]
    Closed(#[from] LinkClosed),
}

const fn why(reason: Option<CloseReason>) -> &'static str {
    match reason {
        None => ": the node ended",
        Some(CloseReason::NotEstablished) => ": nobody answered the request for it",
        Some(CloseReason::Timeout) => ": nothing was heard of the other end",
        Some(CloseReason::InitiatorClosed) => " by its initiator",
        Some(CloseReason::DestinationClosed) => " by its destination",
        Some(CloseReason::ChannelTimeout) => ": a message was not proved",
        Some(CloseReason::CorruptResource) => ": a resource was not what it said",
        Some(_) => "",
    }
}
