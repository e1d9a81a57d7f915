//! The one handle: a client's connection of any of the six schemes.

mod commands;
mod datagrams;
mod dialing;
mod event;
mod exchange;
mod http_stage;
mod links;
mod options;
mod parting;
mod reconnect;
mod stream;
mod ws_stage;

pub use event::{Closed, Event, State};
pub use options::{Options, Proxy, Timeouts};
pub use reconnect::Reconnect;

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use bytes::Bytes;
use core::num::{NonZeroU64, NonZeroUsize};
use proto_core::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, Machine, Rng, Transmit};

use crate::{Error, Message, Url, earliest::earliest, secrets::Secrets, tls};
use datagrams::{Datagrams, Heard};
use dialing::{Dialed, Dialing};
use exchange::Exchanges;
use links::Links;
use parting::Parting;
use reconnect::Attempts;
use stream::{Step, Stream, Talker, Told};

/// A client's connection.
///
/// The URL's scheme decides what it speaks. It opens what it needs when the first message is given, or when it is told
/// to [`open`](Self::open); see [`State`] for what happens then.
///
/// # Memory
/// What is received lies in a [`Pool`](crate::Pool) of each session, of some pieces as long as the longest message
/// lately. What waits is bounded by [`Options::max_waiting`] and [`Options::max_events`].
#[derive(Debug)]
pub struct Connection {
    url: Url,
    options: Options,
    secrets: Secrets,
    jitter: Rng,
    now: Instant,
    state: State,
    stage: Stage,
    links: Links,
    parting: Parting,
    exchanges: Exchanges,
    /// WebSocket messages and datagrams that wait for the connection.
    messages: VecDeque<Message>,
    events: VecDeque<Event>,
    pieces: Vec<Bytes>,
    attempts: Attempts,
    /// The application was refused for want of room, and wants to know when there is some.
    owes_room: bool,
    /// The application takes nothing more for now.
    is_paused: bool,
    next_exchange: NonZeroU64,
    dropped: u64,
}

/// What is under way.
#[derive(Debug)]
enum Stage {
    /// Nothing.
    Idle,
    /// Finding the peer's address for datagrams.
    Locating(LinkId, Instant),
    /// Reaching the host of a stream.
    Dialing(Dialing, Box<Aim>),
    /// A stream.
    Stream(Box<Stream>),
    /// Datagrams.
    Datagrams(Datagrams),
    /// Waiting before another attempt.
    Waiting(Instant),
    /// Closed for good.
    Closed,
}

/// What a stream is wanted for.
#[derive(Debug)]
struct Aim {
    /// Whom to reach in the end.
    origin: Url,
    /// By way of a proxy.
    is_proxied: bool,
}

