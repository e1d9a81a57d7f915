//! A dialogue in messages: what is read goes out, what comes is shown, until there is nothing more to say.

mod input;

use proto_conn::{
    Code, Error, Kind, Message, Url,
    client::{Closed, Event},
};
use runtime_blocking::conn::Connection;
use std::{
    collections::VecDeque,
    io::{self, Write as _},
    time::{Duration, Instant},
};

use super::{fault, supervised::Stop, trace::Trace};
use crate::failure::Failure;

pub(super) use input::{Input, is_typed};

/// When a dialogue ends by itself.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// So long after the last word of either side, once the input is over. `None`: never.
    pub(super) silence: Option<Duration>,
    /// After so many messages.
    pub(super) messages: Option<u64>,
    /// One answer for each message that was sent is all there can be.
    pub(super) one_answer_each: bool,
    /// After so long, which is a failure.
    pub(super) max_time: Option<Duration>,
}

/// How what is received is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Text as lines, other bytes as lines in hexadecimal.
    Readable,
    /// The bytes as they are, each message with a line end.
    Raw,
}

/// A dialogue under way.
pub(super) struct Dialogue {
    pub(super) url: Url,
    pub(super) conn: Connection,
    pub(super) trace: Trace,
    pub(super) input: Input,
    pub(super) stop: Stop,
    pub(super) limits: Limits,
    pub(super) shown: Shown,
    /// Makes a message of a line.
    pub(super) make: fn(Vec<u8>) -> Result<Message, Failure>,
    /// Whether our own messages come back to us, as those to a group do; they are not shown.
    pub(super) hears_itself: bool,
}

/// What a dialogue came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) received_bytes: u64,
    /// How the peer ended it, if it did.
    pub(super) closed: Option<Closed>,
}

impl Dialogue {
    /// Holds it to its end. The connection is still open then, unless the peer closed it.
    ///
    /// # Errors
    /// The connection cannot be made or breaks, or the output takes nothing more.
    pub(super) fn hold(&mut self) -> Result<Tally, Failure> {
        let mut course =
            Course { tally: Tally::default(), last_word: Instant::now(), held: None, own: VecDeque::new() };
        let deadline = self.limits.max_time.map(|time| Instant::now() + time);
        self.conn.begin().map_err(|error| fault::of(&self.url, &error))?;
        loop {
            self.send(&mut course)?;
            if self.stop.is_wanted() || self.is_said(&course) {
                return Ok(course.tally);
            }
            let silent_at = self.silent_at(&course);
            let wake = [silent_at, deadline].into_iter().flatten().min();
            let patience = wake.map(|wake| wake.saturating_duration_since(Instant::now()));
            match self.conn.event(patience) {
                Ok(Some(event)) => self.handle(event, &mut course)?,
                // The input has something, or the user wants the end.
                Err(error) if error.code == Code::Cancelled => {}
                Err(error) => return Err(fault::of(&self.url, &error)),
                Ok(None) => {
                    let now = Instant::now();
                    if silent_at.is_some_and(|at| at <= now) {
                        return Ok(course.tally);
                    }
                    if deadline.is_some_and(|deadline| deadline <= now) {
                        return Err(fault::max_time(&self.url));
                    }
                }
            }
            if course.tally.closed.is_some() {
                return Ok(course.tally);
            }
        }
    }

    /// Sends what was read, as far as the connection takes it.
    fn send(&mut self, course: &mut Course) -> Result<(), Failure> {
        loop {
            let message = match course.held.take() {
                Some(message) => message,
                None => match self.input.next() {
                    Some(line) => (self.make)(line)?,
                    None => return Ok(()),
                },
            };
            match self.conn.send(message.clone()) {
                Ok(_) => course.sent(message, self.hears_itself),
                Err(error) if error.code == Code::WouldBlock => {
                    course.held = Some(message);
                    return Ok(());
                }
                // The event that says why it is closed comes first.
                Err(error) if error.code == Code::BadState => return Ok(()),
                Err(error) => return Err(fault::of(&self.url, &error)),
            }
        }
    }

