//! A WebSocket connection once its handshake is done.

use alloc::{
    collections::VecDeque,
    string::{String, ToString as _},
    vec::Vec,
};
use core::time::Duration;
use proto_core::{Instant, Rng};

use super::{
    ABNORMAL, Config, ConfigError, Role,
    assembly::Part,
    close::{self, Reason},
    failure::Failure,
    frame::{MAX_CONTROL, Opcode},
    handshake::Agreed,
    keepalive::{Due, Watch},
    mask::Keys,
    packing,
    receive::{Item, Receiver},
    send::Sender,
};
use crate::{
    Code, Error, Flags, Kind, Message, Outgoing, Payload, Phase, StreamEnd, Talk, earliest::earliest,
};

/// A WebSocket connection once its handshake is done, in either role.
#[derive(Debug)]
pub struct Session {
    role: Role,
    options: Options,
    stage: Stage,
    receiver: Receiver,
    sender: Sender,
    events: VecDeque<Told>,
    /// Bytes in the messages among the events.
    events_len: usize,
    /// How the peer ended the connection, as long as events from before that wait: their answers go out first.
    held: Option<End>,
    /// The stream ended behind what is held.
    ended: bool,
    /// A [`Code::WouldBlock`] was answered.
    owes_writable: bool,
    watch: Option<Watch>,
    rtt: Option<Duration>,
    /// When memory of the compression is to be given back.
    release: Option<Instant>,
    /// The time of the last call.
    now: Instant,
}

/// What of the configuration the session itself looks at.
#[derive(Clone, Copy, Debug)]
struct Options {
    deliver_while_closing: bool,
    deliver_control: bool,
    auto_pong: bool,
    high_water: usize,
    close_timeout: Duration,
    /// With compression: how long its memory is kept unused.
    release_after: Option<Duration>,
}

/// Where the connection is in its closing, and until when it may stay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// A close frame was sent, but none has arrived.
    Closing {
        until: Instant,
    },
    /// Both sides have said their last; the server closes the stream first (RFC 6455 §7.1.1).
    Lingering {
        until: Instant,
    },
    /// Nothing more is taken. What is left to send goes out until then.
    Over {
        until: Option<Instant>,
    },
}

/// An event that waits: the parts of a message, which is larger, and put together when it is asked for.
#[derive(Debug)]
enum Told {
    Message { part: Part, received: Instant },
    Closed { reason: Reason, clean: bool },
    Failed(Error),
    Writable,
}

/// How a peer ends a connection.
#[derive(Debug)]
enum End {
    /// By a close frame.
    Closed(Reason),
    /// By breaking a rule.
    Failure(Failure),
}

/// What a session has to tell.
///
/// The last event is always [`Closed`](Self::Closed); [`Failed`](Self::Failed) is the one before it, if something was
/// wrong.
#[allow(
    clippy::large_enum_variant,
    reason = "most events are messages, and a box would cost each an allocation"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A text or binary message, or a part of one ([`Receive::Streamed`](super::Receive::Streamed)); a ping or pong, if
    /// they are asked for ([`Config::deliver_control`]).
    Message(Message),
    /// The connection is closed.
    Closed {
        /// The peer's code; 1005 if it gave none, 1006 if the connection ended without a close frame. If we failed it,
        /// the code that we sent.
        code: u16,
        /// The peer's reason.
        reason: String,
        /// Both sides said that they close.
        clean: bool,
    },
    /// The connection is given up.
    Failed(Error),
    /// What was refused with [`Code::WouldBlock`] can be sent.
    Writable,
}

/// What can be done with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Messages go both ways.
    Open,
    /// Closing has begun on our side.
    Closing,
    /// Nothing more goes either way.
    Closed,
}

impl Session {
    /// Events that wait before input does. As many messages share the memory of one pool.
    pub const MAX_EVENTS: usize = 7;

    /// Creates a session of what the handshake agreed on. `rng` seeds the stream of a client's masking keys, so nobody else
    /// should see what it draws.
    ///
    /// # Errors
    /// The configuration is invalid, or compression was agreed on that this build does not have.
    pub fn new(role: Role, config: &Config, agreed: &Agreed, mut rng: Rng) -> Result<Self, ConfigError> {
        config.validate()?;
        let deflate = config.deflate.unwrap_or_default();
        let (packer, unpacker) = packing::of_agreement(role, agreed.deflate, deflate)?;
        let keys = match role {
            Role::Client if config.unsafe_null_mask => Some(Keys::Null),
            Role::Client => Some(Keys::new(&mut rng)),
            Role::Server => None,
        };
        Ok(Self {
            role,
            options: Options {
                deliver_while_closing: config.deliver_while_closing,
                deliver_control: config.deliver_control,
                auto_pong: config.auto_pong,
                high_water: config.high_water,
                close_timeout: config.close_timeout,
                release_after: agreed.deflate.map(|_| deflate.release_after),
            },
            stage: Stage::Open,
            receiver: Receiver::new(role, config, unpacker),
            sender: Sender::new(config, keys, packer),
            events: VecDeque::with_capacity(Self::MAX_EVENTS + TERMINAL_EVENTS),
            events_len: 0,
            held: None,
            ended: false,
            owes_writable: false,
            watch: config.keepalive.map(Watch::new),
            rtt: None,
            release: None,
            now: Instant::ZERO,
        })
    }

