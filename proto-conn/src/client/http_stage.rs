//! HTTP exchanges on a stream, and tunnels through a proxy.

use alloc::{boxed::Box, format, string::String};
use core::time::Duration;
use proto_core::Instant;

use super::{Connection, Event, Stage, State, Step, Stream, Talker, exchange::Exchange, tls_step};
use crate::{
    Code, Error, Flags, Headers, Host, Message, Method, Phase, Url,
    http::{self, BodyKind, ClientSession, Progress, ResponseMode, SendOptions, TargetForm},
    tls,
};

impl Connection {
    pub(super) fn http_talker(&self) -> Result<Talker, Error> {
        Ok(Talker::Http(Box::new(self.http_session()?)))
    }

    pub(super) fn http_session(&self) -> Result<ClientSession, Error> {
        ClientSession::new(self.options.http)
            .map_err(|error| Error::new(Code::BadOption, Phase::Arguments).with_detail(format!("{error}")))
    }

    /// Sends what waits for the stream, as far as it takes it; opens another where the next exchange needs one.
    pub(super) fn send_waiting(&mut self) {
        let now = self.now;
        loop {
            match &mut self.stage {
                Stage::Idle if self.exchanges.next().is_some() => self.begin(),
                Stage::Stream(stream) => {
                    if !matches!(stream.talker, Talker::Http(_)) || !self.send_next_exchange(now) {
                        break;
                    }
                }
                Stage::Datagrams(datagrams) => {
                    let Some(message) = self.messages.pop_front() else { break };
                    // Its length was checked when it was taken in.
                    let _ = datagrams.send(message);
                }
                Stage::Idle
                | Stage::Locating(..)
                | Stage::Dialing(..)
                | Stage::Waiting(_)
                | Stage::Closed => {
                    break;
                }
            }
        }
        self.tell_of_room();
    }

    /// Sends the next exchange on the stream; says whether there is more to do.
    fn send_next_exchange(&mut self, now: Instant) -> bool {
        let Some(exchange) = self.exchanges.next() else { return false };
        let url = exchange.url(&self.url);
        let Stage::Stream(stream) = &mut self.stage else { return false };
        let is_there = stream.origin.origin_eq(url) || (stream.is_proxied && !url.scheme.is_tls());
        let is_used_up = !is_fresh_enough(stream, &self.options, now);
        let Talker::Http(session) = &mut stream.talker else { return false };
        if !is_there || is_used_up || !session.is_reusable() {
            // It ends once the exchanges on it have their answers, and the next one opens another.
            if !self.exchanges.flying.is_empty() || !session.is_idle() {
                return false;
            }
            self.end_stream();
            return true;
        }
        if !session.can_send() {
            return false;
        }
        let Some(mut exchange) = self.exchanges.take_next() else { return false };
        let Stage::Stream(stream) = &mut self.stage else { return false };
        let outcome = send_on(now, stream, &mut exchange, &self.url, &self.options);
        match outcome {
            Ok(()) => self.exchanges.flying.push_back(exchange),
            Err(error) => self.events.push_back(Event::Failed { exchange: Some(exchange.id), error }),
        }
        true
    }

    pub(super) fn on_http(&mut self, event: http::Event) {
        match event {
            http::Event::Informational(message) => {
                let message = self.dressed(message);
                self.events.push_back(Event::Message(message));
            }
            http::Event::Response(message) => self.on_response(message),
            http::Event::BodyPart(part) => self.events.push_back(Event::Part(part)),
            http::Event::BodyEnd(trailers) => {
                self.events.push_back(Event::End(trailers));
                self.on_answered();
            }
            http::Event::Sent => self.tell_of_sent(),
            http::Event::Failed(error) => self.on_stream_failed(error),
            // Nobody asked for another protocol, and no server asks a client.
            http::Event::Upgraded(_) | http::Event::Request(_) => {
                self.on_stream_failed(Error::new(Code::Unexpected, Phase::Receive));
            }
        }
    }

