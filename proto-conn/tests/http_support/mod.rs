//! Sessions on a stage: fed in pieces, driven as the contract of `Talk` asks.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do, and care for some events only"
)]

use proto_conn::{
    Code, Flags, Message, Outgoing, StreamEnd, Talk,
    http::{BodyKind, ClientSession, Config, Event, SendOptions, ServerSession},
};
use proto_core::Instant;

pub(crate) const START: Instant = Instant::from_millis(1_000);

/// Takes everything that waits to be sent, as text.
pub(crate) fn drained(outgoing: &mut Outgoing) -> String {
    let mut bytes = Vec::new();
    while outgoing.copy(usize::MAX, &mut bytes) > 0 {}
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A session with what it sent and told.
pub(crate) struct Stage<T> {
    pub(crate) session: T,
    pub(crate) now: Instant,
    pub(crate) events: Vec<Event>,
    pub(crate) sent: String,
    /// Input that the session did not take.
    waiting: Vec<u8>,
    /// Whether bytes that belong to a long payload are read where the session wants them.
    reads_in_place: bool,
}

/// Both roles, as far as a stage cares.
pub(crate) trait Session: Talk {
    fn next_event(&mut self) -> Option<Event>;
    /// What the application does about an event.
    fn react(&mut self, _now: Instant, _event: &Event) {}
}

impl Session for ClientSession {
    fn next_event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

/// Answers each request that is complete: with 404, which is good for CONNECT as well.
pub(crate) struct Answering(pub(crate) ServerSession);

impl Session for Answering {
    fn next_event(&mut self) -> Option<Event> {
        self.0.poll_event()
    }

    fn react(&mut self, now: Instant, event: &Event) {
        let is_complete = match event {
            Event::Request(request) => !request.flags.has(Flags::STREAMED),
            Event::BodyEnd(_) => true,
            _ => false,
        };
        if is_complete {
            self.0.respond(now, &Message::response(404, ""), BodyKind::Whole).unwrap();
        }
    }
}

impl Session for ServerSession {
    fn next_event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

macro_rules! delegate {
    ($($name:ident(&mut self $(, $arg:ident: $type:ty)*) $(-> $answer:ty)?;)*) => {
        $(fn $name(&mut self $(, $arg: $type)*) $(-> $answer)? { self.0.$name($($arg),*) })*
    };
}

impl Talk for Answering {
    delegate! {
        handle_input(&mut self, now: Instant, data: &[u8]) -> usize;
        handle_end(&mut self, now: Instant, end: StreamEnd);
        handle_timeout(&mut self, now: Instant);
        spare(&mut self) -> Option<&mut [u8]>;
        advance(&mut self, now: Instant, len: usize);
        outgoing(&mut self) -> &mut Outgoing;
        handle_sent(&mut self, now: Instant);
    }

    fn wants_input(&self) -> bool {
        self.0.wants_input()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}

impl<T: Session> Stage<T> {
    pub(crate) fn new(session: T) -> Self {
        let (events, sent, waiting) = (Vec::new(), String::new(), Vec::new());
        let mut stage = Self { session, now: START, events, sent, waiting, reads_in_place: false };
        stage.wait(0);
        stage
    }

    pub(crate) fn reading_in_place(mut self) -> Self {
        self.reads_in_place = true;
        self
    }

    /// Lets a piece of input arrive.
    pub(crate) fn feed(&mut self, piece: impl AsRef<[u8]>) -> &mut Self {
        self.waiting.extend_from_slice(piece.as_ref());
        loop {
            let taken = self.offer();
            self.waiting.drain(..taken);
            self.settle();
            if taken == 0 || self.waiting.is_empty() {
                return self;
            }
        }
    }

    pub(crate) fn feed_in(&mut self, size: usize, input: &[u8]) -> &mut Self {
        input.chunks(size).for_each(|piece| {
            self.feed(piece);
        });
        self
    }

    pub(crate) fn end(&mut self, end: StreamEnd) -> &mut Self {
        self.session.handle_end(self.now, end);
        self.settle();
        self
    }

    /// Lets time pass, with all that is due in it.
    pub(crate) fn wait(&mut self, millis: u64) -> &mut Self {
        let until = self.now + core::time::Duration::from_millis(millis);
        while let Some(due) = self.session.poll_timeout().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.session.handle_timeout(self.now);
            self.settle();
        }
        self.now = until;
        self.settle();
        self
    }

    /// Takes what the session has to tell and to send.
    pub(crate) fn settle(&mut self) {
        while let Some(event) = self.session.next_event() {
            self.session.react(self.now, &event);
            self.events.push(event);
        }
        if !self.session.outgoing().is_empty() {
            self.sent += &drained(self.session.outgoing());
            self.session.handle_sent(self.now);
        }
        while let Some(event) = self.session.next_event() {
            self.session.react(self.now, &event);
            self.events.push(event);
        }
    }

    pub(crate) fn failure(&self) -> Option<Code> {
        self.events.iter().find_map(|event| match event {
            Event::Failed(error) => Some(error.code),
            _ => None,
        })
    }

    /// Returns the messages so far.
    pub(crate) fn messages(&self) -> Vec<&Message> {
        let messages = self.events.iter().filter_map(|event| match event {
            Event::Request(message) | Event::Response(message) => Some(message),
            _ => None,
        });
        messages.collect()
    }

    /// Returns the content of the streamed bodies so far.
    pub(crate) fn parts(&self) -> Vec<u8> {
        let parts = self.events.iter().filter_map(|event| match event {
            Event::BodyPart(part) => Some(&**part),
            _ => None,
        });
        parts.flatten().copied().collect()
    }

    /// Returns the events, without what depends on how input was cut: parts are joined, and times left out.
    pub(crate) fn story(&self) -> Vec<Event> {
        let mut story: Vec<Event> = Vec::new();
        for event in &self.events {
            match (story.last_mut(), event) {
                (Some(Event::BodyPart(before)), Event::BodyPart(part)) => {
                    *before = [&**before, &**part].concat().into();
                }
                _ => story.push(timeless(event)),
            }
        }
        story
    }

    fn offer(&mut self) -> usize {
        if self.reads_in_place
            && let Some(place) = self.session.spare()
        {
            let len = place.len().min(self.waiting.len());
            place[..len].copy_from_slice(&self.waiting[..len]);
            self.session.advance(self.now, len);
            return len;
        }
        if self.session.wants_input() && !self.waiting.is_empty() {
            self.session.handle_input(self.now, &self.waiting)
        } else {
            0
        }
    }
}

fn timeless(event: &Event) -> Event {
    let without = |message: &Message| Message { received: None, ..message.clone() };
    match event {
        Event::Informational(message) => Event::Informational(without(message)),
        Event::Response(message) => Event::Response(without(message)),
        Event::Request(message) => Event::Request(without(message)),
        Event::Upgraded(message) => Event::Upgraded(without(message)),
        other => other.clone(),
    }
}

/// A server that answers 404 to everything.
pub(crate) fn server(config: Config) -> Stage<Answering> {
    Stage::new(Answering(ServerSession::new(config).unwrap()))
}

/// A server whose application has not answered yet.
pub(crate) fn silent_server(config: Config) -> Stage<ServerSession> {
    Stage::new(ServerSession::new(config).unwrap())
}

/// A client that has sent a request.
pub(crate) fn client_with(config: Config, request: &Message, how: &SendOptions<'_>) -> Stage<ClientSession> {
    let mut stage = Stage::new(ClientSession::new(config).unwrap());
    let how = SendOptions { host: "a", ..*how };
    stage.session.send(stage.now, request, &how).unwrap();
    stage.settle();
    stage
}

/// A client that has sent `count` GETs, one behind the other.
pub(crate) fn client(config: Config, count: usize) -> Stage<ClientSession> {
    let config = Config { pipelined: count, ..config };
    let mut stage = client_with(config, &Message::get(), &SendOptions::default());
    for _ in 1..count {
        stage
            .session
            .send(stage.now, &Message::get(), &SendOptions { host: "a", ..SendOptions::default() })
            .unwrap();
        stage.settle();
    }
    stage
}