    /// Sends a text, binary, ping or pong message as a whole; a [`Kind::Close`] one closes.
    ///
    /// # Errors
    /// [`Code::WouldBlock`] while more than [`Config::high_water`] bytes wait; [`Event::Writable`] follows. Otherwise the
    /// message is not one to be sent, text is not UTF-8, a fragmented message is not finished, or closing has begun.
    pub fn send(&mut self, now: Instant, message: &Message) -> Result<(), Error> {
        if message.kind == Kind::Close {
            let reason = message.body.as_str();
            let reason = reason.ok_or_else(|| error(Code::BadMessage, "a close reason must be UTF-8"))?;
            let code = if message.status == 0 { super::NO_STATUS } else { message.status };
            return self.close(now, code, reason);
        }
        self.ready_to_send(now)?;
        match message.kind {
            Kind::Ping | Kind::Pong if message.body.len() > MAX_CONTROL => {
                Err(error(Code::TooLong, "pings and pongs have at most 125 bytes"))
            }
            Kind::Ping => {
                self.sender.control(Opcode::Ping, &message.body);
                Ok(())
            }
            Kind::Pong => {
                self.sender.control(Opcode::Pong, &message.body);
                Ok(())
            }
            Kind::Text
            | Kind::Binary
            | Kind::Close
            | Kind::Request
            | Kind::Response
            | Kind::Informational
            | Kind::Datagram => {
                self.put_off_release();
                self.sender.message(message.kind, &message.body)
            }
        }
    }

    /// Sends the next fragment of a text or binary message, the last one if `fin`. Control frames may come between;
    /// other messages wait until it is finished.
    ///
    /// # Errors
    /// As for [`send`](Self::send). The text of all fragments together must be UTF-8.
    pub fn send_fragment(&mut self, now: Instant, kind: Kind, part: Payload, fin: bool) -> Result<(), Error> {
        self.ready_to_send(now)?;
        if !matches!(kind, Kind::Text | Kind::Binary) {
            return Err(error(Code::BadMessage, "only text and binary messages have fragments"));
        }
        self.put_off_release();
        self.sender.fragment(kind, part, fin)
    }

    /// Begins to close. [`NO_STATUS`](super::NO_STATUS) as the code sends none. Once closing has begun, on whichever side,
    /// calling it again changes nothing.
    ///
    /// [`Event::Closed`] follows within [`Config::close_timeout`].
    ///
    /// # Errors
    /// The code is not one to be sent, or the reason is longer than 123 bytes.
    pub fn close(&mut self, now: Instant, code: u16, reason: &str) -> Result<(), Error> {
        Reason::check(code, reason)?;
        self.now = now;
        self.end_held();
        if self.stage == Stage::Open {
            self.send_close(code, reason);
            self.stage = Stage::Closing { until: now + self.options.close_timeout };
            if !self.options.deliver_while_closing {
                self.receiver.discard();
            }
        }
        Ok(())
    }

