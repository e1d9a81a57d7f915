//! Datagrams to one peer, and to a group.

use futures_core::Stream;
use proto_conn::{Code, Error, Message, Payload, Phase, Scheme, Url, client::Options};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    desk::{Ended, why},
    open::{self, Hand},
};
use crate::Runtime;

/// A UDP socket that is connected to one peer. It is a [`Stream`] of datagrams.
pub struct UdpChannel<R>(Datagrams<R>);

/// A member of a multicast group, on one interface or several. It is a [`Stream`] of datagrams.
pub struct Multicast<R>(Datagrams<R>);

struct Datagrams<R> {
    hand: Hand,
    runtime: PhantomData<fn() -> R>,
}

macro_rules! datagrams {
    ($name:ident, $scheme:expr, $example:literal) => {
        impl<R: Runtime> $name<R> {
            #[doc = concat!("Opens a URL such as `", $example, "`.")]
            ///
            /// Cancel-safe: dropping the future gives the attempt up.
            ///
            /// # Errors
            /// The URL is of another kind, the name has no address, or there is no socket to be had.
            pub async fn open(url: &str) -> Result<Self, Error> {
                Self::open_with(open::parse(url)?, Options::default()).await
            }

            /// Opens with options.
            ///
            /// Cancel-safe: dropping the future gives the attempt up.
            ///
            /// # Errors
            /// As for [`open`](Self::open).
            pub async fn open_with(url: Url, options: Options) -> Result<Self, Error> {
                Datagrams::open(url, options, $scheme).await.map(Self)
            }
        }

        impl<R> $name<R> {
            /// Sends a datagram. It waits while the socket has no room. Cancel-safe: it is taken or it is not.
            ///
            /// # Errors
            /// It is longer than 65,507 bytes, or the socket is gone.
            pub async fn send(&self, payload: impl Into<Payload>) -> Result<(), Error> {
                self.0.send(Message::datagram(payload)).await
            }

            /// Sends a datagram with what else a [`Message`] says: the interface to leave by. Cancel-safe.
            ///
            /// # Errors
            /// As for [`send`](Self::send).
            pub async fn send_message(&self, message: Message) -> Result<(), Error> {
                self.0.send(message).await
            }

            /// Receives the next datagram. Cancel-safe: it is taken only when it is returned.
            ///
            /// # Errors
            /// That the network says that the peer cannot be reached, after which others may still come; or that the
            /// socket is gone.
            pub async fn recv(&self) -> Result<Message, Error> {
                poll_fn(|cx| self.0.poll_recv(cx)).await
            }

            /// Returns how many datagrams were dropped because the application did not take them.
            pub fn dropped(&self) -> u64 {
                self.0.hand.read(|machine, _| machine.dropped_datagrams())
            }
        }

        impl<R> Stream for $name<R> {
            type Item = Result<Message, Error>;

            fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                self.0.poll_recv(cx).map(Some)
            }
        }

        impl<R> fmt::Debug for $name<R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

datagrams!(UdpChannel, Scheme::Udp, "udp://10.0.0.1:4000");
datagrams!(Multicast, Scheme::UdpMulticast, "udp_multicast://239.1.2.3:4000?iface=eth0");

impl<R: Runtime> Datagrams<R> {
    async fn open(url: Url, options: Options, scheme: Scheme) -> Result<Self, Error> {
        if url.scheme != scheme {
            let detail = format!("{} is not {}", url.scheme.name(), scheme.name());
            return Err(Error::new(Code::BadUrl, Phase::Arguments).with_detail(detail));
        }
        let hand = open::start::<R>(url, options)?;
        open::opened(&hand).await?;
        Ok(Self { hand, runtime: PhantomData })
    }
}

impl<R> Datagrams<R> {
    async fn send(&self, message: Message) -> Result<(), Error> {
        poll_fn(|cx| open::poll_send(&self.hand, &message, cx)).await
    }

    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<Result<Message, Error>> {
        self.hand.with(|machine, desk, _| {
            let polled = desk.poll_message(cx);
            machine.pause(desk.is_behind());
            polled.map_err(|ended| match ended {
                Ended::Trouble(error) => error,
                Ended::Closed(closed) => why(&closed),
            })
        })
    }
}
