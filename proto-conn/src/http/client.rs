//! The client's side of a connection.
//!
//! ```text
//! Open ──answer without keep-alive, request with close──▶ Last ──answer complete──▶ Over
//!   │ ──101, 2xx to CONNECT──▶ Upgraded
//!   └ ──fault, timeout, unexpected bytes──▶ Over
//! ```

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

use super::{
    announce,
    body_writer::BodyWriter,
    collector::Wanted,
    config::{Config, ConfigError},
    deadline::Deadline,
    encode::{self, Announced},
    event::Event,
    exchange::{Exchange, Held},
    facts::Facts,
    fault::Fault,
    framing::{self, Asked, Framing},
    head::HeadRules,
    options::{BodyKind, Progress, ResponseMode, SendOptions},
    receiver::{BodyPlan, Receiver, Stage},
};
use crate::{
    Code, Error, Flags, Headers, Message, Method, Outgoing, Payload, Phase, StreamEnd, Talk,
    earliest::earliest,
};

/// Sends requests on one connection, and receives the answers.
#[derive(Debug)]
pub struct ClientSession {
    config: Config,
    receiver: Receiver,
    outgoing: Outgoing,
    /// All bytes that were ever put into `outgoing`.
    written: u64,
    /// Requests whose answers are not complete, oldest first.
    outstanding: VecDeque<Exchange>,
    /// The body of the newest request.
    body: BodyWriter,
    held: Held,
    state: State,
    /// Until when the peer may stay silent.
    silence: Deadline,
    /// Until when a body waits for `100 Continue`.
    go_ahead: Deadline,
    idle_limit: Option<Duration>,
    /// Something of a streamed body was written since [`Event::Sent`].
    is_sent_due: bool,
    /// Bytes that arrived behind the head that switched protocols.
    behind: Vec<u8>,
    /// How far the oldest request had come when the connection failed.
    failed_at: Option<Progress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Requests may be sent.
    Open,
    /// The outstanding answers are the last.
    Last,
    /// Another protocol has taken over.
    Upgraded,
    /// Nothing more happens here.
    Over,
}