    fn on_response(&mut self, message: Message) {
        let Some(exchange) = self.exchanges.flying.front_mut() else { return };
        let is_streamed = message.flags.has(Flags::STREAMED);
        match exchange.follow(&message, &self.url, &self.options) {
            Ok(true) => {
                let exchange = self.exchanges.flying.pop_front();
                self.note_served();
                if is_streamed {
                    self.leave_body();
                }
                if let Some(exchange) = exchange {
                    self.exchanges.push_front(exchange);
                }
            }
            Ok(false) => {
                let message = self.dressed(message);
                self.events.push_back(Event::Message(message));
                if !is_streamed {
                    self.on_answered();
                }
            }
            Err(error) => {
                let exchange = Some(exchange.id);
                self.events.push_back(Event::Failed { exchange, error });
                self.on_answered();
                if is_streamed {
                    self.leave_body();
                }
            }
        }
    }

    /// Gives the stream up rather than read a redirect's body, which may be of any length and which nobody wants.
    fn leave_body(&mut self) {
        self.on_stream_failed(Error::new(Code::Reset, Phase::Receive));
    }

    /// An exchange has its whole answer.
    fn on_answered(&mut self) {
        if let Some(exchange) = self.exchanges.flying.pop_front() {
            let request = self.exchanges.retire(exchange);
            self.recycle(request);
        }
        self.note_served();
        self.tell_of_room();
    }

    fn note_served(&mut self) {
        self.attempts.on_up(self.now);
        if let Stage::Stream(stream) = &mut self.stage {
            stream.served = stream.served.saturating_add(1);
            stream.idle_since = self.now;
        }
    }

    /// Adds what the session does not know.
    fn dressed(&self, mut message: Message) -> Message {
        let exchange = self.exchanges.flying.front();
        if exchange.is_some_and(|exchange| exchange.redirects > 0) {
            message.flags = message.flags.with(Flags::REDIRECTED);
        }
        let exchange = exchange.map(|exchange| exchange.id);
        let stream = self.stream();
        let (local, peer) = (stream.and_then(|stream| stream.local), stream.map(|stream| stream.peer));
        message.local_addr = local;
        message.peer_addr = peer;
        message.received = Some(self.now);
        message.exchange = exchange;
        message
    }

    /// Everything was handed to the operating system: a streamed body may go on.
    fn tell_of_sent(&mut self) {
        if self.owes_room {
            self.owes_room = false;
            self.events.push_back(Event::Writable);
        }
    }

    /// The stream with these exchanges under way is gone.
    pub(super) fn on_http_lost(&mut self, error: Error, progress: Progress) {
        self.set_state(State::Idle);
        let mut again = alloc::vec::Vec::new();
        let mut progress = progress;
        while let Some(mut exchange) = self.exchanges.flying.pop_front() {
            if exchange.may_retry(progress) && error.code.is_transient() && !is_timeout(error.code) {
                exchange.is_retry = true;
                again.push(exchange);
            } else {
                self.events.push_back(Event::Failed { exchange: Some(exchange.id), error: error.clone() });
            }
            // Those behind the first in a pipeline have had nothing at all.
            progress = if progress == Progress::Answering { Progress::Sent } else { progress };
        }
        again.into_iter().rev().for_each(|exchange| self.exchanges.push_front(exchange));
    }

    /// No stream could be opened for the first exchange.
    pub(super) fn fail_exchange(&mut self, error: Error) {
        // Without one, the connection was to be opened ahead of its use.
        let exchange = self.exchanges.take_next().map(|exchange| exchange.id);
        self.events.push_back(Event::Failed { exchange, error });
        self.tell_of_room();
    }

    /// Ends exchanges that take too long altogether.
    pub(super) fn end_late_exchanges(&mut self) {
        let now = self.now;
        let error = || Error::new(Code::TotalTimeout, Phase::Receive);
        if self.exchanges.is_flying_late(now) {
            // The answer may still come, so the stream cannot be used for another.
            self.on_stream_failed(error());
        }
        while let Some(exchange) = self.exchanges.take_late(now) {
            self.events.push_back(Event::Failed { exchange: Some(exchange.id), error: error() });
            if let Stage::Dialing(dialing, _) = &mut self.stage {
                dialing.abandon(&mut self.links);
                self.stage = Stage::Idle;
                self.set_state(State::Idle);
            }
        }
    }

    /// When an unused stream is given up.
    pub(super) fn idle_deadline(&self, stream: &Stream) -> Option<Instant> {
        let Talker::Http(session) = &stream.talker else { return None };
        let is_unused = self.is_unused(stream);
        is_unused.then(|| stream.idle_since + idle_limit(session, self.options.idle_limit))
    }