impl Machine for Connection {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.see(now);
        let Stage::Datagrams(datagrams) = &mut self.stage else { return };
        if self.events.len() >= self.options.max_events {
            self.dropped += 1;
            return;
        }
        if let Some(message) = datagrams.receive(&datagram) {
            self.events.push_back(Event::Message(Message { received: Some(self.now), ..message }));
        }
    }

    fn handle_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        self.see(now);
        if let Some(stream) = self.stream_on(link) {
            stream.handle_stream(now, data);
            self.react();
        }
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        self.see(now);
        let now = self.now;
        self.parting.handle_link(now, link, &event, &mut self.links);
        match &mut self.stage {
            Stage::Dialing(dialing, _) => {
                let timeouts = self.options.timeouts;
                let dialed = dialing.handle_link(now, link, &event, &timeouts, &mut self.links);
                self.on_dialed(dialed);
            }
            Stage::Locating(lookup, _) if *lookup == link => self.on_located(&event),
            Stage::Stream(stream) if stream.link() == link => stream.handle_link(now, &event),
            Stage::Datagrams(datagrams) => {
                let heard = datagrams.handle_link(link, &event);
                self.on_heard(heard);
            }
            Stage::Idle | Stage::Locating(..) | Stage::Stream(_) | Stage::Waiting(_) | Stage::Closed => {}
        }
        self.react();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.see(now);
        let now = self.now;
        if self.poll_timeout().is_none_or(|due| due > now) {
            return;
        }
        self.parting.handle_timeout(now, &mut self.links);
        match &mut self.stage {
            Stage::Dialing(dialing, _) => {
                let timeouts = self.options.timeouts;
                let dialed = dialing.handle_timeout(now, &timeouts, &mut self.links);
                self.on_dialed(dialed);
            }
            Stage::Locating(link, deadline) if *deadline <= now => {
                let link = *link;
                self.links.close(link);
                self.on_lost_for(crate::Code::ResolveTimeout, crate::Phase::Resolve);
            }
            Stage::Stream(stream) => stream.handle_timeout(now, self.options.timeouts.send),
            Stage::Waiting(until) if *until <= now => self.begin(),
            Stage::Idle | Stage::Locating(..) | Stage::Datagrams(_) | Stage::Waiting(_) | Stage::Closed => {}
        }
        self.end_late_exchanges();
        self.end_idle_stream();
        self.react();
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.links.poll()
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        _max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.see(now);
        let now = self.now;
        if !self.parting.is_empty() {
            let last = self.parting.poll_transmit(now, buf, &mut self.pieces, &mut self.links);
            if last.is_some() {
                return last;
            }
        }
        match &mut self.stage {
            Stage::Stream(stream) => {
                let transmit = stream.poll_transmit(now, buf);
                stream.poll_gather(&mut self.pieces);
                self.react();
                transmit
            }
            Stage::Datagrams(datagrams) => {
                let transmit = datagrams.poll_transmit(buf);
                self.tell_of_room();
                transmit
            }
            Stage::Idle | Stage::Locating(..) | Stage::Dialing(..) | Stage::Waiting(_) | Stage::Closed => {
                None
            }
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if self.events.len() + 1 == self.options.max_events {
            // What was held back while the application was behind.
            self.react();
        }
        event
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let stage = match &self.stage {
            Stage::Dialing(dialing, _) => Some(dialing.poll_timeout()),
            Stage::Stream(stream) => {
                let idle = self.idle_deadline(stream);
                earliest([stream.poll_timeout(self.options.timeouts.send), idle])
            }
            Stage::Locating(_, deadline) | Stage::Waiting(deadline) => Some(*deadline),
            Stage::Idle | Stage::Datagrams(_) | Stage::Closed => None,
        };
        earliest([stage, self.exchanges.deadline(), self.parting.poll_timeout()])
    }

    fn wants_read(&self, link: LinkId) -> bool {
        if self.is_paused || self.events.len() >= self.options.max_events {
            return false;
        }
        self.stream().filter(|stream| stream.link() == link).is_none_or(Stream::wants_read)
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        pieces.append(&mut self.pieces);
    }

    fn recv_buffer(&mut self, link: LinkId) -> Option<&mut [u8]> {
        self.stream_on(link)?.recv_buffer()
    }

    fn handle_filled(&mut self, now: Instant, link: LinkId, len: usize) {
        self.see(now);
        let now = self.now;
        if let Some(stream) = self.stream_on(link) {
            stream.handle_filled(now, len);
            self.react();
        }
    }
}

impl Connection {
    /// Time never goes backwards.
    fn see(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    fn stream(&self) -> Option<&Stream> {
        match &self.stage {
            Stage::Stream(stream) => Some(stream),
            Stage::Idle
            | Stage::Locating(..)
            | Stage::Dialing(..)
            | Stage::Datagrams(_)
            | Stage::Waiting(_)
            | Stage::Closed => None,
        }
    }

    fn stream_on(&mut self, link: LinkId) -> Option<&mut Stream> {
        if let Stage::Stream(stream) = &mut self.stage
            && stream.link() == link
        {
            return Some(stream);
        }
        None
    }

    fn set_state(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.events.push_back(Event::State(state));
        }
    }

    /// Carries on after any input: takes what the stream has to tell, and does what that makes possible.
    fn react(&mut self) {
        let now = self.now;
        loop {
            let is_behind = self.events.len() >= self.options.max_events;
            let Stage::Stream(stream) = &mut self.stage else { break };
            if is_behind {
                break;
            }
            if stream.step.is_some_and(|step| step.code == crate::Code::TlsTimeout)
                && !stream.carrier.is_handshaking()
            {
                self.on_tls_done();
                continue;
            }
            match stream.poll_event(now) {
                Some(Told::Http(event)) => self.on_http(event),
                Some(Told::Tunnel(event)) => self.on_tunnel(event),
                Some(Told::Upgrade(event)) => self.on_upgrade(event),
                Some(Told::Ws(event)) => self.on_ws(event),
                None => {
                    if let Some(error) = stream.failure.take() {
                        self.on_stream_failed(error);
                        continue;
                    }
                    let had_read = stream.wants_read();
                    stream.resume(now);
                    // Only what was held back can bring news.
                    if had_read || !stream.wants_read() {
                        break;
                    }
                }
            }
        }
        self.send_waiting();
        self.end_finished_stream();
        if let Stage::Stream(stream) = &mut self.stage {
            stream.wind(now);
        }
    }