impl ClientSession {
    /// Creates the session of a connection that was just opened.
    ///
    /// # Errors
    /// A value of `config` cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            receiver: Receiver::new(&config, HeadRules::of_client(&config)),
            config,
            outgoing: Outgoing::default(),
            written: 0,
            outstanding: VecDeque::new(),
            body: BodyWriter::Done,
            held: Held::Nothing,
            state: State::Open,
            silence: Deadline::None,
            go_ahead: Deadline::None,
            idle_limit: None,
            is_sent_due: false,
            behind: Vec::new(),
            failed_at: None,
        })
    }

    /// Sends a request: its head, and its body if that is [`Whole`](BodyKind::Whole).
    ///
    /// # Errors
    /// [`Code::WouldBlock`] while there is no room; [`Code::BadState`] if no request can be sent any more;
    /// [`Code::BadMessage`] or [`Code::BadHeader`] if this one cannot. Nothing was sent then.
    pub fn send(&mut self, now: Instant, request: &Message, how: &SendOptions<'_>) -> Result<(), Error> {
        let method = &request.method;
        let asks_upgrade = request.headers.get("Upgrade").is_some();
        let stands_alone = !method.is_idempotent() || asks_upgrade || *method == Method::Connect;
        if self.state != State::Open {
            return Err(
                Error::new(Code::BadState, Phase::Send).with_detail("the connection takes no more requests")
            );
        }
        if !self.can_send() || (stands_alone && !self.outstanding.is_empty()) {
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        let (announced, body) = announce::request(request, how.body)?;
        let asks_continue = how.expect_continue || request.headers.has_token("Expect", "100-continue");
        let expects = asks_continue && announced != Announced::Nothing && announced != Announced::Length(0);
        let before = self.outgoing.len();
        self.outgoing.write(|buf| {
            let before = buf.len();
            encode::request(request, how, announced, expects, buf).inspect_err(|_| buf.truncate(before))
        })?;
        let start = self.written;
        self.written += (self.outgoing.len() - before) as u64;
        self.outstanding.push_back(Exchange {
            asked: Asked::by(method),
            is_idempotent: !stands_alone,
            asks_upgrade,
            keep_alive: how.keep_alive,
            response: how.response,
            decode: how.decode,
            is_retry: how.is_retry,
            informational: 0,
            is_answered: false,
            start,
            head_end: self.written,
        });
        if !how.keep_alive {
            self.state = State::Last;
        }
        self.body = body;
        self.is_sent_due = how.body != BodyKind::Whole;
        match how.body {
            _ if expects => {
                self.held = match how.body {
                    BodyKind::Whole => {
                        Held::Whole { body: request.body.clone(), trailers: request.trailers.clone() }
                    }
                    BodyKind::Streamed { .. } => Held::Streamed,
                };
                self.go_ahead = Deadline::after(now, self.config.timeouts.expect_continue);
            }
            BodyKind::Whole => self.write_whole(request.body.clone(), &request.trailers)?,
            BodyKind::Streamed { .. } => {}
        }
        Ok(())
    }

    /// Sends a part of a streamed body.
    ///
    /// # Errors
    /// [`Code::WouldBlock`] while a `100 Continue` is awaited or too much waits to be sent: [`Event::Sent`] follows.
    /// [`Code::BadMessage`] if the body is longer than announced; [`Code::BadState`] if none is being sent.
    pub fn send_part(&mut self, _now: Instant, part: Payload) -> Result<(), Error> {
        self.check_held()?;
        if self.outgoing.len() >= self.config.unsent {
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        self.is_sent_due = true;
        self.writing(|body, outgoing| body.push(part, outgoing))
    }

    /// Ends a streamed body. Trailers are for chunked ones.
    ///
    /// # Errors
    /// As for [`send_part`](Self::send_part); [`Code::BadHeader`] for a field that no trailer can be.
    pub fn finish_body(&mut self, _now: Instant, trailers: &Headers) -> Result<(), Error> {
        self.check_held()?;
        self.writing(|body, outgoing| body.finish(trailers, outgoing))?;
        self.is_sent_due = false;
        self.end_if_last();
        Ok(())
    }

    /// Returns what there is to tell.
    pub fn poll_event(&mut self) -> Option<Event> {
        let was_full = self.receiver.is_full();
        let event = match self.receiver.poll_event() {
            Ok(event) => event,
            Err(fault) => {
                // Only decoding goes on here, and what is left cannot be decoded.
                self.receiver.give_up_body(0);
                self.fail(fault.error(Phase::Receive));
                self.receiver.poll_event().ok().flatten()
            }
        };
        if was_full && !self.receiver.is_full() && self.receiver.stage() == Stage::Body {
            // The pause was the application's.
            self.silence = Deadline::Anew(self.config.timeouts.between_bytes);
        }
        event
    }

    /// Takes back a message that the application has done with: its memory serves for the next.
    pub fn recycle(&mut self, message: Message) {
        self.receiver.recycle(message);
    }

    /// Drops what is left of the streamed body that is being received. The connection survives if no more than
    /// [`Config::drained`] bytes are to come.
    pub fn drop_response(&mut self) {
        if !self.receiver.give_up_body(self.config.drained) {
            self.close();
        }
    }

    /// Returns what is still to be sent, and what arrived behind the head that switched protocols.
    pub fn into_upgraded(self) -> (Outgoing, Vec<u8>) {
        (self.outgoing, self.behind)
    }

    /// Says whether a request can be sent: there is none, or pipelining has room for another idempotent one.
    pub fn can_send(&self) -> bool {
        let is_ready = self.state == State::Open && self.body.is_done() && matches!(self.held, Held::Nothing);
        let has_room = self.outstanding.len() < self.config.pipelined
            && self.outstanding.iter().all(|exchange| exchange.is_idempotent);
        is_ready && (self.outstanding.is_empty() || has_room)
    }

    /// Says whether nothing is going on.
    pub fn is_idle(&self) -> bool {
        self.outstanding.is_empty() && self.body.is_done() && self.outgoing.is_empty()
    }

    /// Says whether the connection outlives its outstanding requests.
    pub fn is_reusable(&self) -> bool {
        self.state == State::Open
    }

    /// Returns how long the server keeps an idle connection, less a second for what is on its way.
    pub const fn idle_limit(&self) -> Option<Duration> {
        self.idle_limit
    }

    /// Returns how far the oldest outstanding request has come; after a failure, how far it had come.
    pub fn progress(&self) -> Progress {
        if let Some(progress) = self.failed_at {
            return progress;
        }
        let Some(oldest) = self.outstanding.front() else { return Progress::NothingSent };
        let end = match self.outstanding.get(1) {
            Some(next) => next.start,
            None => self.written,
        };
        let is_complete =
            self.outstanding.len() > 1 || (self.body.is_done() && matches!(self.held, Held::Nothing));
        match self.handed_over() {
            _ if oldest.is_answered => Progress::Answering,
            taken if taken <= oldest.start => Progress::NothingSent,
            taken if taken >= end && is_complete => Progress::Sent,
            taken if taken <= oldest.head_end => Progress::HeadSent,
            _ => Progress::Sending,
        }
    }

    /// Returns how many of all bytes written have been handed over.
    fn handed_over(&self) -> u64 {
        self.written.saturating_sub(self.outgoing.len() as u64)
    }

    fn check_held(&self) -> Result<(), Error> {
        match self.held {
            Held::Nothing => Ok(()),
            Held::Whole { .. } | Held::Streamed => Err(Error::new(Code::WouldBlock, Phase::Send)),
        }
    }

    fn write_whole(&mut self, body: Payload, trailers: &Headers) -> Result<(), Error> {
        if self.body.is_done() {
            return Ok(());
        }
        self.writing(|writer, outgoing| {
            writer.push(body, outgoing)?;
            writer.finish(trailers, outgoing)
        })
    }

    /// Writes, and counts what was written.
    fn writing(
        &mut self,
        write: impl FnOnce(&mut BodyWriter, &mut Outgoing) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.outgoing.len();
        let answer = write(&mut self.body, &mut self.outgoing);
        self.written += (self.outgoing.len() - before) as u64;
        answer
    }

    /// Sends the body that waited.
    fn release_held(&mut self) {
        self.go_ahead = Deadline::None;
        match core::mem::take(&mut self.held) {
            Held::Nothing => {}
            Held::Streamed => self.receiver.push(Event::Sent),
            Held::Whole { body, trailers } => {
                if let Err(error) = self.write_whole(body, &trailers) {
                    self.fail(error);
                }
            }
        }
    }

    fn take_in(&mut self, now: Instant, input: &mut &[u8]) -> Result<(), Fault> {
        while !input.is_empty() {
            match (self.state, self.receiver.stage()) {
                (State::Over, _) => *input = &[],
                (State::Upgraded, _) => {
                    self.behind.extend_from_slice(input);
                    *input = &[];
                }
                (State::Open | State::Last, Stage::End) => return Ok(()),
                (State::Open | State::Last, Stage::Head) => {
                    let handed_over = self.handed_over();
                    let Some(exchange) = self.outstanding.front_mut() else { return Err(UNASKED) };
                    // What arrives before the request has left is no answer to it.
                    if handed_over <= exchange.start {
                        return Err(UNASKED);
                    }
                    exchange.is_answered = true;
                    match self.receiver.read_head(input)? {
                        Some(facts) => self.on_head(now, &facts)?,
                        None => self.silence = Deadline::after(now, self.config.timeouts.between_bytes),
                    }
                }
                (State::Open | State::Last, Stage::Body) => {
                    self.silence = Deadline::after(now, self.config.timeouts.between_bytes);
                    if self.receiver.read_body(now, input)? {
                        self.on_answered(now);
                    } else if self.receiver.is_full() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn on_head(&mut self, now: Instant, facts: &Facts) -> Result<(), Fault> {
        let Some(&exchange) = self.outstanding.front() else { return Err(UNASKED) };
        match facts.status {
            // RFC 9110 §15.2.2: 101 answers a request with Upgrade.
            101 if exchange.asks_upgrade => self.on_upgraded(now),
            101 => return Err(Fault::syntax("101 without having been asked")),
            100..=199 => self.on_informational(now, facts)?,
            200..=299 if exchange.asked == Asked::Connect => self.on_upgraded(now),
            _ => self.on_final(now, facts, exchange)?,
        }
        Ok(())
    }

    fn on_informational(&mut self, now: Instant, facts: &Facts) -> Result<(), Fault> {
        let Some(exchange) = self.outstanding.front_mut() else { return Err(UNASKED) };
        exchange.informational += 1;
        if exchange.informational > self.config.limits.informational {
            return Err(Fault::new(Code::TooManyInformational, 502, ""));
        }
        let message = self.receiver.take_message(now);
        self.receiver.push(Event::Informational(message));
        self.silence = Deadline::None;
        self.await_answer(now);
        if facts.status == 100 && self.outstanding.len() == 1 {
            self.release_held();
        }
        Ok(())
    }

    fn on_upgraded(&mut self, now: Instant) {
        let message = self.receiver.take_message(now);
        self.receiver.push(Event::Upgraded(message));
        self.state = State::Upgraded;
        self.silence = Deadline::None;
        self.go_ahead = Deadline::None;
    }

    fn on_final(&mut self, now: Instant, facts: &Facts, exchange: Exchange) -> Result<(), Fault> {
        if self.outstanding.len() == 1 && !matches!(self.held, Held::Nothing) {
            // RFC 9110 §10.1.1: the body was announced and is not sent, so the server waits for it in vain.
            self.held = Held::Nothing;
            self.body = BodyWriter::Done;
            self.go_ahead = Deadline::None;
            self.state = State::Last;
        }
        let framing = framing::of_response(facts, exchange.asked, self.config.leniency)?;
        let message = self.receiver.message();
        if framing == Framing::Chunked && facts.length.is_some() {
            // RFC 9112 §6.3, rule 3: what is overlooked is removed, and the connection not used again.
            message.headers.remove("Content-Length");
            self.state = State::Last;
        }
        if let (Framing::Length(length), true) = (framing, self.config.leniency.equal_lengths) {
            // RFC 9112 §6.3, rule 5: equal ones are replaced by one.
            let length = alloc::format!("{length}");
            let replaced = message.headers.set("Content-Length", length);
            replaced.map_err(|_| Fault::fields("fields that are too long"))?;
        }
        if exchange.is_retry {
            message.flags = message.flags.with(Flags::FROM_RETRY);
        }
        if !facts.is_persistent() || !exchange.keep_alive || framing == Framing::UntilClose {
            self.state = State::Last;
        }
        self.idle_limit = facts.idle_limit.map(|limit| limit.saturating_sub(Duration::from_secs(1)));
        let wanted = match exchange.response {
            ResponseMode::Buffered => Wanted::Whole,
            ResponseMode::Streamed => Wanted::Parts,
        };
        // RFC 9110 §15.3.7: a part of a coded body cannot be decoded alone.
        let decode = exchange.decode && facts.status != 206;
        self.silence = Deadline::after(now, self.config.timeouts.between_bytes);
        if self.receiver.begin_body(now, BodyPlan { framing, wanted, decode })? {
            self.on_answered(now);
        }
        Ok(())
    }

    /// The oldest request's answer is complete.
    fn on_answered(&mut self, now: Instant) {
        self.outstanding.pop_front();
        self.silence = Deadline::None;
        self.await_answer(now);
        self.end_if_last();
    }

    /// Ends the connection if no answer is to come on it.
    fn end_if_last(&mut self) {
        if self.state == State::Last && self.outstanding.is_empty() {
            self.close();
        }
    }

    /// Begins waiting for an answer, once the request has left.
    fn await_answer(&mut self, now: Instant) {
        let is_complete = self.outstanding.len() > 1 || (self.body.is_done() && self.outgoing.is_empty());
        let is_waiting = !self.outstanding.is_empty() && matches!(self.held, Held::Nothing);
        if self.silence == Deadline::None && is_complete && is_waiting {
            self.silence = Deadline::after(now, self.config.timeouts.first_byte);
        }
    }

    fn close(&mut self) {
        self.state = State::Over;
        self.outgoing.clear();
        self.body = BodyWriter::Done;
        self.held = Held::Nothing;
        self.silence = Deadline::None;
        self.go_ahead = Deadline::None;
    }

    fn fail(&mut self, error: Error) {
        if self.state != State::Over {
            self.failed_at = Some(self.progress());
            self.close();
        }
        self.receiver.push(Event::Failed(error));
    }

    /// Returns what the phase is that the oldest request is in.
    fn phase(&self) -> Phase {
        match self.progress() {
            Progress::Answering => Phase::Receive,
            _ if self.outstanding.is_empty() => Phase::Idle,
            Progress::Sent => Phase::FirstByte,
            Progress::NothingSent | Progress::HeadSent | Progress::Sending => Phase::Send,
        }
    }

    fn fail_by(&mut self, fault: Fault) {
        if self.receiver.is_given_up() {
            return self.close();
        }
        let phase = self.phase();
        self.fail(fault.error(phase));
    }
}

impl Talk for ClientSession {
    fn handle_input(&mut self, now: Instant, data: &[u8]) -> usize {
        let mut input = data;
        if let Err(fault) = self.take_in(now, &mut input) {
            self.fail_by(fault);
            input = &[];
        }
        data.len() - input.len()
    }

    fn handle_end(&mut self, now: Instant, end: StreamEnd) {
        if matches!(self.state, State::Over | State::Upgraded) {
            return;
        }
        if self.outstanding.is_empty() {
            return self.close();
        }
        let is_within = self.receiver.stage() == Stage::Body;
        if is_within && end == StreamEnd::Closed {
            match self.receiver.end_body_by_close(now) {
                Ok(true) => return self.on_answered(now),
                Ok(false) => {}
                Err(fault) => return self.fail_by(fault),
            }
        }
        if self.receiver.is_given_up() {
            return self.close();
        }
        let progress = self.progress();
        let code = match end {
            _ if progress == Progress::NothingSent => Code::NotSent,
            StreamEnd::Reset => Code::Reset,
            StreamEnd::Closed | StreamEnd::Truncated if progress != Progress::Answering => Code::ClosedEarly,
            StreamEnd::Truncated if !is_within || self.receiver.is_body_until_close() => Code::TlsTruncated,
            StreamEnd::Closed | StreamEnd::Truncated if is_within => Code::IncompleteBody,
            StreamEnd::Closed | StreamEnd::Truncated => Code::ClosedEarly,
        };
        let phase = self.phase();
        self.fail(Error::new(code, phase));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.go_ahead.has_passed(now) {
            self.release_held();
        }
        if self.receiver.is_full() || !self.silence.has_passed(now) {
            return;
        }
        let is_begun = self.receiver.stage() != Stage::Head || !self.receiver.is_between_messages();
        let error = if is_begun {
            Error::new(Code::BetweenBytesTimeout, Phase::Receive)
        } else {
            Error::new(Code::FirstByteTimeout, Phase::FirstByte)
        };
        self.fail(error);
    }

    fn wants_input(&self) -> bool {
        matches!(self.state, State::Open | State::Last) && !self.receiver.is_full()
    }

    fn spare(&mut self) -> Option<&mut [u8]> {
        if matches!(self.state, State::Open | State::Last) { self.receiver.spare() } else { None }
    }

    fn advance(&mut self, now: Instant, len: usize) {
        self.silence = Deadline::after(now, self.config.timeouts.between_bytes);
        match self.receiver.advance(now, len) {
            Ok(true) => self.on_answered(now),
            Ok(false) => {}
            Err(fault) => self.fail_by(fault),
        }
    }

    fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }

    fn handle_sent(&mut self, now: Instant) {
        self.await_answer(now);
        if core::mem::take(&mut self.is_sent_due)
            && !self.body.is_done()
            && matches!(self.held, Held::Nothing)
        {
            self.receiver.push(Event::Sent);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let silence = if self.receiver.is_full() { None } else { self.silence.due() };
        earliest([silence, self.go_ahead.due()])
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
    }
}

const UNASKED: Fault = Fault::new(Code::Unexpected, 400, "");
