//! A socket without sessions: out-of-band messages and advertisements.

use proto_raknet::{Config, Endpoint, Guid, OfflineError};
use std::{fmt, future::poll_fn, io, marker::PhantomData, net::SocketAddr};

use super::{
    desk::Desk,
    error::ListenerClosed,
    open::{new_endpoint, run},
    out_of_band::OutOfBand,
};
use crate::{DriverConfig, Handle, Runtime, UdpOptions, bind_udp};

/// A UDP socket for RakNet's messages outside sessions. It accepts no sessions and answers no pings.
///
/// Dropped, it closes.
pub struct RaknetSocket<R> {
    handle: Handle<Endpoint, Desk>,
    address: SocketAddr,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> RaknetSocket<R> {
    /// Binds a socket to `address`.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::bind_with(address, UdpOptions::default())
    }

    /// Binds a socket to `address` with options.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind_with(address: SocketAddr, udp: UdpOptions) -> io::Result<Self> {
        let endpoint = new_endpoint(Config::client())?.map_err(io::Error::other)?;
        let socket = bind_udp(address, udp)?;
        let address = socket.local_addr()?;
        let handle = run::<R>(endpoint, Desk::reading_mail(), socket, DriverConfig::default())?;
        Ok(Self { handle, address, runtime: PhantomData })
    }
}

impl<R> RaknetSocket<R> {
    /// Returns the address, with the port that the operating system chose where none was asked for.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the identifier that others see.
    pub fn guid(&self) -> Guid {
        self.handle.read(|machine, _| machine.guid())
    }

    /// Sends a message outside any session, at most 399 bytes. It may get lost.
    ///
    /// # Errors
    /// The payload is too long, or too many such messages wait to be sent.
    pub fn send_out_of_band(&self, to: SocketAddr, payload: &[u8]) -> Result<(), OfflineError> {
        self.handle.with(|machine, _, _| machine.send_out_of_band(to, payload))
    }

    /// Tells another system that this one is there (C++ `AdvertiseSystem`), with at most 398 bytes about it.
    ///
    /// # Errors
    /// The data is too long, or too many such messages wait to be sent.
    pub fn advertise(&self, to: SocketAddr, data: &[u8]) -> Result<(), OfflineError> {
        self.handle.with(|machine, _, _| machine.advertise(to, data))
    }

    /// Waits for the next message outside sessions. Of those that nobody takes, 256 are kept.
    ///
    /// Cancel-safe: a message is taken only when it is returned.
    ///
    /// # Errors
    /// The runtime shut down.
    pub async fn recv_out_of_band(&self) -> Result<OutOfBand, ListenerClosed> {
        let message = poll_fn(|cx| self.handle.read(|_, desk| desk.mailbox().poll_take(cx))).await;
        message.ok_or(ListenerClosed)
    }

    /// Returns how many messages were dropped because nobody took those before.
    pub fn dropped_out_of_band(&self) -> u64 {
        self.handle.read(|_, desk| desk.mailbox().dropped())
    }
}

impl<R> fmt::Debug for RaknetSocket<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaknetSocket").field("address", &self.address).finish_non_exhaustive()
    }
}