    /// Begins to open what the URL and the first exchange ask for.
    fn begin(&mut self) {
        let now = self.now;
        if self.url.scheme.is_datagram() {
            return self.begin_datagrams();
        }
        let origin = match self.exchanges.next() {
            Some(exchange) => exchange.url(&self.url).clone(),
            None => self.url.clone(),
        };
        let proxy = self.options.proxy_for(&origin);
        let is_proxied = proxy.is_some();
        let (host, port) = match proxy {
            Some(proxy) => (proxy.url.host.clone(), proxy.url.port),
            None => (origin.host.clone(), origin.port),
        };
        let dialing = Dialing::start(now, &host, port, &self.options.timeouts, &mut self.links);
        let state = if dialing.is_resolving() { State::Resolving } else { State::Connecting };
        self.stage = Stage::Dialing(dialing, Box::new(Aim { origin, is_proxied }));
        self.set_state(state);
    }

    fn on_dialed(&mut self, dialed: Dialed) {
        match dialed {
            Dialed::Pending => {}
            Dialed::Resolved => self.set_state(State::Connecting),
            Dialed::Failed(error) => {
                self.stage = Stage::Idle;
                self.on_lost(error, None);
            }
            Dialed::Up { link, local, peer } => {
                let Stage::Dialing(_, aim) = core::mem::replace(&mut self.stage, Stage::Idle) else { return };
                if let Err(error) = self.start_stream(link, local, peer, *aim) {
                    self.links.close(link);
                    self.on_lost(error, None);
                }
            }
        }
    }

    /// Puts a protocol on a stream that is up.
    fn start_stream(
        &mut self,
        link: LinkId,
        local: Option<core::net::SocketAddr>,
        peer: core::net::SocketAddr,
        aim: Aim,
    ) -> Result<(), Error> {
        let needs_tunnel = aim.is_proxied && (aim.origin.scheme.is_tls() || aim.origin.scheme.is_websocket());
        let (talker, state, step) = if needs_tunnel {
            let talker = self.tunnel_talker(&aim.origin)?;
            let timeout = self.options.timeouts.proxy;
            (talker, State::ProxyTunnel, Some((timeout, crate::Code::ProxyTimeout, crate::Phase::Proxy)))
        } else {
            self.final_talker(&aim.origin)?
        };
        let tls = match (&self.options.tls, needs_tunnel) {
            (Some(config), false) if aim.origin.scheme.is_tls() => {
                Some(tls::client(config, &aim.origin.host)?)
            }
            _ => None,
        };
        let now = self.now;
        let mut stream = Stream {
            carrier: crate::carrier::Carrier::new(link, tls),
            talker,
            is_proxied: aim.is_proxied && !needs_tunnel,
            authority: aim.origin.authority(),
            origin: aim.origin,
            local,
            peer,
            opened: now,
            served: 0,
            idle_since: now,
            step: step.map(|(timeout, code, phase)| Step { deadline: now + timeout, code, phase }),
            stalled: None,
            failure: None,
            courtesy: crate::ws::Courtesy::default(),
        };
        let mut state = state;
        if stream.carrier.is_handshaking() {
            state = State::TlsHandshake;
            stream.step = Some(tls_step(now, &self.options));
        }
        self.stage = Stage::Stream(Box::new(stream));
        self.set_state(state);
        Ok(())
    }

    /// The protocol for an origin that is reached, its state, and the step that it begins with.
    fn final_talker(&mut self, origin: &Url) -> Result<Opening, Error> {
        if origin.scheme.is_websocket() {
            let timeout = self.options.timeouts.upgrade;
            let talker = self.upgrade_talker()?;
            let step = (timeout, crate::Code::UpgradeTimeout, crate::Phase::Upgrade);
            return Ok((talker, State::WsUpgrading, Some(step)));
        }
        Ok((self.http_talker()?, State::HttpReady, None))
    }

    /// The TLS handshake is done: the protocol that waited for it is on.
    fn on_tls_done(&mut self) {
        let now = self.now;
        let Stage::Stream(stream) = &mut self.stage else { return };
        let state = match &stream.talker {
            Talker::Upgrade(..) => {
                let deadline = now + self.options.timeouts.upgrade;
                let (code, phase) = (crate::Code::UpgradeTimeout, crate::Phase::Upgrade);
                stream.step = Some(Step { deadline, code, phase });
                State::WsUpgrading
            }
            Talker::Http(_) | Talker::Tunnel(_) | Talker::Ws(_) => {
                stream.step = None;
                State::HttpReady
            }
        };
        self.set_state(state);
    }

