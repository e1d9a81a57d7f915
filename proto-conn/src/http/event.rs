//! What a session has to tell.

use alloc::collections::VecDeque;

use crate::{Error, Headers, Message, Payload};

/// What a [`ClientSession`](super::ClientSession) or [`ServerSession`](super::ServerSession) has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Client: an interim response. 101 is [`Upgraded`](Self::Upgraded).
    Informational(Message),
    /// Client: the response, whole; or its head, with [`Flags::STREAMED`](crate::Flags::STREAMED).
    Response(Message),
    /// Server: a request, whole; or its head, with [`Flags::STREAMED`](crate::Flags::STREAMED).
    Request(Message),
    /// A part of a streamed body.
    BodyPart(Payload),
    /// A streamed body is complete; its trailer fields.
    BodyEnd(Headers),
    /// Client: the server switches to another protocol (101), or opened the tunnel (2xx to CONNECT). The session has
    /// done its work: [`into_upgraded`](super::ClientSession::into_upgraded).
    Upgraded(Message),
    /// What was to be sent has been handed over: more of a streamed body may come.
    Sent,
    /// The connection is of no use any more.
    Failed(Error),
}

/// Events that wait for the application.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    events: VecDeque<Event>,
    /// Bytes of content among them.
    unread: usize,
}

impl Inbox {
    #[inline]
    pub(super) fn push(&mut self, event: Event) {
        self.unread += event.content();
        self.events.push_back(event);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.unread -= self.events.front()?.content();
        self.events.pop_front()
    }

    pub(super) const fn unread(&self) -> usize {
        self.unread
    }

    /// Drops the parts of a body that nobody wants.
    pub(super) fn drop_parts(&mut self) {
        self.events.retain(|event| !matches!(event, Event::BodyPart(_)));
        self.unread = self.events.iter().map(Event::content).sum();
    }
}

impl Event {
    /// Returns how many bytes of content it has.
    fn content(&self) -> usize {
        match self {
            Self::BodyPart(part) => part.len(),
            Self::Informational(message)
            | Self::Response(message)
            | Self::Request(message)
            | Self::Upgraded(message) => message.body.len(),
            Self::BodyEnd(_) | Self::Sent | Self::Failed(_) => 0,
        }
    }
}
