//! Streams that are done, but for a last goodbye.

use alloc::vec::Vec;
use bytes::Bytes;
use core::time::Duration;
use proto_core::{Instant, LinkEvent, LinkId, Transmit};

use super::links::Links;
use crate::{Outgoing, StreamEnd, Talk, carrier::Carrier};

/// Streams whose last bytes are on their way out. What they receive is thrown away.
#[derive(Debug, Default)]
pub(super) struct Parting {
    carriers: Vec<Departing>,
}

#[derive(Debug)]
struct Departing {
    carrier: Carrier,
    silence: Silence,
    deadline: Instant,
}

impl Parting {
    /// Takes a stream over: `rest` is sent, then TLS's goodbye, and the link is closed at the latest after `patience`.
    pub(super) fn part(
        &mut self,
        now: Instant,
        mut carrier: Carrier,
        rest: Outgoing,
        patience: Duration,
        links: &mut Links,
    ) {
        carrier.say_goodbye();
        if self.carriers.len() >= MOST {
            let oldest = self.carriers.remove(0);
            links.close(oldest.carrier.link());
        }
        self.carriers.push(Departing { carrier, silence: Silence(rest), deadline: now + patience });
        self.dismiss(now, links);
    }

    pub(super) fn handle_link(&mut self, now: Instant, link: LinkId, event: &LinkEvent, links: &mut Links) {
        for departing in self.carriers.iter_mut().filter(|departing| departing.carrier.link() == link) {
            departing.carrier.handle_link(now, event, &mut departing.silence);
        }
        if matches!(event, LinkEvent::Down(_)) {
            self.carriers.retain(|departing| departing.carrier.link() != link);
        }
        self.dismiss(now, links);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, links: &mut Links) {
        self.dismiss(now, links);
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.carriers.iter().map(|departing| departing.deadline).min()
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        buf: &mut Vec<u8>,
        pieces: &mut Vec<Bytes>,
        links: &mut Links,
    ) -> Option<Transmit> {
        let mut transmit = None;
        for departing in &mut self.carriers {
            // One that cannot say goodbye any more goes without.
            if let Ok(Some(last)) = departing.carrier.poll_transmit(&mut departing.silence, buf) {
                departing.carrier.poll_gather(pieces);
                transmit = Some(last);
                break;
            }
        }
        self.dismiss(now, links);
        transmit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.carriers.is_empty()
    }

    fn dismiss(&mut self, now: Instant, links: &mut Links) {
        self.carriers.retain_mut(|departing| {
            let stays = now < departing.deadline && departing.carrier.wants_output(&mut departing.silence);
            if !stays {
                links.close(departing.carrier.link());
            }
            stays
        });
    }
}

/// Streams that may part at the same time; more are cut off.
const MOST: usize = 8;

/// Sends what is left, and says nothing.
#[derive(Debug)]
struct Silence(Outgoing);

impl Talk for Silence {
    fn handle_input(&mut self, _now: Instant, data: &[u8]) -> usize {
        data.len()
    }
    fn handle_end(&mut self, _now: Instant, _end: StreamEnd) {}
    fn handle_timeout(&mut self, _now: Instant) {}
    fn wants_input(&self) -> bool {
        true
    }
    fn spare(&mut self) -> Option<&mut [u8]> {
        None
    }
    fn advance(&mut self, _now: Instant, _len: usize) {}
    fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.0
    }
    fn handle_sent(&mut self, _now: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