    /// The stream is of no use any more.
    fn on_stream_failed(&mut self, error: Error) {
        let Stage::Stream(stream) = core::mem::replace(&mut self.stage, Stage::Idle) else { return };
        let error = error_in_phase(error, self.state);
        match *stream {
            Stream { talker: Talker::Http(session), carrier, .. } => {
                // What the TLS layer has to say about it is still to be sent.
                self.parting.part(
                    self.now,
                    carrier,
                    crate::Outgoing::default(),
                    self.options.timeouts.close,
                    &mut self.links,
                );
                self.on_http_lost(error, session.progress());
            }
            Stream { carrier, .. } => {
                self.parting.part(
                    self.now,
                    carrier,
                    crate::Outgoing::default(),
                    self.options.timeouts.close,
                    &mut self.links,
                );
                self.on_lost(error, None);
            }
        }
    }

    /// The connection could not be made, or was lost: it is tried again, or those who wait for it are told.
    fn on_lost(&mut self, error: Error, retry_after: Option<core::time::Duration>) {
        let now = self.now;
        self.stage = Stage::Idle;
        let is_stream_of_exchanges = self.url.scheme.is_http();
        if let Some(policy) = self.options.reconnect.clone() {
            let wait = self.attempts.on_failure(now, &policy, &error, retry_after, &mut self.jitter);
            if let Some(after) = wait {
                if !policy.keep_waiting {
                    self.messages.clear();
                }
                let attempt = self.attempts.number();
                self.stage = Stage::Waiting(now + after);
                self.set_state(State::Waiting);
                return self.events.push_back(Event::Reconnecting { after, attempt, error });
            }
        }
        if is_stream_of_exchanges {
            self.set_state(State::Idle);
            return self.fail_exchange(error);
        }
        self.finish(Closed { code: error_close_code(&self.url), error: Some(error), ..Closed::default() });
    }

    fn on_lost_for(&mut self, code: crate::Code, phase: crate::Phase) {
        let detail = alloc::format!("{}:{}", self.url.host, self.url.port);
        self.on_lost(Error::new(code, phase).with_detail(detail), None);
    }

    /// Closes the handle for good.
    fn finish(&mut self, closed: Closed) {
        self.stage = Stage::Closed;
        self.messages.clear();
        for exchange in self.exchanges.drain() {
            let error = Error::new(crate::Code::Cancelled, crate::Phase::Close);
            self.events.push_back(Event::Failed { exchange: Some(exchange.id), error });
        }
        self.set_state(State::Closed);
        self.events.push_back(Event::Closed(closed));
    }

    fn tell_of_room(&mut self) {
        if self.owes_room && self.waiting() < self.options.max_waiting {
            self.owes_room = false;
            self.events.push_back(Event::Writable);
        }
    }

    fn waiting(&self) -> usize {
        let datagrams = if let Stage::Datagrams(datagrams) = &self.stage { datagrams.waiting() } else { 0 };
        self.exchanges.len() + self.messages.len() + datagrams
    }
}

/// A protocol, the state that it brings about, and the deadline of its first step.
type Opening = (Talker, State, Option<(core::time::Duration, crate::Code, crate::Phase)>);

fn tls_step(now: Instant, options: &Options) -> Step {
    let deadline = now + options.timeouts.tls;
    Step { deadline, code: crate::Code::TlsTimeout, phase: crate::Phase::Tls }
}

/// WebSocket counts an end without close frame as 1006 (RFC 6455 §7.1.5).
fn error_close_code(url: &Url) -> u16 {
    if url.scheme.is_websocket() { 1006 } else { 0 }
}

/// An end of the stream in the middle of opening it means that phase.
fn error_in_phase(error: Error, state: State) -> Error {
    use crate::Phase;
    let phase = match state {
        State::TlsHandshake => Phase::Tls,
        State::ProxyTunnel => Phase::Proxy,
        State::WsUpgrading => Phase::Upgrade,
        State::Idle
        | State::Resolving
        | State::Connecting
        | State::HttpReady
        | State::Open
        | State::Waiting
        | State::Closing
        | State::Closed => return error,
    };
    Error { phase, ..error }
}
