//! Learning whether a packet arrived.

use super::{desk::Delivery, error::Undelivered};
use crate::faces::promise::Promise;
use proto_rns::PacketHash;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// A future that is ready when the destination proved that a packet arrived, or did not in time.
///
/// It tells how long the proof took. Dropping it changes nothing about the packet.
#[derive(Debug)]
pub struct Receipt {
    packet: PacketHash,
    delivery: Promise<Delivery>,
}

impl Receipt {
    pub(super) const fn new(packet: PacketHash, delivery: Promise<Delivery>) -> Self {
        Self { packet, delivery }
    }

    /// Returns the packet's hash.
    pub const fn packet(&self) -> PacketHash {
        self.packet
    }
}

impl Future for Receipt {
    type Output = Delivery;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Delivery> {
        Poll::Ready(ready!(Pin::new(&mut self.delivery).poll(cx)).unwrap_or(Err(Undelivered)))
    }
}