    pub(super) fn is_unused(&self, stream: &Stream) -> bool {
        let Talker::Http(session) = &stream.talker else { return false };
        self.exchanges.is_empty() && session.is_idle() && !stream.carrier.is_handshaking()
    }

    pub(super) fn end_idle_stream(&mut self) {
        if let Stage::Stream(stream) = &self.stage
            && self.idle_deadline(stream).is_some_and(|deadline| deadline <= self.now)
        {
            self.end_stream();
        }
    }

    /// Ends a stream that nothing more comes over.
    pub(super) fn end_finished_stream(&mut self) {
        let Stage::Stream(stream) = &mut self.stage else { return };
        let is_finished = match &mut stream.talker {
            Talker::Http(session) => {
                let done = !self.options.keep_alive && stream.served > 0;
                let over = crate::Talk::is_over(session.as_ref()) || stream.carrier.end().is_some();
                let idle = session.is_idle() && self.exchanges.flying.is_empty();
                idle && (done || over || !session.is_reusable())
            }
            Talker::Tunnel(_) | Talker::Upgrade(..) | Talker::Ws(_) => false,
        };
        if is_finished {
            self.end_stream();
            self.send_waiting();
        }
    }

    /// Ends the stream in good order. What waits opens another.
    fn end_stream(&mut self) {
        if let Stage::Stream(stream) = core::mem::replace(&mut self.stage, Stage::Idle) {
            let (now, patience) = (self.now, self.options.timeouts.close);
            let rest = crate::Outgoing::default();
            self.parting.part(now, stream.carrier, rest, patience, &mut self.links);
        }
        self.set_state(State::Idle);
    }
}

/// Tunnels.
impl Connection {
    /// Asks the proxy for a way to `origin` (RFC 9110 §9.3.6).
    pub(super) fn tunnel_talker(&self, origin: &Url) -> Result<Talker, Error> {
        let mut session = self.http_session()?;
        let mut request = Message::request(Method::Connect, tunnel_target(origin), "");
        if let Some(proxy) = &self.options.proxy {
            authorize(&mut request.headers, "Proxy-Authorization", &proxy.url)?;
        }
        let host = tunnel_target(origin);
        let how = SendOptions { form: TargetForm::Authority, host: &host, ..SendOptions::default() };
        session.send(self.now, &request, &how)?;
        Ok(Talker::Tunnel(Box::new(session)))
    }

    pub(super) fn on_tunnel(&mut self, event: http::Event) {
        match event {
            http::Event::Upgraded(_) => {
                let Stage::Stream(stream) = core::mem::replace(&mut self.stage, Stage::Idle) else { return };
                if let Err(error) = self.pass_through(*stream) {
                    self.on_lost(error, None);
                }
            }
            http::Event::Response(message) => {
                let code = if message.status == 407 { Code::ProxyAuth } else { Code::ProxyRefused };
                let error = Error { status: Some(message.status), ..Error::new(code, Phase::Proxy) };
                self.on_stream_failed(error);
            }
            http::Event::Failed(error) => {
                let code = if error.code == Code::HttpSyntax { Code::ProxyProtocol } else { error.code };
                self.on_stream_failed(Error { code, ..error });
            }
            http::Event::Informational(_)
            | http::Event::Request(_)
            | http::Event::BodyPart(_)
            | http::Event::BodyEnd(_)
            | http::Event::Sent => {}
        }
    }

    /// The tunnel is open: what was wanted of it begins.
    fn pass_through(&mut self, stream: Stream) -> Result<(), Error> {
        let Stream { mut carrier, talker: Talker::Tunnel(session), origin, local, peer, .. } = stream else {
            return Ok(());
        };
        let now = self.now;
        let (_, early) = session.into_upgraded();
        let (talker, state, step) = self.final_talker(&origin)?;
        let mut state = state;
        let mut step = step.map(|(timeout, code, phase)| Step { deadline: now + timeout, code, phase });
        if let Some(config) = self.options.tls.as_ref().filter(|_| origin.scheme.is_tls()) {
            carrier.start_tls(tls::client(config, &origin.host)?);
            state = State::TlsHandshake;
            step = Some(tls_step(now, &self.options));
        }
        let mut stream = Stream {
            carrier,
            talker,
            authority: origin.authority(),
            origin,
            local,
            peer,
            is_proxied: false,
            opened: now,
            served: 0,
            idle_since: now,
            step,
            stalled: None,
            failure: None,
            courtesy: crate::ws::Courtesy::default(),
        };
        stream.handle_stream(now, &early);
        self.stage = Stage::Stream(Box::new(stream));
        self.set_state(state);
        Ok(())
    }
}

