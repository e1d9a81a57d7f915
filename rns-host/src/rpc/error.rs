//! What goes wrong on an RPC connection.

use proto_rns::wire::msgpack::ShapeError;

/// Why a call came to nothing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The other end refused this end's answer.
    #[error(
        "the other end has another RPC key: let both use one config directory, or set the same rpc_key in both"
    )]
    KeyRefused,
    /// The other end's answer was wrong.
    #[error(
        "the other end does not know the RPC key: let both use one config directory, or set the same rpc_key in both"
    )]
    WrongKey,
    /// The other end asked for a digest that this one does not have.
    #[error("the other end proves itself in a way that is not supported: it must be HMAC-MD5 or HMAC-SHA256")]
    UnknownDigest,
    /// The other end sent something else than the protocol has at this point.
    #[error("the other end is no shared instance's RPC")]
    Unexpected,
    /// A frame is longer than allowed.
    #[error("a message is longer than {limit} bytes")]
    TooLong {
        /// The longest allowed at this point.
        limit: usize,
    },
    /// A frame has a negative length.
    #[error("a message has an impossible length")]
    BadFrame,
    /// The connection ended before the call was over.
    #[error("the other end closed the connection before the call was over")]
    Closed,
    /// The reply is no MessagePack.
    #[error("the reply is damaged: {0}")]
    Reply(#[from] ShapeError),
}
