//! The server's side of a connection.
//!
//! ```text
//! Open ──accept_upgrade──▶ Upgraded
//!   └ ──last answer, fault, idle for too long──▶ Over
//! ```

use alloc::{collections::VecDeque, vec::Vec};
use proto_core::Instant;

use super::{
    announce,
    body_writer::BodyWriter,
    collector::Wanted,
    config::{Config, ConfigError},
    deadline::Deadline,
    encode::{self, Announced, Persistence},
    event::Event,
    facts::Facts,
    fault::Fault,
    framing::{self, Asked, Framing},
    head::HeadRules,
    options::BodyKind,
    receiver::{BodyPlan, Receiver, Stage},
    version::Version,
};
use crate::{Code, Error, Headers, Kind, Message, Outgoing, Payload, Phase, StreamEnd, Talk};

/// Receives requests on one connection, and sends the answers in the same order.
///
/// A request that breaks a rule is answered here, once those before it are: with 400, 408, 413, 414, 431, 501 or 505,
/// and the connection is closed. A `Date` is the application's to add, which has a clock (RFC 9110 §6.6.1).
#[derive(Debug)]
pub struct ServerSession {
    config: Config,
    receiver: Receiver,
    outgoing: Outgoing,
    /// Requests whose answers are not complete, oldest first; the newest may still be arriving.
    pending: VecDeque<Pending>,
    /// The body of the answer to the oldest.
    body: BodyWriter,
    state: State,
    /// What was wrong with the request behind those that are pending.
    refusal: Option<Fault>,
    /// No request is taken in any more.
    is_finishing: bool,
    /// Until when the client may take for what it is to do.
    patience: Deadline,
    /// Something of a streamed body was written since [`Event::Sent`].
    is_sent_due: bool,
    /// Bytes that arrived behind the request that switched protocols.
    behind: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Upgraded,
    Over,
}

/// A request whose answer is not complete.
#[derive(Clone, Copy, Debug)]
struct Pending {
    asked: Asked,
    version: Version,
    keep_alive: bool,
    /// It asks for another protocol, or a tunnel: what follows may not be HTTP.
    may_switch: bool,
    /// It waits for `100 Continue`.
    expects: bool,
    /// The application wants its body.
    is_body_wanted: bool,
}

