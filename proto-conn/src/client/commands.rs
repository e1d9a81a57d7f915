//! What the application asks of a connection.

use alloc::{borrow::ToOwned as _, collections::VecDeque, string::String, vec::Vec};
use core::num::NonZeroU64;
use proto_core::{Instant, Interface, LinkEvent, LinkSpec};

use super::{
    Attempts, Closed, Connection, Datagrams, Event, Exchanges, Heard, Links, Options, Parting, Stage, State,
    Talker,
    datagrams::MAX_DATAGRAM,
    exchange::{Exchange, is_request},
};
use crate::{
    Code, Error, ExchangeId, Flags, Headers, Host, Kind, Message, Payload, Phase, Scheme, Url,
    secrets::Secrets,
};

impl Connection {
    /// Creates a connection that opens nothing yet. The seed feeds mask keys and jitter: it must be secret, and new for
    /// each connection, where the peer is not trusted.
    ///
    /// # Errors
    /// [`Code::BadOption`]: which option does not fit.
    pub fn new(url: Url, options: Options, seed: [u8; 32]) -> Result<Self, Error> {
        options.validate(&url)?;
        let mut secrets = Secrets::new(seed);
        Ok(Self {
            url,
            options,
            jitter: secrets.source(),
            secrets,
            now: Instant::ZERO,
            state: State::Idle,
            stage: Stage::Idle,
            links: Links::default(),
            parting: Parting::default(),
            exchanges: Exchanges::default(),
            messages: VecDeque::new(),
            events: VecDeque::new(),
            pieces: Vec::new(),
            attempts: Attempts::default(),
            owes_room: false,
            is_paused: false,
            next_exchange: NonZeroU64::MIN,
            dropped: 0,
        })
    }

    /// Opens the connection now. A message opens it as well.
    ///
    /// # Errors
    /// [`Code::BadState`]: it is closed.
    pub fn open(&mut self, now: Instant) -> Result<(), Error> {
        self.see(now);
        self.check_open()?;
        if matches!(self.stage, Stage::Idle) {
            self.begin();
            self.react();
        }
        Ok(())
    }