    /// Returns the next thing to tell.
    ///
    /// The peer's close frame is answered when all that came before it has been told: what the application sends in
    /// answer to a message, before it polls again, still goes out.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.end_held();
        }
        let told = self.events.pop_front()?;
        if let Told::Message { part, .. } = &told {
            self.events_len = self.events_len.saturating_sub(part.body.len());
        }
        if self.receiver.has_pending() {
            // There was more than the events had room for.
            self.receive(self.now, &[]);
        }
        Some(match told {
            Told::Message { part: Part { kind, body, flags }, received } => {
                Event::Message(Message { kind, body, flags, received: Some(received), ..Message::default() })
            }
            Told::Closed { reason: Reason { code, text }, clean } => {
                Event::Closed { code, reason: text, clean }
            }
            Told::Failed(error) => Event::Failed(error),
            Told::Writable => Event::Writable,
        })
    }

    /// Says whether the next event is the end, and the peer's close frame or fault has no answer yet.
    pub(super) fn ends_next(&self) -> bool {
        self.events.is_empty() && self.held.is_some()
    }

    /// Returns what can be done with the session.
    pub const fn state(&self) -> State {
        match self.stage {
            Stage::Open => State::Open,
            Stage::Closing { .. } => State::Closing,
            Stage::Lingering { .. } | Stage::Over { .. } => State::Closed,
        }
    }

    /// Returns the last round trip time that a ping of the keepalive showed.
    pub const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    fn ready_to_send(&mut self, now: Instant) -> Result<(), Error> {
        self.now = now;
        if self.stage != Stage::Open {
            return Err(error(Code::BadState, "closing has begun"));
        }
        if self.sender.waiting() > self.options.high_water {
            self.owes_writable = true;
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        Ok(())
    }

    /// Takes in bytes as long as there is room for what they say, and returns how many.
    fn receive(&mut self, now: Instant, data: &[u8]) -> usize {
        let mut consumed = 0;
        while self.wants_input() && !self.is_closed() {
            match self.receiver.take(data.get(consumed..).unwrap_or_default()) {
                Ok((taken, item)) => {
                    consumed += taken;
                    match item {
                        Some(item) => self.on_item(now, item),
                        None => return consumed,
                    }
                }
                Err(failure) => self.on_end(End::Failure(failure)),
            }
        }
        // What comes after the end is nobody's (RFC 6455 §5.5.1).
        if self.is_closed() || self.held.is_some() { data.len() } else { consumed }
    }

    fn on_item(&mut self, now: Instant, item: Item) {
        match item {
            Item::Part(part) => {
                self.put_off_release();
                self.tell(now, part);
            }
            Item::Ping => {
                if self.options.auto_pong {
                    self.sender.pong(self.receiver.control());
                }
                self.deliver_control(now, Kind::Ping);
            }
            Item::Pong => {
                let pong = self.receiver.control();
                if let Some(rtt) = self.watch.as_mut().and_then(|watch| watch.on_pong(now, pong)) {
                    self.rtt = Some(rtt);
                }
                self.deliver_control(now, Kind::Pong);
            }
            Item::Close => match Reason::parse(self.receiver.control()) {
                Ok(reason) => self.on_end(End::Closed(reason)),
                Err(failure) => self.on_end(End::Failure(failure)),
            },
        }
    }

    fn deliver_control(&mut self, now: Instant, kind: Kind) {
        if self.options.deliver_control && !self.discards() {
            let body = Payload::copy_from(self.receiver.control());
            self.tell(now, Part { kind, body, flags: Flags::default() });
        }
    }

    fn tell(&mut self, received: Instant, part: Part) {
        self.events_len += part.body.len();
        self.events.push_back(Told::Message { part, received });
    }

    /// The peer ended the connection.
    fn on_end(&mut self, end: End) {
        self.held = Some(end);
        if self.stage != Stage::Open {
            self.end_held();
        }
    }

    fn end_held(&mut self) {
        match self.held.take() {
            None => return,
            Some(End::Closed(reason)) => self.on_close(self.now, reason),
            Some(End::Failure(failure)) => self.on_failure(self.now, failure),
        }
        if self.ended {
            self.stage = Stage::Over { until: None };
        }
    }

    /// The peer closes, or agrees to.
    fn on_close(&mut self, now: Instant, reason: Reason) {
        let until = match self.stage {
            Stage::Closing { until } => until,
            Stage::Open | Stage::Lingering { .. } | Stage::Over { .. } => {
                // The same code goes back (RFC 6455 §5.5.1).
                self.send_close(reason.code, "");
                now + self.options.close_timeout
            }
        };
        self.stage = match self.role {
            Role::Client => Stage::Lingering { until },
            Role::Server => Stage::Over { until: Some(until) },
        };
        self.events.push_back(Told::Closed { reason, clean: true });
    }

    /// The peer broke a rule: it is told so, and the connection is over (RFC 6455 §7.1.7).
    fn on_failure(&mut self, now: Instant, failure: Failure) {
        let code = failure.close_code();
        if self.stage == Stage::Open {
            self.send_close(code, "");
        }
        self.stage = Stage::Over { until: Some(now + self.options.close_timeout) };
        self.tell_end(failure.error(), code);
    }

    /// The connection ended without a goodbye, or has to.
    fn break_off(&mut self, error: Error) {
        self.stage = Stage::Over { until: None };
        self.sender.clear();
        self.tell_end(error, ABNORMAL);
    }

    fn tell_end(&mut self, error: Error, code: u16) {
        self.events.push_back(Told::Failed(error));
        self.events.push_back(Told::Closed { reason: Reason { code, text: String::new() }, clean: false });
    }

    fn send_close(&mut self, code: u16, reason: &str) {
        let mut payload = Vec::new();
        close::emit(code, reason, &mut payload);
        self.sender.control(Opcode::Close, &payload);
    }

    fn put_off_release(&mut self) {
        self.release = self.options.release_after.map(|after| self.now + after);
    }

    /// Says whether messages are dropped.
    const fn discards(&self) -> bool {
        matches!(self.stage, Stage::Closing { .. }) && !self.options.deliver_while_closing
    }

    const fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Lingering { .. } | Stage::Over { .. })
    }
}