    fn handle(&mut self, event: Event, course: &mut Course) -> Result<(), Failure> {
        match event {
            Event::State(state) => {
                course.last_word = Instant::now();
                self.trace.state(&self.conn, state);
            }
            Event::Message(message) => {
                if matches!(message.kind, Kind::Response | Kind::Informational) {
                    self.trace.response(&message);
                } else {
                    self.trace.message(&message);
                    if course.received(&message) {
                        self.show(&message)?;
                    }
                }
            }
            Event::Reconnecting { after, attempt, error } => {
                self.trace
                    .note(format_args!("{}; attempt {attempt} again in {after:?}", fault::reason(&error)));
            }
            Event::Failed { error, .. } => return Err(fault::of(&self.url, &error)),
            Event::Closed(Closed { error: Some(error), .. }) => return Err(fault::of(&self.url, &error)),
            Event::Closed(closed) => course.tally.closed = Some(closed),
            Event::Part(_) | Event::End(_) | Event::Writable => {}
        }
        Ok(())
    }

    /// Says whether all has been said.
    fn is_said(&self, course: &Course) -> bool {
        let Tally { sent, received, .. } = &course.tally;
        let has_all_answers = self.limits.one_answer_each && self.has_sent_all(course) && received >= sent;
        has_all_answers || self.limits.messages.is_some_and(|messages| *received >= messages)
    }

    fn has_sent_all(&self, course: &Course) -> bool {
        self.input.is_over() && course.held.is_none()
    }

    /// When it is over if nobody says anything more.
    fn silent_at(&self, course: &Course) -> Option<Instant> {
        use proto_conn::client::State;
        // While there is no connection, its own deadlines count.
        let is_open = matches!(self.conn.state(), State::Open);
        let silence = self.limits.silence.filter(|_| is_open && self.has_sent_all(course))?;
        Some(course.last_word + silence)
    }

    fn show(&self, message: &Message) -> Result<(), Failure> {
        let is_readable = message.kind == Kind::Text || std::str::from_utf8(&message.body).is_ok();
        let hex = (self.shown == Shown::Readable && !is_readable)
            .then(|| data_encoding::HEXLOWER.encode(&message.body));
        let mut out = io::stdout().lock();
        let written = out.write_all(hex.as_deref().map_or(&*message.body, str::as_bytes));
        let written = written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        written.map_err(|error| Failure::output(&error))
    }
}

/// How far a dialogue is.
struct Course {
    tally: Tally,
    /// When either side last said something.
    last_word: Instant,
    /// What the connection had no room for.
    held: Option<Message>,
    /// What we sent and may hear again, the latest of it.
    own: VecDeque<proto_conn::Payload>,
}

impl Course {
    fn sent(&mut self, message: Message, hears_itself: bool) {
        self.tally.sent += 1;
        self.last_word = Instant::now();
        if hears_itself {
            if self.own.len() == MOST_OWN {
                self.own.pop_front();
            }
            self.own.push_back(message.body);
        }
    }

    /// Takes note of a message; says whether it is one to be shown.
    fn received(&mut self, message: &Message) -> bool {
        if self.own.contains(&message.body) {
            return false;
        }
        self.tally.received += 1;
        self.tally.received_bytes += message.body.len() as u64;
        self.last_word = Instant::now();
        true
    }
}

/// Sends a text as one message.
///
/// # Errors
/// The bytes are no text.
pub(super) fn text(line: Vec<u8>) -> Result<Message, Failure> {
    String::from_utf8(line).map(Message::text).map_err(|_| {
        Failure::usage("a line is not UTF-8, as text messages must be").advise("send bytes with --binary")
    })
}

/// Ends a connection whose dialogue is over: the peer agrees, or has its time.
///
/// # Errors
/// The peer does not agree in time.
pub(super) fn close(conn: &mut Connection) -> Result<Closed, Error> {
    conn.close(NORMAL, "", None)
}

/// A normal closure (RFC 6455 §7.4.1).
pub(super) const NORMAL: u16 = 1000;

/// How many of our own messages are remembered.
const MOST_OWN: usize = 1_024;