impl ServerSession {
    /// Creates the session of a connection that was just accepted.
    ///
    /// # Errors
    /// A value of `config` cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            receiver: Receiver::new(&config, HeadRules::of_server(&config)),
            config,
            outgoing: Outgoing::default(),
            pending: VecDeque::new(),
            body: BodyWriter::Done,
            state: State::Open,
            refusal: None,
            is_finishing: false,
            patience: Deadline::Anew(config.timeouts.idle),
            is_sent_due: false,
            behind: Vec::new(),
        })
    }

    /// Answers the oldest request: with head, and body if that is [`Whole`](BodyKind::Whole). The answer to HEAD goes
    /// without its body, whose length may be given with [`Streamed`](BodyKind::Streamed).
    ///
    /// # Errors
    /// [`Code::BadState`] if no request waits for an answer; [`Code::BadMessage`] or [`Code::BadHeader`] if this one
    /// cannot be sent. Nothing was sent then.
    pub fn respond(&mut self, now: Instant, response: &Message, kind: BodyKind) -> Result<(), Error> {
        let oldest = self.unanswered()?;
        if response.kind != Kind::Response || response.status < 200 {
            return Err(bad_message("not a final response"));
        }
        if oldest.asked == Asked::Connect && response.status < 300 {
            return Err(bad_message("a tunnel is opened by accept_upgrade"));
        }
        let (announced, body) = announce::response(response, kind, oldest.asked, oldest.version)?;
        let is_last = !oldest.keep_alive
            || self.is_last_of_all()
            || body == BodyWriter::UntilClose
            || self.must_close(kind);
        let persistence = match oldest.version {
            _ if is_last => Persistence::Close,
            Version::Http10 => Persistence::KeepAlive,
            Version::Http11 => Persistence::Default,
        };
        self.write_head(response, announced, persistence)?;
        if let Some(oldest) = self.pending.front_mut() {
            oldest.keep_alive = !is_last;
        }
        self.body = body;
        match kind {
            _ if self.body.is_done() => self.on_answered(now),
            BodyKind::Whole => {
                self.body.push(response.body.clone(), &mut self.outgoing)?;
                if self.body == BodyWriter::Chunked {
                    self.body.finish(&response.trailers, &mut self.outgoing)?;
                } else {
                    // A client of version 1.0 knows no trailers.
                    self.body.finish(&Headers::new(), &mut self.outgoing)?;
                }
                self.on_answered(now);
            }
            BodyKind::Streamed { .. } => self.is_sent_due = true,
        }
        Ok(())
    }

    /// Sends an interim response (1xx) before the answer to the oldest request. A client of version 1.0 gets none.
    ///
    /// # Errors
    /// [`Code::BadState`] if no request waits for an answer; [`Code::BadMessage`] or [`Code::BadHeader`] if this one
    /// cannot be sent.
    pub fn inform(&mut self, now: Instant, interim: &Message) -> Result<(), Error> {
        let oldest = self.unanswered()?;
        if !matches!(interim.status, 100 | 102..=199) || !interim.body.is_empty() {
            return Err(bad_message("not an interim response"));
        }
        // RFC 9110 §15.2: 1.0 has none.
        if oldest.version == Version::Http10 {
            return Ok(());
        }
        if interim.status == 100 {
            self.accept_body(now);
            return Ok(());
        }
        self.write_head(interim, Announced::Nothing, Persistence::Default)
    }

    /// Tells a client that waits with the body of the newest request to send it. Without that, a client sends it after
    /// a while, or never.
    pub fn accept_body(&mut self, now: Instant) {
        if let Some(newest) = self.pending.back_mut() {
            newest.is_body_wanted = true;
        }
        self.continue_if_wanted(now);
    }

    /// Sends a part of a streamed body.
    ///
    /// # Errors
    /// [`Code::WouldBlock`] while too much waits to be sent: [`Event::Sent`] follows. [`Code::BadMessage`] if the body
    /// is longer than announced; [`Code::BadState`] if none is being sent.
    pub fn send_part(&mut self, _now: Instant, part: Payload) -> Result<(), Error> {
        if self.outgoing.len() >= self.config.unsent {
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        self.is_sent_due = true;
        self.body.push(part, &mut self.outgoing)
    }

    /// Ends a streamed body. Trailers are for chunked ones.
    ///
    /// # Errors
    /// [`Code::BadMessage`] if the body is shorter than announced, [`Code::BadHeader`] for a field that no trailer can
    /// be, [`Code::BadState`] if no body is being sent.
    pub fn finish_body(&mut self, now: Instant, trailers: &Headers) -> Result<(), Error> {
        self.body.finish(trailers, &mut self.outgoing)?;
        self.is_sent_due = false;
        self.on_answered(now);
        Ok(())
    }

    /// Switches protocols: answers the oldest request with 101, or a CONNECT with 2xx. The session has done its work
    /// then: [`into_upgraded`](Self::into_upgraded).
    ///
    /// # Errors
    /// [`Code::BadState`] if the oldest request does not ask for it, or is not complete; [`Code::BadMessage`] or
    /// [`Code::BadHeader`] if the response cannot be sent.
    pub fn accept_upgrade(&mut self, _now: Instant, response: &Message) -> Result<(), Error> {
        let oldest = self.unanswered()?;
        if !oldest.may_switch || self.receiver.stage() != Stage::Head {
            return Err(
                Error::new(Code::BadState, Phase::Upgrade).with_detail("no request to switch protocols")
            );
        }
        let is_answer = match oldest.asked {
            Asked::Connect => (200..=299).contains(&response.status),
            Asked::Head | Asked::Other => response.status == 101 && response.headers.get("Upgrade").is_some(),
        };
        if !is_answer || !response.body.is_empty() {
            return Err(bad_message("a response that does not switch protocols"));
        }
        // RFC 9110 §9.3.6, §8.6: neither has a length.
        self.write_head(response, Announced::Nothing, Persistence::Default)?;
        self.pending.clear();
        self.state = State::Upgraded;
        self.patience = Deadline::None;
        Ok(())
    }

    /// Takes in no further request; the answers to those that are pending are the last, and the last says so.
    pub fn finish(&mut self) {
        self.is_finishing = true;
        if self.pending.is_empty() && self.refusal.is_none() && self.state == State::Open {
            self.close();
        }
    }

    /// Returns what there is to tell.
    pub fn poll_event(&mut self) -> Option<Event> {
        let was_full = self.receiver.is_full();
        let event = match self.receiver.poll_event() {
            Ok(event) => event,
            Err(fault) => {
                self.refuse(fault);
                self.receiver.poll_event().ok().flatten()
            }
        };
        if was_full && !self.receiver.is_full() && self.receiver.stage() == Stage::Body {
            // The pause was the application's.
            self.patience = Deadline::Anew(self.config.timeouts.between_bytes);
        }
        event
    }

    /// Takes back a message that the application has done with: its memory serves for the next.
    pub fn recycle(&mut self, message: Message) {
        self.receiver.recycle(message);
    }

    /// Returns what is still to be sent, and what arrived behind the request that switched protocols.
    pub fn into_upgraded(self) -> (Outgoing, Vec<u8>) {
        (self.outgoing, self.behind)
    }

    /// Says whether a request waits for its answer to begin.
    pub fn wants_response(&self) -> bool {
        self.unanswered().is_ok()
    }

    /// Says whether nothing is going on.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.receiver.is_between_messages() && self.outgoing.is_empty()
    }

    /// Returns the oldest request, if it may be answered.
    fn unanswered(&self) -> Result<Pending, Error> {
        let is_surfaced =
            self.pending.len() > 1 || self.config.stream_requests || self.receiver.stage() != Stage::Body;
        match self.pending.front() {
            Some(&oldest) if self.state == State::Open && self.body.is_done() && is_surfaced => Ok(oldest),
            _ => Err(Error::new(Code::BadState, Phase::Send).with_detail("no request waits for an answer")),
        }
    }

    /// Says whether an answer that is complete at once leaves more of the request's body than is worth reading, or a
    /// client that waits for its `100 Continue` (RFC 9110 §10.1.1).
    fn must_close(&self, kind: BodyKind) -> bool {
        let is_arriving = self.pending.len() == 1 && self.receiver.stage() == Stage::Body;
        let waits = self.pending.front().is_some_and(|oldest| oldest.expects);
        is_arriving && (waits || (kind == BodyKind::Whole && self.receiver.ahead() > self.config.drained))
    }

    /// Says whether the oldest request is the last that is answered.
    fn is_last_of_all(&self) -> bool {
        self.is_finishing && self.pending.len() == 1 && self.refusal.is_none()
    }

    fn write_head(
        &mut self,
        head: &Message,
        announced: Announced,
        persistence: Persistence,
    ) -> Result<(), Error> {
        self.outgoing.write(|buf| {
            let before = buf.len();
            encode::response(head, announced, persistence, buf).inspect_err(|_| buf.truncate(before))
        })
    }

    fn take_in(&mut self, now: Instant, input: &mut &[u8]) -> Result<(), Fault> {
        while !input.is_empty() {
            match (self.state, self.receiver.stage()) {
                (State::Over, _) => *input = &[],
                (State::Upgraded, _) => {
                    self.behind.extend_from_slice(input);
                    *input = &[];
                }
                (State::Open, _) if self.refusal.is_some() => *input = &[],
                (State::Open, Stage::End) => return Ok(()),
                (State::Open, Stage::Head) => {
                    if self.is_paused() {
                        return Ok(());
                    }
                    let was_between = self.receiver.is_between_messages();
                    match self.receiver.read_head(input)? {
                        Some(facts) => self.on_head(now, &facts, !input.is_empty())?,
                        None if was_between && !self.receiver.is_between_messages() => {
                            self.patience = Deadline::after(now, self.config.timeouts.head);
                        }
                        None => {}
                    }
                }
                (State::Open, Stage::Body) => {
                    self.patience = Deadline::after(now, self.config.timeouts.between_bytes);
                    if let Some(newest) = self.pending.back_mut() {
                        // RFC 9110 §10.1.1: who sends does not wait.
                        newest.expects = false;
                    }
                    if self.receiver.read_body(now, input)? {
                        self.on_received();
                    } else if self.receiver.is_full() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn on_head(&mut self, now: Instant, facts: &Facts, has_more: bool) -> Result<(), Fault> {
        let asked = Asked::by(&self.receiver.message().method);
        let framing = framing::of_request(facts)?;
        let has_body = !matches!(framing, Framing::None | Framing::Length(0));
        let is_1_1 = facts.version == Version::Http11;
        self.pending.push_back(Pending {
            asked,
            version: facts.version,
            keep_alive: facts.is_persistent(),
            may_switch: asked == Asked::Connect || facts.has_upgrade(),
            // RFC 9110 §10.1.1: an expectation in 1.0 is ignored, and who sends at once does not wait.
            expects: facts.expect_continue && is_1_1 && has_body && !has_more,
            is_body_wanted: !self.config.stream_requests,
        });
        self.patience = Deadline::None;
        let wanted = if self.config.stream_requests { Wanted::Parts } else { Wanted::Whole };
        if let Err(fault) = self.receiver.begin_body(now, BodyPlan { framing, wanted, decode: false }) {
            self.pending.pop_back();
            return Err(fault);
        }
        if !facts.is_persistent() && !has_body {
            self.is_finishing = true;
        }
        if has_body {
            self.await_body(now);
            self.continue_if_wanted(now);
        }
        Ok(())
    }

    /// The newest request is complete.
    fn on_received(&mut self) {
        self.patience = Deadline::None;
        if self.pending.back().is_some_and(|newest| !newest.keep_alive) {
            // RFC 9112 §9.6: nothing behind a request with close is a request.
            self.is_finishing = true;
        }
    }

    /// Sends `100 Continue` once all before it is answered.
    fn continue_if_wanted(&mut self, now: Instant) {
        if self.pending.len() != 1 || !self.body.is_done() || self.state != State::Open {
            return;
        }
        let Some(oldest) = self.pending.front_mut() else { return };
        if oldest.is_body_wanted && core::mem::take(&mut oldest.expects) {
            self.outgoing.write(|buf| buf.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n"));
            self.await_body(now);
        }
    }

    /// Begins waiting for a body, unless the client waits itself.
    fn await_body(&mut self, now: Instant) {
        if self.receiver.stage() == Stage::Body && !self.pending.back().is_some_and(|newest| newest.expects) {
            self.patience = Deadline::after(now, self.config.timeouts.between_bytes);
        }
    }

    /// The oldest request's answer is complete.
    fn on_answered(&mut self, now: Instant) {
        let Some(answered) = self.pending.pop_front() else { return };
        let is_arriving = self.pending.is_empty() && self.receiver.stage() != Stage::Head;
        if is_arriving && (answered.expects || !self.receiver.give_up_body(self.config.drained)) {
            return self.close();
        }
        let is_last = self.is_finishing && self.pending.is_empty() && self.refusal.is_none();
        if is_last || !answered.keep_alive {
            return self.close();
        }
        if self.pending.is_empty() {
            if let Some(fault) = self.refusal.take() {
                return self.write_refusal(fault);
            }
            if self.receiver.is_between_messages() {
                self.patience = Deadline::after(now, self.config.timeouts.idle);
            }
        }
        self.continue_if_wanted(now);
    }

    /// Refuses the request that is arriving, once those before it are answered.
    fn refuse(&mut self, fault: Fault) {
        if self.receiver.is_given_up() {
            return self.close();
        }
        if self.receiver.stage() != Stage::Head {
            if self.pending.len() == 1 && !self.body.is_done() {
                // Its answer has begun. The client sees that it is cut off.
                self.receiver.push(Event::Failed(fault.error(Phase::Receive)));
                return self.close();
            }
            self.pending.pop_back();
        }
        self.patience = Deadline::None;
        if self.pending.is_empty() {
            self.write_refusal(fault);
        } else {
            self.refusal = Some(fault);
        }
    }

    fn write_refusal(&mut self, fault: Fault) {
        let answer = Message::response(fault.status, "");
        let written = self.write_head(&answer, Announced::Length(0), Persistence::Close);
        debug_assert!(written.is_ok(), "our own answers can be sent");
        self.receiver.push(Event::Failed(fault.error(Phase::Receive)));
        self.close();
    }

    /// Ends the session; what waits to be sent is sent.
    fn close(&mut self) {
        self.state = State::Over;
        self.pending.clear();
        self.body = BodyWriter::Done;
        self.refusal = None;
        self.patience = Deadline::None;
    }

    /// Says whether the next request has to wait for answers.
    fn is_paused(&self) -> bool {
        self.pending.len() >= self.config.queued
            || self.is_finishing
            || self.receiver.unread() >= self.config.unread
            || self.pending.back().is_some_and(|newest| newest.may_switch)
    }
}

impl Talk for ServerSession {
    fn handle_input(&mut self, now: Instant, data: &[u8]) -> usize {
        let mut input = data;
        if let Err(fault) = self.take_in(now, &mut input) {
            self.refuse(fault);
            input = &[];
        }
        data.len() - input.len()
    }

    fn handle_end(&mut self, _now: Instant, end: StreamEnd) {
        if self.state != State::Open {
            return;
        }
        let is_between = self.receiver.is_between_messages();
        if end == StreamEnd::Reset {
            if !is_between || !self.pending.is_empty() {
                self.receiver.push(Event::Failed(Error::new(Code::Reset, Phase::Receive)));
            }
            self.outgoing.clear();
            return self.close();
        }
        if is_between || self.refusal.is_some() {
            // A client may close its side early, and still wait for answers.
            return self.finish();
        }
        if self.receiver.stage() == Stage::End {
            return self.is_finishing = true;
        }
        let code = if end == StreamEnd::Truncated { Code::TlsTruncated } else { Code::IncompleteBody };
        self.refuse(Fault::new(code, 400, "the request was cut off"));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.receiver.is_full() || self.state != State::Open || !self.patience.has_passed(now) {
            return;
        }
        if self.receiver.is_between_messages() {
            return self.close();
        }
        // RFC 9110 §15.5.9.
        self.refuse(Fault::new(Code::BetweenBytesTimeout, 408, "the request did not arrive in time"));
    }

    fn wants_input(&self) -> bool {
        let has_room = self.outgoing.len() < self.config.unsent && !self.receiver.is_full();
        let has_room = has_room && self.refusal.is_none();
        match (self.state, self.receiver.stage()) {
            (State::Open, Stage::Head) if self.receiver.is_between_messages() => {
                has_room && !self.is_paused()
            }
            (State::Open, _) => has_room,
            (State::Upgraded | State::Over, _) => false,
        }
    }

    fn spare(&mut self) -> Option<&mut [u8]> {
        if self.state == State::Open { self.receiver.spare() } else { None }
    }

    fn advance(&mut self, now: Instant, len: usize) {
        self.patience = Deadline::after(now, self.config.timeouts.between_bytes);
        match self.receiver.advance(now, len) {
            Ok(true) => self.on_received(),
            Ok(false) => {}
            Err(fault) => self.refuse(fault),
        }
    }

    fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }

    fn handle_sent(&mut self, _now: Instant) {
        if core::mem::take(&mut self.is_sent_due) && !self.body.is_done() {
            self.receiver.push(Event::Sent);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.receiver.is_full() { None } else { self.patience.due() }
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
    }
}

fn bad_message(detail: &str) -> Error {
    Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail)
}