    /// Sends a message: a request, a WebSocket message or ping, a datagram. Before the connection is open it waits for
    /// that.
    ///
    /// The number of a request's exchange is returned; its answer, or its failure, has it too.
    ///
    /// A request with [`Flags::STREAMED`] has its body follow by [`send_part`](Self::send_part).
    ///
    /// # Errors
    /// [`Code::BadState`] when the handle is closed or closing, [`Code::BadMessage`] for one that this scheme does not
    /// send, [`Code::TooLong`], [`Code::BadHeader`], and [`Code::WouldBlock`] when too many wait: there will be an
    /// [`Event::Writable`]. The message is lost to the caller then; a clone costs little.
    pub fn send(&mut self, now: Instant, message: Message) -> Result<Option<ExchangeId>, Error> {
        self.see(now);
        self.check_open()?;
        self.check_message(&message)?;
        if self.waiting() >= self.options.max_waiting {
            self.owes_room = true;
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        let now = self.now;
        let exchange = if self.url.scheme.is_http() {
            let id = ExchangeId(self.next_exchange);
            self.next_exchange = self.next_exchange.saturating_add(1);
            self.exchanges.push(Exchange::new(now, id, message, self.options.timeouts.total));
            Some(id)
        } else {
            self.deliver(message)?;
            None
        };
        if matches!(self.stage, Stage::Idle) {
            self.begin();
        }
        self.send_waiting();
        if let Stage::Stream(stream) = &mut self.stage {
            stream.wind(now);
        }
        Ok(exchange)
    }

    /// Hands a WebSocket message or datagram on, or keeps it until the connection is open.
    fn deliver(&mut self, message: Message) -> Result<(), Error> {
        let now = self.now;
        match &mut self.stage {
            Stage::Stream(stream) => match &mut stream.talker {
                Talker::Ws(session) => {
                    return session.send(now, &message).inspect_err(|error| {
                        self.owes_room |= error.code == Code::WouldBlock;
                    });
                }
                Talker::Tunnel(_) | Talker::Http(_) | Talker::Upgrade(..) => self.messages.push_back(message),
            },
            Stage::Datagrams(datagrams) => return datagrams.send(message),
            Stage::Idle | Stage::Locating(..) | Stage::Dialing(..) | Stage::Waiting(_) | Stage::Closed => {
                self.messages.push_back(message);
            }
        }
        Ok(())
    }

    /// Sends a part of the body of the streamed request whose turn it is.
    ///
    /// # Errors
    /// [`Code::BadState`] when there is no such request, [`Code::WouldBlock`] before its turn, or when the peer does not
    /// keep up: there will be an [`Event::Writable`].
    pub fn send_part(&mut self, now: Instant, part: Payload) -> Result<(), Error> {
        self.see(now);
        self.with_streamed(|session, now| session.send_part(now, part))
    }

    /// Ends the body of the streamed request.
    ///
    /// # Errors
    /// As for [`send_part`](Self::send_part).
    pub fn finish_body(&mut self, now: Instant, trailers: &Headers) -> Result<(), Error> {
        self.see(now);
        self.with_streamed(|session, now| session.finish_body(now, trailers))
    }

    fn with_streamed<T>(
        &mut self,
        act: impl FnOnce(&mut crate::http::ClientSession, Instant) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let now = self.now;
        let would_block = Error::new(Code::WouldBlock, Phase::Send);
        if let Stage::Stream(stream) = &mut self.stage
            && let Talker::Http(session) = &mut stream.talker
            && let Some(exchange) = self.exchanges.flying.back_mut().filter(|exchange| exchange.is_streamed)
        {
            exchange.has_begun_body = true;
            let outcome = act(session, now);
            self.owes_room |= matches!(&outcome, Err(error) if error.code == Code::WouldBlock);
            return outcome;
        }
        if self.exchanges.has_streamed() {
            self.owes_room = true;
            return Err(would_block);
        }
        Err(Error::new(Code::BadState, Phase::Send)
            .with_detail("no request with a streamed body is under way"))
    }

    /// Sends a part of a WebSocket message; `is_last` ends it.
    ///
    /// # Errors
    /// [`Code::BadState`] when the WebSocket is not open; otherwise as for [`send`](Self::send).
    pub fn send_fragment(
        &mut self,
        now: Instant,
        kind: Kind,
        part: Payload,
        is_last: bool,
    ) -> Result<(), Error> {
        self.see(now);
        let now = self.now;
        if let Stage::Stream(stream) = &mut self.stage
            && let Talker::Ws(session) = &mut stream.talker
        {
            let outcome = session.send_fragment(now, kind, part, is_last);
            self.owes_room |= matches!(&outcome, Err(error) if error.code == Code::WouldBlock);
            return outcome;
        }
        Err(Error::new(Code::BadState, Phase::Send).with_detail("the WebSocket is not open"))
    }

    /// Closes the handle. A WebSocket tells its peer `code` and `reason` and waits for the answer, at most until
    /// [`ws::Config`](crate::ws::Config)'s close timeout; what is not WebSocket has nothing to wait for. Closing again
    /// changes nothing.
    ///
    /// # Errors
    /// [`Code::BadMessage`]: a code that may not be sent (RFC 6455 §7.4), or a reason of more than 123 bytes.
    pub fn close(&mut self, now: Instant, code: u16, reason: &str) -> Result<(), Error> {
        self.see(now);
        let now = self.now;
        match core::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Closed => return Ok(()),
            Stage::Stream(mut stream) => {
                if let Talker::Ws(session) = &mut stream.talker {
                    let outcome = session.close(now, code, reason);
                    self.stage = Stage::Stream(stream);
                    outcome?;
                    self.set_state(State::Closing);
                    self.react();
                    return Ok(());
                }
                let patience = self.options.timeouts.close;
                let rest = crate::Outgoing::default();
                self.parting.part(now, stream.carrier, rest, patience, &mut self.links);
            }
            Stage::Dialing(mut dialing, _) => dialing.abandon(&mut self.links),
            Stage::Locating(link, _) => self.links.close(link),
            Stage::Datagrams(mut datagrams) => datagrams.close(&mut self.links),
            Stage::Idle | Stage::Waiting(_) => {}
        }
        let code = if self.url.scheme.is_websocket() { 1006 } else { 0 };
        self.finish(Closed { code, reason: reason.to_owned(), is_clean: true, error: None });
        Ok(())
    }

    /// Withdraws an exchange: nobody wants its answer any more. One under way takes its stream with it, and others on
    /// that stream are sent again where that is safe. There is no further event for it.
    pub fn cancel(&mut self, now: Instant, exchange: ExchangeId) {
        self.see(now);
        if !self.exchanges.withdraw(exchange) && self.exchanges.is_flying(exchange) {
            self.exchanges.flying.retain(|flying| flying.id != exchange);
            self.on_stream_failed(Error::new(Code::Reset, Phase::Receive));
        }
        self.send_waiting();
    }

    /// Ends the handle at once, without a word to the peer.
    pub fn abort(&mut self, now: Instant) {
        self.see(now);
        if let Stage::Stream(stream) = &self.stage {
            self.links.close(stream.link());
            self.stage = Stage::Idle;
        }
        // Nothing but a stream has anything that closing could refuse.
        let _ = self.close(now, 1000, "");
    }

    /// Has nothing more read for now, or has it read again: for applications that keep events elsewhere.
    pub const fn pause(&mut self, paused: bool) {
        self.is_paused = paused;
    }

    /// Says whether the handle is closed, and everything has left that had to.
    pub fn is_finished(&self) -> bool {
        self.state == State::Closed && self.parting.is_empty()
    }

    /// Takes back the memory of a message that the application has done with.
    pub fn recycle(&mut self, message: Message) {
        if let Stage::Stream(stream) = &mut self.stage
            && let Talker::Http(session) = &mut stream.talker
        {
            session.recycle(message);
        }
    }

