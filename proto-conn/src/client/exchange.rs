//! HTTP requests that wait for their turn or for their answer.

use alloc::{boxed::Box, collections::VecDeque, string::String};
use core::time::Duration;
use proto_core::Instant;

use super::options::Options;
use crate::{Error, ExchangeId, Flags, Kind, Message, Method, Url, earliest::earliest, http::Progress};

/// A request and what is known about it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: ExchangeId,
    /// The request, kept until its answer: it may have to be sent again.
    pub(super) request: Message,
    /// Where a redirect leads, if one came.
    pub(super) redirected: Option<Box<Url>>,
    pub(super) redirects: u8,
    /// It was sent on a connection that had served before.
    pub(super) on_used: bool,
    /// It was sent twice.
    pub(super) is_retry: bool,
    /// Its body comes from the application in parts, and cannot be sent again once begun.
    pub(super) is_streamed: bool,
    /// Parts of its streamed body were taken.
    pub(super) has_begun_body: bool,
    deadline: Option<Instant>,
}

impl Exchange {
    pub(super) fn new(now: Instant, id: ExchangeId, request: Message, total: Option<Duration>) -> Self {
        let is_streamed = request.flags.has(Flags::STREAMED);
        Self {
            id,
            request,
            redirected: None,
            redirects: 0,
            on_used: false,
            is_retry: false,
            is_streamed,
            has_begun_body: false,
            deadline: total.map(|total| now + total),
        }
    }

    /// Returns where it goes, if `base` is the connection's URL.
    pub(super) fn url<'a>(&'a self, base: &'a Url) -> &'a Url {
        self.redirected.as_deref().unwrap_or(base)
    }

    /// Says whether it may be sent again after its connection failed (RFC 9110 §9.2.2): once, on a connection that had
    /// served before (so that the peer may have closed it as we wrote), nothing of the answer has come, and asking
    /// twice means the same, or nothing was sent.
    pub(super) fn may_retry(&self, progress: Progress) -> bool {
        let nothing_came = progress != Progress::Answering;
        let is_safe = self.request.method.is_idempotent()
            || self.request.headers.get("idempotency-key").is_some()
            || progress == Progress::NothingSent;
        self.on_used && !self.is_retry && nothing_came && is_safe && !self.has_begun_body
    }

    /// Follows a redirect, if the options say so (RFC 9110 §15.4).
    ///
    /// # Errors
    /// It leads in circles, to a weaker scheme, or would need a body that cannot be sent again.
    pub(super) fn follow(
        &mut self,
        response: &Message,
        base: &Url,
        options: &Options,
    ) -> Result<bool, Error> {
        use crate::{Code, Phase};
        if options.max_redirects == 0 {
            return Ok(false);
        }
        let Some(becomes_get) = becomes_get(response.status, &self.request.method) else { return Ok(false) };
        let Some(location) = response.headers.get_str("location") else { return Ok(false) };
        let refuse = |code, detail: String| Err(Error::new(code, Phase::Receive).with_detail(detail));
        if self.redirects >= options.max_redirects {
            return refuse(Code::TooManyRedirects, alloc::format!("after {}", self.redirects));
        }
        let from = self.url(base);
        let to = match from.join(location) {
            Ok(url) if url.scheme.is_http() => url,
            _ => return refuse(Code::RedirectRefused, alloc::format!("to {location}")),
        };
        if from.scheme.is_tls() && !to.scheme.is_tls() && !options.allow_downgrade {
            return refuse(Code::RedirectRefused, alloc::format!("from https to {to}"));
        }
        if !becomes_get && self.is_streamed {
            return refuse(Code::RedirectRefused, "the streamed body cannot be sent again".into());
        }
        if !to.origin_eq(from) {
            for name in ["authorization", "cookie", "proxy-authorization"] {
                self.request.headers.remove(name);
            }
        }
        if becomes_get {
            self.request.method = Method::Get;
            self.request.body = crate::Payload::new();
            self.request.trailers.clear();
            self.is_streamed = false;
            for name in ["content-type", "content-encoding", "content-language", "content-location"] {
                self.request.headers.remove(name);
            }
        }
        self.request.target.clear();
        self.redirected = Some(Box::new(to));
        self.redirects += 1;
        self.is_retry = false;
        Ok(true)
    }
}

/// Says whether a redirect turns the method into `GET`; `None` for a status that redirects nowhere by itself.
fn becomes_get(status: u16, method: &Method) -> Option<bool> {
    match status {
        301 | 302 => Some(*method == Method::Post),
        303 => Some(*method != Method::Head),
        307 | 308 => Some(false),
        _ => None,
    }
}

/// The exchanges of a connection, in order.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    waiting: VecDeque<Box<Exchange>>,
    /// Sent, and not answered.
    pub(super) flying: VecDeque<Box<Exchange>>,
    /// The place of one that has ended, for the next.
    spare: Option<Box<Exchange>>,
}

impl Exchanges {
    /// Adds one behind all others.
    pub(super) fn push(&mut self, exchange: Exchange) {
        let boxed = match self.spare.take() {
            Some(mut place) => {
                *place = exchange;
                place
            }
            None => Box::new(exchange),
        };
        self.waiting.push_back(boxed);
    }

    /// Takes the request out of one that has ended.
    pub(super) fn retire(&mut self, mut exchange: Box<Exchange>) -> Message {
        let request = core::mem::take(&mut exchange.request);
        self.spare = Some(exchange);
        request
    }

    /// Puts one back that is to be sent again, before all others.
    pub(super) fn push_front(&mut self, exchange: Box<Exchange>) {
        self.waiting.push_front(exchange);
    }

    pub(super) fn next(&self) -> Option<&Exchange> {
        self.waiting.front().map(Box::as_ref)
    }

    pub(super) fn take_next(&mut self) -> Option<Box<Exchange>> {
        self.waiting.pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.flying.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.flying.is_empty()
    }

    /// Removes all, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<Exchange>> {
        self.flying.drain(..).chain(self.waiting.drain(..))
    }

    /// Removes one that waits; says whether it was there.
    pub(super) fn withdraw(&mut self, id: ExchangeId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|exchange| exchange.id != id);
        self.waiting.len() < before
    }

    /// Says whether the one is under way.
    pub(super) fn is_flying(&self, id: ExchangeId) -> bool {
        self.flying.iter().any(|exchange| exchange.id == id)
    }

    /// Says whether one with a streamed body waits for its turn.
    pub(super) fn has_streamed(&self) -> bool {
        self.waiting.iter().any(|exchange| exchange.is_streamed)
    }

    /// When the first of them has taken too long altogether.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = |queue: &VecDeque<Box<Exchange>>| queue.front().and_then(|exchange| exchange.deadline);
        earliest([first(&self.waiting), first(&self.flying)])
    }

    /// Removes the first waiting one if it has taken too long; those under way end with their connection.
    pub(super) fn take_late(&mut self, now: Instant) -> Option<Box<Exchange>> {
        let first = self.waiting.front()?.deadline?;
        if first <= now { self.waiting.pop_front() } else { None }
    }

    /// Says whether the first one under way has taken too long.
    pub(super) fn is_flying_late(&self, now: Instant) -> bool {
        self.flying.front().and_then(|exchange| exchange.deadline).is_some_and(|deadline| deadline <= now)
    }
}

/// Says whether an application may give this message to an HTTP connection.
pub(super) fn is_request(message: &Message) -> bool {
    message.kind == Kind::Request
}
