//! A body that comes in parts.

use futures_core::Stream;
use proto_conn::{Error, ExchangeId, Headers, Payload};
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use super::{client::withdraw, open::Hand};

/// The body of a response, a [`Stream`] of parts. The connection reads on only as the parts are taken.
///
/// Dropped before its end, it closes the connection.
#[derive(Debug)]
pub struct Body {
    hand: Hand,
    exchange: ExchangeId,
}

impl Body {
    pub(super) const fn new(hand: Hand, exchange: ExchangeId) -> Self {
        Self { hand, exchange }
    }

    /// Takes the next part; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// The body was cut off, stopped, or cannot be unpacked.
    pub async fn next(&mut self) -> Result<Option<Payload>, Error> {
        poll_fn(|cx| self.poll_part(cx)).await.transpose()
    }

    /// Returns the fields behind the body, once it has ended.
    pub fn trailers(&self) -> Option<Headers> {
        self.hand.read(|_, desk| desk.trailers(self.exchange).cloned())
    }

    /// Polls for the next part.
    pub fn poll_part(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Payload, Error>>> {
        self.hand.with(|machine, desk, _| {
            let polled = desk.poll_part(self.exchange, cx);
            machine.pause(desk.is_behind());
            polled
        })
    }
}

impl Stream for Body {
    type Item = Result<Payload, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_part(cx)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        withdraw(&self.hand, self.exchange);
    }
}
