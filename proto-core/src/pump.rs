//! The one loop that drains a machine.

use crate::{Instant, LinkEvent, LinkRequest, Machine, Transmit};
use alloc::vec::Vec;
use bytes::Bytes;
use core::num::NonZeroUsize;

/// Where a drained machine's output goes. Every driver implements it.
pub trait Sink<E> {
    /// Returns how many equal-sized datagrams one transmit may hold. A driver may still split what it gets.
    fn max_segments(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// Carries out a request about links.
    fn link(&mut self, request: LinkRequest);

    /// Sends `bytes`. On [`Flow::Blocked`] the sink has kept them: they are not offered again.
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow;

    /// Sends `bytes` and then `pieces` on a stream link. The default copies them into one buffer.
    fn gather(&mut self, transmit: &Transmit, bytes: &[u8], pieces: &[Bytes]) -> Flow {
        let mut whole = bytes.to_vec();
        for piece in pieces {
            whole.extend_from_slice(piece);
        }
        let transmit = Transmit { len: whole.len(), ..*transmit };
        self.transmit(&transmit, &whole)
    }

    /// Hands an event to the application.
    fn event(&mut self, event: E);

    /// Lends out the list in which the pieces of a drain are gathered. A sink that keeps one saves an allocation.
    fn lend_pieces(&mut self) -> Vec<Bytes> {
        Vec::new()
    }

    /// Takes the lent list back, empty.
    fn return_pieces(&mut self, _pieces: Vec<Bytes>) {}
}

/// Whether a link takes more after a transmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Sent, or dropped for good: go on.
    Sent,
    /// Kept until the device has room. The machine is told [`LinkEvent::Blocked`]; the driver reports
    /// [`LinkEvent::Writable`] once the kept bytes are gone.
    Blocked,
}

/// What a drain left behind.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pumped {
    /// When the machine wants to be called next, if nothing arrives before.
    pub next: Option<Instant>,
    /// How many transmits went out.
    pub transmits: usize,
    /// The budget ended before the machine was empty: pump again soon.
    pub more: bool,
}

/// Drains `machine` into `sink`: what is due, then links, transmits (at most `budget`) and events, until there is
/// nothing left. `scratch` is the buffer for outgoing bytes; its contents do not matter.
pub fn pump<M: Machine, S: Sink<M::Event>>(
    machine: &mut M,
    now: Instant,
    budget: usize,
    scratch: &mut Vec<u8>,
    sink: &mut S,
) -> Pumped {
    if machine.poll_timeout().is_some_and(|due| due <= now) {
        machine.handle_timeout(now);
    }
    let mut transmits = 0;
    let mut pieces = sink.lend_pieces();
    loop {
        let mut idle = !deliver(machine, sink);
        while transmits < budget {
            scratch.clear();
            let Some(transmit) = machine.poll_transmit(now, sink.max_segments(), scratch) else { break };
            idle = false;
            transmits += 1;
            let flow = if transmit.to.is_some() {
                sink.transmit(&transmit, scratch)
            } else {
                machine.poll_gather(&mut pieces);
                let flow = if pieces.is_empty() {
                    sink.transmit(&transmit, scratch)
                } else {
                    sink.gather(&transmit, scratch, &pieces)
                };
                pieces.clear();
                flow
            };
            if flow == Flow::Blocked {
                machine.handle_link(now, transmit.link, LinkEvent::Blocked);
            }
        }
        let more = transmits >= budget;
        if idle || more {
            // What the last transmits caused (a queue with room again, say) still has to be told.
            deliver(machine, sink);
            sink.return_pieces(pieces);
            return Pumped { next: machine.poll_timeout(), transmits, more };
        }
    }
}

/// Hands out link requests and events only, and says whether there were any.
///
/// A driver calls it between reading a batch and sending the answers, so that an application that reacts at once
/// has its reply packed together with the acknowledgements of the batch.
pub fn deliver<M: Machine, S: Sink<M::Event>>(machine: &mut M, sink: &mut S) -> bool {
    let mut any = false;
    while let Some(request) = machine.poll_link() {
        sink.link(request);
        any = true;
    }
    while let Some(event) = machine.poll_event() {
        sink.event(event);
        any = true;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Datagram, LinkId};
    use alloc::vec;
    use core::net::SocketAddr;

    /// Emits `pending` one-byte transmits; stops while blocked.
    struct Toy {
        pending: usize,
        blocked: bool,
        due: Option<Instant>,
        events: usize,
        pieces: Vec<Bytes>,
        to: Option<SocketAddr>,
    }

    impl Machine for Toy {
        type Event = ();
        fn handle_datagram(&mut self, _: Instant, _: Datagram<'_>) {}
        fn handle_link(&mut self, _: Instant, _: LinkId, event: LinkEvent) {
            self.blocked = event == LinkEvent::Blocked;
        }
        fn handle_timeout(&mut self, _: Instant) {
            self.due = None;
            self.events += 1;
        }
        fn poll_transmit(&mut self, _: Instant, _: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
            if self.blocked || self.pending == 0 {
                return None;
            }
            self.pending -= 1;
            buf.push(7);
            Some(Transmit { to: self.to, ..Transmit::stream(LinkId(3), 1) })
        }
        fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
            pieces.append(&mut self.pieces);
        }
        fn poll_event(&mut self) -> Option<()> {
            self.events = self.events.checked_sub(1)?;
            Some(())
        }
        fn poll_timeout(&self) -> Option<Instant> {
            self.due
        }
    }

    #[derive(Default)]
    struct Record {
        sent: Vec<Vec<u8>>,
        events: usize,
        room: usize,
    }

    impl Sink<()> for Record {
        fn link(&mut self, _: LinkRequest) {}
        fn transmit(&mut self, _: &Transmit, bytes: &[u8]) -> Flow {
            self.sent.push(bytes.to_vec());
            if self.sent.len() >= self.room { Flow::Blocked } else { Flow::Sent }
        }
        fn event(&mut self, (): ()) {
            self.events += 1;
        }
    }

    fn toy(pending: usize) -> Toy {
        Toy {
            pending,
            blocked: false,
            due: Some(Instant::ZERO),
            events: 0,
            pieces: vec![],
            to: Some(SocketAddr::from(([127, 0, 0, 1], 1))),
        }
    }

    #[test]
    fn a_blocked_sink_stops_the_machine_and_nothing_is_lost() {
        let (mut machine, mut sink) = (toy(5), Record { room: 2, ..Record::default() });
        let pumped = pump(&mut machine, Instant::ZERO, usize::MAX, &mut vec![], &mut sink);
        assert_eq!((sink.sent.len(), machine.pending, sink.events), (2, 3, 1));
        assert_eq!(pumped, Pumped { next: None, transmits: 2, more: false });
    }

    #[test]
    fn a_budget_ends_the_drain_and_says_so() {
        let (mut machine, mut sink) = (toy(5), Record { room: usize::MAX, ..Record::default() });
        assert!(pump(&mut machine, Instant::ZERO, 2, &mut vec![], &mut sink).more);
        assert_eq!(machine.pending, 3);
    }

    #[test]
    fn pieces_follow_the_bytes_of_a_stream_transmit() {
        let (mut machine, mut sink) = (toy(1), Record { room: usize::MAX, ..Record::default() });
        machine.to = None;
        machine.pieces = vec![Bytes::from_static(&[8, 9]), Bytes::from_static(&[10])];
        let _ = pump(&mut machine, Instant::ZERO, usize::MAX, &mut vec![], &mut sink);
        assert_eq!(sink.sent, [vec![7, 8, 9, 10]]);
    }
}
