//! What `-v` shows on standard error, in the manner of curl: `*` phases with their times, `>` what is sent, `<` what
//! comes.

mod certificate;
mod heads;

use proto_conn::{
    Headers, Kind, Message, Url,
    client::{Options, State},
    tls::TlsInfo,
};
use runtime_blocking::conn::Connection;
use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use crate::output::{
    self,
    quantity::{bytes, throughput, time},
    style::{self, paint},
};

pub(super) use heads::field_lines;

/// Watches a connection, and shows its life where the user wants to see it.
#[derive(Debug)]
pub(super) struct Trace {
    is_on: bool,
    url: Url,
    start: Instant,
    /// When the state began.
    since: Instant,
    state: State,
    /// The phases that are over, in order.
    phases: Vec<(&'static str, Duration)>,
    /// The head that leaves as soon as it can.
    head: Vec<String>,
}

impl Trace {
    /// Starts the clock.
    pub(super) fn new(is_on: bool, url: &Url) -> Self {
        let now = Instant::now();
        Self {
            is_on,
            url: url.clone(),
            start: now,
            since: now,
            state: State::Idle,
            phases: Vec::new(),
            head: Vec::new(),
        }
    }

    /// Takes note of a new state.
    pub(super) fn state(&mut self, conn: &Connection, state: State) {
        // What happens before the first state begins, or in one call with it, is that state's.
        if self.state != State::Idle {
            let taken = self.since.elapsed();
            self.since = Instant::now();
            if let Some((phase, done)) = told(self.state) {
                self.phases.push((phase, taken));
                let outcome = if is_after(state) { done } else { "gave up" };
                self.note(format_args!("{outcome} after {}", time(taken)));
            }
            if self.state == State::TlsHandshake
                && is_after(state)
                && let Some(info) = conn.machine().tls_info()
            {
                self.tls(info);
            }
        }
        self.state = state;
        match state {
            State::Resolving => self.note(format_args!("resolving {}", self.url.host)),
            State::Connecting => self.note("connecting"),
            State::ProxyTunnel => self.note("asking the proxy for a tunnel"),
            State::TlsHandshake => self.note("TLS handshake"),
            State::WsUpgrading => self.note("WebSocket handshake"),
            State::Open => self.note("open"),
            State::Waiting => self.note("waiting before another attempt"),
            State::Closing => self.note("closing"),
            State::Idle | State::HttpReady | State::Closed => {}
        }
        if matches!(state, State::HttpReady | State::WsUpgrading) {
            std::mem::take(&mut self.head).iter().for_each(|line| self.write('>', line));
        }
    }

    /// Shows a remark.
    pub(super) fn note(&self, text: impl Display) {
        self.write('*', text);
    }

    /// Takes note of the head of a request, to show it when it leaves.
    pub(super) fn request(&mut self, request: &Message, options: &Options) {
        self.head = heads::of_request(request, &self.url, options);
    }

    /// Takes note of the head of a WebSocket handshake, to show it when it leaves. The key is drawn later.
    pub(super) fn handshake(&mut self, options: &Options) {
        self.head = heads::of_handshake(&self.url, options);
    }

    /// Shows the head of a response.
    pub(super) fn response(&mut self, response: &Message) {
        if response.kind == Kind::Response {
            let waited = self.since.elapsed();
            self.phases.push(("first byte", waited));
            self.note(format_args!("first byte after {}", time(waited)));
            if let (Some(peer), Some(local)) = (response.peer_addr, response.local_addr) {
                self.note(format_args!("from {peer} to {local}"));
            }
            self.since = Instant::now();
        }
        self.write('<', format_args!("HTTP {}", response.status));
        self.fields(&response.headers);
        self.write('<', "");
    }

    /// Shows the fields behind a body.
    pub(super) fn trailers(&self, trailers: &Headers) {
        if !trailers.is_empty() {
            self.fields(trailers);
        }
    }

    /// Shows what is to be known of a message that is no HTTP.
    pub(super) fn message(&self, message: &Message) {
        let from = message.peer_addr.map(|peer| format!(" from {peer}")).unwrap_or_default();
        let to = message.local_addr.map(|local| format!(" to {local}")).unwrap_or_default();
        let by = message.interface.map(|index| format!(" by interface {index}")).unwrap_or_default();
        let kind = format!("{:?}", message.kind).to_lowercase();
        self.write('<', format_args!("{kind}, {}{from}{to}{by}", bytes(message.body.len() as u64)));
    }

    /// Shows all phases and their times.
    pub(super) fn sum_up(&self, received: u64) {
        let total = self.start.elapsed();
        let mut parts: Vec<String> =
            self.phases.iter().map(|(phase, taken)| format!("{phase} {}", time(*taken))).collect();
        parts.push(format!("total {}", time(total)));
        self.note(parts.join(", "));
        self.note(format_args!("{} received, {}", bytes(received), throughput(received, total)));
    }

    fn tls(&self, info: &TlsInfo) {
        let version = match info.version {
            proto_conn::tls::TlsVersion::V1_2 => "TLS 1.2",
            proto_conn::tls::TlsVersion::V1_3 => "TLS 1.3",
        };
        let alpn = info.alpn.as_deref().map(String::from_utf8_lossy);
        let alpn = alpn.map(|alpn| format!(", ALPN {alpn}")).unwrap_or_default();
        let resumed = if info.resumed { ", resumed" } else { "" };
        self.note(format_args!("{version}, {}{alpn}{resumed}", info.cipher));
        let Some(own) = info.peer_chain.first() else { return };
        match certificate::Certificate::read(own) {
            Some(certificate) => {
                self.note(format_args!("certificate of {}", certificate.subject));
                self.note(format_args!("  issued by {}", certificate.issuer));
                self.note(format_args!("  valid from {} to {}", certificate.from, certificate.to));
                self.note(format_args!("  pin {}", certificate.pin));
            }
            None => self.note(format_args!("certificate of {}", bytes(own.len() as u64))),
        }
    }

    fn fields(&self, fields: &Headers) {
        field_lines(fields).for_each(|line| self.write('<', line));
    }

    fn write(&self, sign: char, text: impl Display) {
        if self.is_on {
            output::note(format_args!("{} {text}", paint(style::FAINT, sign)));
        }
    }
}

/// The name of a state's phase, and what is said of its success.
const fn told(state: State) -> Option<(&'static str, &'static str)> {
    Some(match state {
        State::Resolving => ("resolve", "resolved"),
        State::Connecting => ("connect", "connected"),
        State::ProxyTunnel => ("proxy", "tunnel open"),
        State::TlsHandshake => ("TLS", "encrypted"),
        State::WsUpgrading => ("upgrade", "upgraded"),
        State::Idle | State::HttpReady | State::Open | State::Waiting | State::Closing | State::Closed => {
            return None;
        }
    })
}

/// Says whether this state comes after one that succeeded.
const fn is_after(state: State) -> bool {
    !matches!(state, State::Idle | State::Waiting | State::Closing | State::Closed)
}
