//! Between a connection and the tasks that use it.

use proto_conn::{
    Code, Error, ExchangeId, Flags, Headers, Kind, Message, Payload, Phase,
    client::{Closed, Connection, Event, State},
};
use proto_core::Instant;
use std::{
    collections::{BTreeMap, VecDeque},
    task::{Context, Poll},
};

use crate::{
    Face,
    faces::{promise::Resolver, waiters::Waiters},
};

/// Sorts a connection's events by who waits for them.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    answers: BTreeMap<ExchangeId, Resolver<Result<Message, Error>>>,
    /// The body that is being handed out in parts, with its exchange.
    body: Option<(ExchangeId, Parts)>,
    messages: VecDeque<Message>,
    /// What went wrong without ending anything, such as a datagram that did not arrive.
    troubles: VecDeque<Error>,
    closed: Option<Closed>,
    state: Option<State>,
    readers: Waiters,
    writers: Waiters,
}

/// Parts of a body that the application has not taken.
#[derive(Debug, Default)]
struct Parts {
    parts: VecDeque<Payload>,
    end: Option<Result<Headers, Error>>,
}

/// Messages and parts that wait for the application before nothing more is read.
const MOST_WAITING: usize = 256;

impl Face<Connection> for Desk {
    fn event(&mut self, event: Event) {
        match event {
            Event::State(state) => {
                self.state = Some(state);
                if state == State::Connecting {
                    // A connection that lives for months judges certificates by the time of each attempt.
                    let _ = super::wall_clock();
                }
                if matches!(state, State::Open | State::Closed) {
                    self.writers.wake();
                }
            }
            Event::Message(message) => self.sort(message),
            Event::Part(part) => {
                if let Some((_, body)) = &mut self.body {
                    body.parts.push_back(part);
                }
                self.readers.wake();
            }
            Event::End(trailers) => self.end_body(Ok(trailers)),
            Event::Writable => self.writers.wake(),
            Event::Failed { exchange: Some(exchange), error } => {
                if self.body.as_ref().is_some_and(|(id, _)| *id == exchange) {
                    self.end_body(Err(error));
                } else if let Some(waiting) = self.answers.remove(&exchange) {
                    waiting.resolve(Err(error));
                }
                self.writers.wake();
            }
            Event::Failed { exchange: None, error } => {
                if self.troubles.len() < MOST_WAITING {
                    self.troubles.push_back(error);
                }
                self.readers.wake();
            }
            Event::Reconnecting { .. } => {}
            Event::Closed(closed) => self.on_closed(closed),
        }
    }

    fn prepare(&mut self, machine: &mut Connection, _now: Instant) {
        machine.pause(self.is_behind());
    }

    fn abandon(&mut self, machine: &mut Connection, now: Instant) {
        // 1001: going away. It is a code that may be sent, so closing cannot fail.
        let _ = machine.close(now, 1001, "");
    }

    fn is_finished(&self, machine: &Connection) -> bool {
        machine.is_finished()
    }

    fn stopped(&mut self, _machine: &mut Connection) {
        if self.closed.is_none() {
            self.on_closed(Closed::default());
        }
    }
}

impl Desk {
    /// Has `answer` told how the exchange ends.
    pub(super) fn expect(&mut self, exchange: ExchangeId, answer: Resolver<Result<Message, Error>>) {
        self.answers.insert(exchange, answer);
    }

    /// Forgets an exchange; says whether it was under way.
    pub(super) fn forget(&mut self, exchange: ExchangeId) -> bool {
        let had_body = self.body.take_if(|(id, body)| *id == exchange && body.end.is_none()).is_some();
        self.answers.remove(&exchange).is_some() || had_body
    }

    /// Takes the next message, or how it all ended.
    pub(super) fn poll_message(&mut self, cx: &Context<'_>) -> Poll<Result<Message, Ended>> {
        if let Some(message) = self.messages.pop_front() {
            return Poll::Ready(Ok(message));
        }
        if let Some(error) = self.troubles.pop_front() {
            return Poll::Ready(Err(Ended::Trouble(error)));
        }
        if let Some(closed) = &self.closed {
            return Poll::Ready(Err(Ended::Closed(closed.clone())));
        }
        self.readers.add(cx);
        Poll::Pending
    }

    /// Takes the next part of an exchange's body; `None` at its end.
    pub(super) fn poll_part(
        &mut self,
        exchange: ExchangeId,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Payload, Error>>> {
        let Some((_, body)) = self.body.as_mut().filter(|(id, _)| *id == exchange) else {
            return Poll::Ready(None);
        };
        if let Some(part) = body.parts.pop_front() {
            return Poll::Ready(Some(Ok(part)));
        }
        match &body.end {
            None => {
                self.readers.add(cx);
                Poll::Pending
            }
            Some(Ok(_)) => Poll::Ready(None),
            Some(Err(error)) => {
                let error = error.clone();
                body.end = Some(Ok(Headers::new()));
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    /// Returns the fields behind a body that has ended.
    pub(super) fn trailers(&self, exchange: ExchangeId) -> Option<&Headers> {
        let (_, body) = self.body.as_ref().filter(|(id, _)| *id == exchange)?;
        body.end.as_ref()?.as_ref().ok()
    }

    /// Has the task of `cx` woken when there may be room.
    pub(super) fn wait_for_room(&mut self, cx: &Context<'_>) {
        self.writers.add(cx);
    }

    pub(super) const fn closed(&self) -> Option<&Closed> {
        self.closed.as_ref()
    }

    pub(super) const fn state(&self) -> Option<State> {
        self.state
    }

    pub(super) fn is_behind(&self) -> bool {
        let parts = self.body.as_ref().map_or(0, |(_, body)| body.parts.len());
        self.messages.len() + parts >= MOST_WAITING
    }

    fn sort(&mut self, message: Message) {
        let is_answer = message.kind == Kind::Response;
        let waiting =
            message.exchange.filter(|_| is_answer).and_then(|id| Some((id, self.answers.remove(&id)?)));
        match waiting {
            Some((id, waiting)) => {
                if message.flags.has(Flags::STREAMED) {
                    self.body = Some((id, Parts::default()));
                }
                waiting.resolve(Ok(message));
            }
            None => {
                self.messages.push_back(message);
                self.readers.wake();
            }
        }
    }

    fn end_body(&mut self, end: Result<Headers, Error>) {
        if let Some((_, body)) = &mut self.body {
            body.end = Some(end);
        }
        self.readers.wake();
    }

    fn on_closed(&mut self, closed: Closed) {
        if let Some((_, body)) = &mut self.body
            && body.end.is_none()
        {
            body.end = Some(Err(why(&closed)));
        }
        // Whoever still waits is told by the promise that nobody keeps.
        self.answers.clear();
        self.closed = Some(closed);
        self.readers.wake();
        self.writers.wake();
    }
}

/// Why there is no message.
#[derive(Debug)]
pub(super) enum Ended {
    /// Something went wrong; there may be more.
    Trouble(Error),
    /// Nothing more comes.
    Closed(Closed),
}

/// Returns the error of whoever wanted something of a connection that is closed.
pub(super) fn why(closed: &Closed) -> Error {
    let own = || Error::new(Code::BadState, Phase::Close).with_detail("the connection is closed");
    closed.error.clone().unwrap_or_else(own)
}
