//! Starting a connection's driver.

use proto_conn::{
    Code, Error, Message, Phase, Url,
    client::{Connection, Options, State},
};
use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use super::desk::{Desk, why};
use crate::{Driver, DriverConfig, Handle, Runtime};

/// One of the application's hands on a connection.
pub(super) type Hand = Handle<Connection, Desk>;

/// Parses a URL.
pub(super) fn parse(url: &str) -> Result<Url, Error> {
    Url::parse(url)
        .map_err(|error| Error::new(Code::BadUrl, Phase::Arguments).with_detail(format!("{url:?}: {error}")))
}

/// Creates a connection with a seed from the operating system, and starts its driver. Nothing is opened yet.
pub(super) fn start<R: Runtime>(url: Url, mut options: Options) -> Result<Hand, Error> {
    let os = |what: &str, error: &dyn std::fmt::Display| {
        Error::new(Code::Io, Phase::Arguments).with_detail(format!("{what}: {error}"))
    };
    if url.scheme.is_tls() && options.tls.is_none() {
        options.tls = Some(default_tls()?);
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| os("randomness", &error))?;
    let machine = Connection::new(url, options, seed)?;
    let (driver, handle) = Driver::<_, _, R>::new(machine, Desk::default(), DriverConfig::default())
        .map_err(|error| os("the driver", &error))?;
    driver.spawn();
    Ok(handle)
}

/// Waits until the connection is open.
pub(super) async fn opened(hand: &Hand) -> Result<(), Error> {
    hand.with(|machine, _, now| machine.open(now))?;
    poll_fn(|cx| {
        hand.read(|_, desk| {
            if let Some(closed) = desk.closed() {
                return Poll::Ready(Err(why(closed)));
            }
            if desk.state() == Some(State::Open) {
                return Poll::Ready(Ok(()));
            }
            desk.wait_for_room(cx);
            Poll::Pending
        })
    })
    .await
}

/// Sends a message, or has the task of `cx` woken when there is room for it.
pub(super) fn poll_send(hand: &Hand, message: &Message, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
    hand.with(|machine, desk, now| match machine.send(now, message.clone()) {
        Ok(_) => Poll::Ready(Ok(())),
        Err(error) if error.code == Code::WouldBlock => {
            desk.wait_for_room(cx);
            Poll::Pending
        }
        Err(error) => Poll::Ready(Err(desk.closed().map_or(error, why))),
    })
}

/// TLS as most clients want it: the roots that Mozilla trusts, and the system's clock.
fn default_tls() -> Result<proto_conn::tls::TlsClient, Error> {
    proto_conn::tls::TlsClient::new(proto_conn::tls::TlsConfig::default(), &super::wall_clock())
}