    /// Returns the URL that it was made for.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Returns its state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns since when an HTTP connection is open without an exchange on it.
    pub fn idle_since(&self) -> Option<Instant> {
        let stream = self.stream()?;
        self.is_unused(stream).then_some(stream.idle_since)
    }

    /// Returns the round-trip time that the last answered WebSocket ping took.
    pub fn rtt(&self) -> Option<core::time::Duration> {
        match &self.stream()?.talker {
            Talker::Ws(session) => session.rtt(),
            Talker::Tunnel(_) | Talker::Http(_) | Talker::Upgrade(..) => None,
        }
    }

    /// Returns what was agreed in the TLS handshake.
    pub fn tls_info(&self) -> Option<&crate::tls::TlsInfo> {
        self.stream()?.carrier.tls()?.info()
    }

    /// Returns how many datagrams were dropped because the application did not take them.
    pub const fn dropped_datagrams(&self) -> u64 {
        self.dropped
    }

    fn check_open(&self) -> Result<(), Error> {
        if matches!(self.state, State::Closing | State::Closed) {
            return Err(Error::new(Code::BadState, Phase::Arguments).with_detail("the handle is closed"));
        }
        Ok(())
    }

    fn check_message(&self, message: &Message) -> Result<(), Error> {
        let scheme = self.url.scheme;
        let fits = match message.kind {
            Kind::Request => scheme.is_http(),
            Kind::Text | Kind::Binary | Kind::Ping | Kind::Pong => scheme.is_websocket(),
            Kind::Datagram => scheme.is_datagram(),
            Kind::Response | Kind::Informational | Kind::Close => false,
        };
        if !fits || (scheme.is_http() && !is_request(message)) {
            let detail = alloc::format!("{:?} does not go over {}", message.kind, scheme.name());
            return Err(Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail));
        }
        if message.kind == Kind::Datagram && message.body.len() > MAX_DATAGRAM {
            let detail =
                alloc::format!("{} bytes; a datagram has at most {MAX_DATAGRAM}", message.body.len());
            return Err(Error::new(Code::TooLong, Phase::Arguments).with_detail(detail));
        }
        if message.flags.has(Flags::STREAMED) && message.kind != Kind::Request {
            let detail = String::from("use send_fragment for messages in parts");
            return Err(Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail));
        }
        Ok(())
    }
}

/// Datagrams.
impl Connection {
    pub(super) fn begin_datagrams(&mut self) {
        let port = self.url.port;
        let ip = match &self.url.host {
            Host::Name(name) => {
                let spec = LinkSpec::Resolve { host: name.clone(), port };
                let link = self.links.open(spec);
                self.stage = Stage::Locating(link, self.now + self.options.timeouts.resolve);
                return self.set_state(State::Resolving);
            }
            Host::V4(ip) => core::net::SocketAddr::new((*ip).into(), port),
            Host::V6 { ip, zone } => {
                let scope = zone.as_ref().and_then(|zone| zone.parse().ok()).unwrap_or(0);
                core::net::SocketAddrV6::new(*ip, port, 0, scope).into()
            }
        };
        self.open_datagrams(ip);
    }

    pub(super) fn on_located(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Resolved { addresses } => match addresses.first() {
                Some(address) => self.open_datagrams(*address),
                None => self.on_lost_for(Code::NoAddress, Phase::Resolve),
            },
            LinkEvent::Down(_) => self.on_lost_for(Code::NoAddress, Phase::Resolve),
            // A lookup has nothing else to tell.
            LinkEvent::Up { .. }
            | LinkEvent::Accepted { .. }
            | LinkEvent::Blocked
            | LinkEvent::Writable
            | LinkEvent::TooBig { .. }
            | LinkEvent::Unreachable(_)
            | LinkEvent::Eof
            | _ => {}
        }
    }

    fn open_datagrams(&mut self, to: core::net::SocketAddr) {
        let datagrams = if self.url.scheme == Scheme::UdpMulticast {
            let mut interfaces = self.options.interfaces.clone();
            if let Some(names) = self.url.query_value("iface") {
                interfaces.extend(names.split(',').filter(|name| !name.is_empty()).map(interface));
            }
            Datagrams::multicast(to, self.url.source, &interfaces, &self.options, &mut self.links)
        } else {
            Datagrams::unicast(to, &self.options, &mut self.links)
        };
        self.stage = Stage::Datagrams(datagrams);
        self.set_state(State::Connecting);
        self.send_waiting();
    }

    pub(super) fn on_heard(&mut self, heard: Heard) {
        match heard {
            Heard::Nothing => {}
            Heard::Open => {
                self.attempts.on_up(self.now);
                self.set_state(State::Open);
            }
            Heard::Trouble(error) => {
                if self.events.len() < self.options.max_events {
                    self.events.push_back(Event::Failed { exchange: None, error });
                }
            }
            Heard::End(error) => self.on_lost(error, None),
        }
    }
}

/// An interface by index, if it is a number, or by name.
fn interface(text: &str) -> Interface {
    match text.parse() {
        Ok(index) => Interface::Index(index),
        Err(_) => Interface::Name(text.to_owned()),
    }
}
