//! HTTP.

use proto_conn::{Code, Error, ExchangeId, Flags, Message, Payload, Phase, Url, client::Options};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    task::{Context, Poll},
};

use super::{
    body::Body,
    desk::why,
    open::{self, Hand},
};
use crate::{Runtime, faces::promise::promise};

/// An HTTP client for one origin. It keeps its connection from one exchange to the next, and opens another when that is
/// gone.
///
/// Requests take `&self`: tasks can share a client; their exchanges take turns. Clones share the connection.
pub struct Client<R> {
    hand: Hand,
    runtime: PhantomData<fn() -> R>,
}

/// A response whose body comes in parts.
#[derive(Debug)]
pub struct Response {
    /// Status and fields; its own body is empty.
    pub head: Message,
    /// The body.
    pub body: Body,
}

impl<R: Runtime> Client<R> {
    /// Creates a client for the origin of an `http` or `https` URL. Nothing is opened before the first request.
    ///
    /// # Errors
    /// The URL is none, or of another scheme.
    pub fn new(url: &str) -> Result<Self, Error> {
        Self::with_options(open::parse(url)?, Options::default())
    }

    /// Creates a client with options.
    ///
    /// # Errors
    /// The URL has another scheme, or an option does not fit.
    pub fn with_options(url: Url, options: Options) -> Result<Self, Error> {
        if !url.scheme.is_http() {
            let detail = format!("{} is not http or https", url.scheme.name());
            return Err(Error::new(Code::BadUrl, Phase::Arguments).with_detail(detail));
        }
        Ok(Self { hand: open::start::<R>(url, options)?, runtime: PhantomData })
    }
}

impl<R> Client<R> {
    /// Gets a target: a path and query, or nothing for the URL's.
    ///
    /// Cancel-safe, as [`request`](Self::request).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub async fn get(&self, target: &str) -> Result<Message, Error> {
        self.request(Message::request(proto_conn::Method::Get, target, "")).await
    }

    /// Sends a request and waits for its whole response. A status of 400 or more is a response, not an error.
    ///
    /// Cancel-safe: dropping the future withdraws the exchange, and closes the connection if it was under way.
    ///
    /// # Errors
    /// What went wrong, and in which phase; [`Code::WouldBlock`] never.
    pub async fn request(&self, request: Message) -> Result<Message, Error> {
        let (_, message) = self.exchange(request).await?;
        Ok(message)
    }

    /// Sends a request and waits for the head of its response. The body comes in parts, as the application takes them.
    ///
    /// Cancel-safe, as [`request`](Self::request).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub async fn fetch(&self, mut request: Message) -> Result<Response, Error> {
        request.flags = request.flags.with(Flags::ANSWER_IN_PARTS);
        let (exchange, head) = self.exchange(request).await?;
        Ok(Response { head, body: Body::new(self.hand.clone(), exchange) })
    }

    /// Sends a request whose body `parts` makes: each call returns the next part, `None` ends it.
    ///
    /// Cancel-safe, as [`request`](Self::request).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub async fn upload<F>(
        &self,
        mut request: Message,
        mut parts: impl FnMut() -> F,
    ) -> Result<Message, Error>
    where
        F: Future<Output = Option<Payload>>,
    {
        request.flags = request.flags.with(Flags::STREAMED);
        let mut pending = Pending::begin(&self.hand, &request).await?;
        while let Some(part) = parts().await {
            poll_fn(|cx| self.poll_part(&pending, &part, cx)).await?;
        }
        let trailers = proto_conn::Headers::new();
        poll_fn(|cx| self.poll_streamed(cx, |machine, now| machine.finish_body(now, &trailers))).await?;
        pending.answer().await
    }

    fn poll_part(&self, _of: &Pending<'_>, part: &Payload, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_streamed(cx, |machine, now| machine.send_part(now, part.clone()))
    }

    fn poll_streamed(
        &self,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut proto_conn::client::Connection, proto_core::Instant) -> Result<(), Error>,
    ) -> Poll<Result<(), Error>> {
        self.hand.with(|machine, desk, now| match act(machine, now) {
            Err(error) if error.code == Code::WouldBlock && desk.closed().is_none() => {
                desk.wait_for_room(cx);
                Poll::Pending
            }
            outcome => Poll::Ready(outcome),
        })
    }

    async fn exchange(&self, request: Message) -> Result<(ExchangeId, Message), Error> {
        let mut pending = Pending::begin(&self.hand, &request).await?;
        let exchange = pending.exchange;
        Ok((exchange, pending.answer().await?))
    }
}

/// An exchange that somebody waits for. Dropped, it is withdrawn.
struct Pending<'a> {
    hand: &'a Hand,
    exchange: ExchangeId,
    answer: Option<crate::faces::promise::Promise<Result<Message, Error>>>,
}

impl<'a> Pending<'a> {
    async fn begin(hand: &'a Hand, request: &Message) -> Result<Self, Error> {
        poll_fn(|cx| {
            hand.with(|machine, desk, now| match machine.send(now, request.clone()) {
                Ok(Some(exchange)) => {
                    let (answer, resolver) = promise();
                    desk.expect(exchange, resolver);
                    Poll::Ready(Ok(Self { hand, exchange, answer: Some(answer) }))
                }
                Ok(None) => Poll::Ready(Err(Error::new(Code::BadMessage, Phase::Arguments))),
                Err(error) if error.code == Code::WouldBlock => {
                    desk.wait_for_room(cx);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(desk.closed().map_or(error, why))),
            })
        })
        .await
    }

    async fn answer(&mut self) -> Result<Message, Error> {
        let gone = || Error::new(Code::Cancelled, Phase::Close).with_detail("the client was closed");
        let Some(answer) = &mut self.answer else { return Err(gone()) };
        let outcome = answer.await;
        self.answer = None;
        outcome.unwrap_or_else(|| Err(gone()))
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.answer.is_some() {
            withdraw(self.hand, self.exchange);
        }
    }
}

/// Withdraws an exchange.
pub(super) fn withdraw(hand: &Hand, exchange: ExchangeId) {
    hand.with(|machine, desk, now| {
        if desk.forget(exchange) {
            machine.cancel(now, exchange);
        }
    });
}

impl<R> Clone for Client<R> {
    fn clone(&self) -> Self {
        Self { hand: self.hand.clone(), runtime: PhantomData }
    }
}

impl<R> fmt::Debug for Client<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