/// Sends an exchange's request on a stream that takes it.
fn send_on(
    now: Instant,
    stream: &mut Stream,
    exchange: &mut Exchange,
    base: &Url,
    options: &super::Options,
) -> Result<(), Error> {
    let is_redirected = exchange.redirected.is_some();
    let url = exchange.redirected.as_deref().unwrap_or(base);
    let Talker::Http(session) = &mut stream.talker else {
        return Err(Error::new(Code::BadState, Phase::Send));
    };
    // By way of a proxy, a stream also leads to others.
    let other = (!stream.origin.origin_eq(url)).then(|| url.authority());
    let host = other.as_deref().unwrap_or(&stream.authority);
    let is_retry = exchange.is_retry;
    let request = &mut exchange.request;
    fill_in(&mut request.headers, &options.headers)?;
    if !is_redirected {
        authorize(&mut request.headers, "Authorization", url)?;
    }
    if stream.is_proxied
        && let Some(proxy) = &options.proxy
    {
        authorize(&mut request.headers, "Proxy-Authorization", &proxy.url)?;
    }
    let length = request.body.len() as u64;
    let form = if stream.is_proxied {
        TargetForm::Absolute { scheme: url.scheme.name() }
    } else {
        TargetForm::Origin
    };
    let in_parts = options.stream_responses || request.flags.has(Flags::ANSWER_IN_PARTS);
    let how = SendOptions {
        form,
        target: &url.target,
        host,
        keep_alive: options.keep_alive && stream.served + 1 < options.max_exchanges,
        body: if exchange.is_streamed { BodyKind::Streamed { length: None } } else { BodyKind::Whole },
        response: if in_parts { ResponseMode::Streamed } else { ResponseMode::Buffered },
        decode: options.decode,
        expect_continue: options.expect_continue_from.is_some_and(|least| length >= least),
        is_retry,
    };
    session.send(now, request, &how)?;
    exchange.on_used = stream.served > 0;
    Ok(())
}

/// Adds fields that are not there.
pub(super) fn fill_in(headers: &mut Headers, defaults: &Headers) -> Result<(), Error> {
    for (name, value) in defaults.iter() {
        if headers.get(name).is_none() {
            append(headers, name, value)?;
        }
    }
    Ok(())
}

fn append(headers: &mut Headers, name: &str, value: impl AsRef<[u8]>) -> Result<(), Error> {
    headers.append(name, value).map_err(|error| {
        Error::new(Code::BadHeader, Phase::Arguments).with_detail(format!("{name}: {error}"))
    })
}

/// Adds the user information of a URL as Basic credentials (RFC 7617), where the field is not there.
pub(super) fn authorize(headers: &mut Headers, field: &str, url: &Url) -> Result<(), Error> {
    let Some(user) = url.userinfo.as_ref().filter(|_| headers.get(field).is_none()) else { return Ok(()) };
    match http::auth::basic(&user.user, user.password.as_deref().unwrap_or_default()) {
        Some(value) => append(headers, field, value),
        None => {
            Err(Error::new(Code::BadUrl, Phase::Arguments).with_detail("a user name may not have a colon"))
        }
    }
}

/// A tunnel's target always has its port (RFC 9110 §9.3.6).
fn tunnel_target(origin: &Url) -> String {
    match &origin.host {
        Host::V6 { ip, .. } => format!("[{ip}]:{}", origin.port),
        Host::Name(_) | Host::V4(_) => format!("{}:{}", origin.host, origin.port),
    }
}

fn idle_limit(session: &ClientSession, own: Duration) -> Duration {
    session.idle_limit().map_or(own, |theirs| own.min(theirs))
}

/// Says whether a stream may serve another exchange.
fn is_fresh_enough(stream: &Stream, options: &super::Options, now: Instant) -> bool {
    stream.served < options.max_exchanges
        && options.max_age.is_none_or(|most| now.saturating_since(stream.opened) < most)
}

/// A deadline that passed does not mean that the request was not seen: it is never sent again.
const fn is_timeout(code: Code) -> bool {
    matches!(
        code,
        Code::FirstByteTimeout | Code::BetweenBytesTimeout | Code::SendTimeout | Code::TotalTimeout
    )
}
