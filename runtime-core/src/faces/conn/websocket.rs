//! WebSocket.

use futures_core::Stream;
use futures_sink::Sink;
use proto_conn::{
    Code, Error, Message, Phase, Url,
    client::{Closed, Options},
};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{
    desk::{Ended, why},
    open::{self, Hand},
};
use crate::Runtime;

/// A WebSocket: messages in both directions. It is a [`Stream`] of messages, and a [`Sink`] of them.
///
/// Sending and receiving take `&self`, so tasks can share it. Dropped, it closes in the background.
pub struct WebSocket<R> {
    hand: Hand,
    /// What [`Sink::start_send`] took while there was no room.
    waiting: Option<Message>,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> WebSocket<R> {
    /// Opens a `ws` or `wss` URL.
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// What went wrong, and in which phase: the URL, the name, the connection, TLS, the handshake.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Self::connect_with(open::parse(url)?, Options::default()).await
    }

    /// Opens with options.
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn connect_with(url: Url, options: Options) -> Result<Self, Error> {
        if !url.scheme.is_websocket() {
            let detail = format!("{} is not ws or wss", url.scheme.name());
            return Err(Error::new(Code::BadUrl, Phase::Arguments).with_detail(detail));
        }
        let hand = open::start::<R>(url, options)?;
        open::opened(&hand).await?;
        Ok(Self { hand, waiting: None, runtime: PhantomData })
    }
}

impl<R> WebSocket<R> {
    /// Sends a text, binary or ping message. It waits while the peer does not keep up.
    ///
    /// Cancel-safe: the message is taken whole or not at all.
    ///
    /// # Errors
    /// The WebSocket is closed, or the message cannot be sent: text that is not UTF-8, a ping of more than 125 bytes.
    pub async fn send(&self, message: Message) -> Result<(), Error> {
        poll_fn(|cx| open::poll_send(&self.hand, &message, cx)).await
    }

    /// Receives the next message; `None` once the peer has closed in good order.
    ///
    /// Cancel-safe: a message is taken only when it is returned.
    ///
    /// # Errors
    /// How it ended, if not in good order.
    pub async fn recv(&self) -> Result<Option<Message>, Error> {
        poll_fn(|cx| self.poll_recv(cx)).await.transpose()
    }

    /// Closes with a code and a reason, and waits for the peer to agree, for as long as
    /// [`ws::Config`](super::ws::Config) says. Messages that arrive meanwhile are dropped.
    ///
    /// # Errors
    /// The code may not be sent, the reason is too long, or the end was not in good order.
    pub async fn close(&self, code: u16, reason: &str) -> Result<Closed, Error> {
        self.hand.with(|machine, _, now| machine.close(now, code, reason))?;
        poll_fn(|cx| {
            self.hand.with(|machine, desk, _| {
                let polled = desk.poll_message(cx);
                machine.pause(desk.is_behind());
                match polled {
                    Poll::Ready(Err(Ended::Closed(closed))) => Poll::Ready(match closed.error {
                        Some(error) => Err(error),
                        None => Ok(closed),
                    }),
                    Poll::Ready(Ok(_) | Err(Ended::Trouble(_))) => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                    Poll::Pending => Poll::Pending,
                }
            })
        })
        .await
    }

    /// Returns how it ended, once it did.
    pub fn closed(&self) -> Option<Closed> {
        self.hand.read(|_, desk| desk.closed().cloned())
    }

    /// Returns the round-trip time of the last ping that was answered.
    pub fn rtt(&self) -> Option<Duration> {
        self.hand.read(|machine, _| machine.rtt())
    }

    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        self.hand.with(|machine, desk, _| {
            let polled = desk.poll_message(cx);
            machine.pause(desk.is_behind());
            polled.map(|outcome| match outcome {
                Ok(message) => Some(Ok(message)),
                Err(Ended::Trouble(error)) => Some(Err(error)),
                Err(Ended::Closed(closed)) if closed.error.is_some() => Some(Err(why(&closed))),
                Err(Ended::Closed(_)) => None,
            })
        })
    }

    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Some(message) = &self.waiting {
            let sent = ready!(open::poll_send(&self.hand, message, cx));
            self.waiting = None;
            sent?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<R> Stream for WebSocket<R> {
    type Item = Result<Message, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_recv(cx)
    }
}

impl<R> Sink<Message> for WebSocket<R> {
    type Error = Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_waiting(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), Error> {
        self.waiting = Some(message);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_waiting(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_waiting(cx))?;
        self.hand.with(|machine, desk, now| {
            if desk.closed().is_some() {
                return Poll::Ready(Ok(()));
            }
            machine.close(now, 1000, "")?;
            desk.wait_for_room(cx);
            Poll::Pending
        })
    }
}

impl<R> fmt::Debug for WebSocket<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").finish_non_exhaustive()
    }
}
