//! Where a session is in its life.
//!
//! ```text
//! opened by the peer:  Unverified --0x09--> Handling --0x13--> Connected --close()--> Closing --acked--> Gone
//! opened by us:        Requesting --0x10--> Connected --0x15 received--> Draining --a while--> Gone
//! ```

use proto_core::Instant;

use crate::{CloseReason, ConnectFailure};

/// The phase of a session and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Server: OpenConnectionReply2 was sent; only a ConnectionRequest is taken.
    Unverified {
        /// The end of the handshake.
        until: Instant,
    },
    /// Server: ConnectionRequestAccepted was sent; waiting for the NewIncomingConnection.
    Handling {
        /// The end of the handshake.
        until: Instant,
        /// When it was sent.
        accepted_at: Instant,
    },
    /// Client: ConnectionRequest was sent; waiting for the ConnectionRequestAccepted.
    Requesting {
        /// The end of the handshake.
        until: Instant,
    },
    /// Messages flow.
    Connected,
    /// We end the session: once all that was sent is acknowledged the peer is notified, and once that is acknowledged
    /// too it is over.
    Closing {
        /// When the wait ends.
        until: Instant,
        /// The notification was sent.
        notified: bool,
        /// What the application is told; `None` if it never heard of the session.
        reason: Option<CloseReason>,
    },
    /// The peer ended the session. It is only acknowledged any more, in case an acknowledgement was lost.
    Draining {
        /// When that ends.
        until: Instant,
    },
    /// Over.
    Gone,
}

/// What the application hears at the end of a session, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// An attempt of ours failed.
    Failed(ConnectFailure),
    /// An established session ended.
    Closed(CloseReason),
    /// Nobody knew of it.
    Silent,
}

impl Phase {
    /// Says whether the handshake is going on.
    pub(crate) const fn is_handshake(self) -> bool {
        matches!(self, Self::Unverified { .. } | Self::Handling { .. } | Self::Requesting { .. })
    }

    /// Says whether the application knows that the session is over, or never knew of it.
    pub(crate) const fn is_told_over(self) -> bool {
        matches!(self, Self::Draining { .. } | Self::Closing { reason: None, .. } | Self::Gone)
    }

    /// Returns when the phase ends by itself.
    pub(crate) const fn until(self) -> Option<Instant> {
        match self {
            Self::Unverified { until }
            | Self::Handling { until, .. }
            | Self::Requesting { until }
            | Self::Closing { until, .. }
            | Self::Draining { until } => Some(until),
            Self::Connected | Self::Gone => None,
        }
    }
}