impl Talk for Session {
    fn handle_input(&mut self, now: Instant, data: &[u8]) -> usize {
        self.now = now;
        if let (Some(watch), false) = (&mut self.watch, data.is_empty()) {
            watch.on_life();
        }
        self.receive(now, data)
    }

    fn handle_end(&mut self, now: Instant, end: StreamEnd) {
        self.now = now;
        let phase = match self.stage {
            Stage::Open if self.held.is_some() => {
                self.ended = true;
                return;
            }
            Stage::Open => Phase::Receive,
            Stage::Closing { .. } => Phase::Close,
            Stage::Lingering { .. } => {
                self.stage = Stage::Over { until: None };
                return;
            }
            Stage::Over { .. } => return,
        };
        self.break_off(match end {
            StreamEnd::Closed => Error::new(Code::AbnormalClosure, phase),
            StreamEnd::Truncated => Error::new(Code::TlsTruncated, phase),
            StreamEnd::Reset => Error::new(Code::Reset, phase),
        });
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        match self.stage {
            Stage::Closing { until } if until <= now => {
                self.break_off(Error::new(Code::CloseTimeout, Phase::Close));
            }
            Stage::Lingering { until } if until <= now => self.stage = Stage::Over { until: Some(now) },
            Stage::Over { until: Some(until) } if until <= now => {
                self.stage = Stage::Over { until: None };
                self.sender.clear();
            }
            Stage::Open => {
                match self.watch.as_mut().map_or(Due::Nothing, |watch| watch.handle_timeout(now)) {
                    Due::Nothing => {}
                    // To a peer that does not read, it would not get through.
                    Due::Ping(_) if self.sender.waiting() > self.options.high_water => {}
                    Due::Ping(payload) => self.sender.control(Opcode::Ping, &payload),
                    Due::Dead => self.break_off(Error::new(Code::PongTimeout, Phase::Receive)),
                }
            }
            Stage::Closing { .. } | Stage::Lingering { .. } | Stage::Over { .. } => {}
        }
        if self.release.is_some_and(|release| release <= now) {
            self.release = None;
            self.sender.release();
            self.receiver.release();
        }
    }

    fn wants_input(&self) -> bool {
        let room = self.events.len() < Self::MAX_EVENTS && self.events_len < MOST_WAITING;
        (room && self.held.is_none()) || self.is_closed() || self.discards()
    }

    fn spare(&mut self) -> Option<&mut [u8]> {
        if self.is_closed() || !self.wants_input() {
            return None;
        }
        self.receiver.spare()
    }

    fn advance(&mut self, now: Instant, len: usize) {
        self.now = now;
        if let (Some(watch), 1..) = (&mut self.watch, len) {
            watch.on_life();
        }
        match self.receiver.advance(len) {
            Ok(()) => {
                self.receive(now, &[]);
            }
            Err(failure) => self.on_end(End::Failure(failure)),
        }
    }

    fn outgoing(&mut self) -> &mut Outgoing {
        self.sender.outgoing()
    }

    fn handle_sent(&mut self, now: Instant) {
        self.now = now;
        self.sender.handle_sent();
        if let Stage::Over { until } = &mut self.stage {
            *until = None;
        }
        if self.owes_writable && self.stage == Stage::Open && self.sender.waiting() <= self.options.high_water
        {
            self.owes_writable = false;
            self.events.push_back(Told::Writable);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let stage = match self.stage {
            Stage::Open if self.held.is_some() => None,
            Stage::Open => self.watch.as_ref().and_then(Watch::poll_timeout),
            Stage::Closing { until } | Stage::Lingering { until } => Some(until),
            Stage::Over { until } => until,
        };
        earliest([stage, self.release])
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over { .. })
    }
}

fn error(code: Code, detail: &str) -> Error {
    Error::new(code, Phase::Send).with_detail(detail.to_string())
}

/// Bytes in messages that wait to be taken before input does.
const MOST_WAITING: usize = 1 << 20;
/// Events beyond those that hold input back: `Writable`, `Failed` and `Closed`.
const TERMINAL_EVENTS: usize = 3;
