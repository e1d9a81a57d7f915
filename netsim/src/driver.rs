//! What the simulator and the law suite share of a driver's work: feeding streams, and draining under watch.

use crate::laws::{Law, Ledger, Violation};
use proto_core::{Flow, Instant, LinkId, LinkRequest, Machine, Pumped, Sink, Transmit, deliver, pump};
use std::{
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// How many transmits one drain may give, and how many events and requests, before it counts as endless.
const ENDLESS: usize = 1 << 18;

/// Gives stream bytes to a machine, through its own buffer where it lends one.
pub(crate) fn feed_stream<M: Machine>(machine: &mut M, now: Instant, link: LinkId, mut data: &mut [u8]) {
    while !data.is_empty() {
        let Some(lent) = machine.recv_buffer(link).filter(|lent| !lent.is_empty()) else {
            return machine.handle_stream(now, link, data);
        };
        let len = lent.len().min(data.len());
        lent[..len].copy_from_slice(&data[..len]);
        machine.handle_filled(now, link, len);
        data = &mut data[len..];
    }
}

/// Drains a machine until it has nothing more and checks laws 1, 2, 3, 6 and 10 on the way.
pub(crate) fn drain<M: Machine>(
    machine: &mut M,
    now: Instant,
    ledger: &mut Ledger,
    scratch: &mut Vec<u8>,
    sink: &mut impl Sink<M::Event>,
) -> Result<(), Violation> {
    let mut pump_once = || {
        let pumped: Pumped = watch(ledger, sink, |watched| pump(machine, now, ENDLESS, scratch, watched))?;
        if pumped.more {
            return Err(Violation::new(Law::Drains, format!("the machine does not stop sending at {now:?}")));
        }
        Ok(pumped.next.filter(|next| *next <= now))
    };
    // A deadline that the first drain itself has set may be due at once; after the second there must be quiet.
    if pump_once()?.is_none() {
        return Ok(());
    }
    match pump_once()? {
        None => Ok(()),
        Some(next) => Err(Violation::new(
            Law::DoesNotSpin,
            format!("a deadline of {next:?} is left after handle_timeout({now:?}) and a full drain"),
        )),
    }
}

/// Hands out a machine's requests and events only.
pub(crate) fn hand_out<M: Machine>(
    machine: &mut M,
    ledger: &mut Ledger,
    sink: &mut impl Sink<M::Event>,
) -> Result<(), Violation> {
    watch(ledger, sink, |watched| {
        deliver(machine, watched);
    })
}

/// Runs a drain into a watched sink. A violation ends the drain at once, since it might otherwise have no end.
fn watch<S, R>(
    ledger: &mut Ledger,
    sink: &mut S,
    run: impl FnOnce(&mut Watched<'_, S>) -> R,
) -> Result<R, Violation> {
    let mut watched = Watched { sink, ledger, emitted: 0 };
    catch_unwind(AssertUnwindSafe(|| run(&mut watched))).map_err(|payload| match payload.downcast() {
        Ok(violation) => *violation,
        Err(payload) => resume_unwind(payload),
    })
}

/// A sink that checks what passes through.
struct Watched<'a, S> {
    sink: &'a mut S,
    ledger: &'a mut Ledger,
    emitted: usize,
}

impl<S> Watched<'_, S> {
    fn count(&mut self) {
        self.emitted += 1;
        if self.emitted > ENDLESS {
            raise(Violation::new(Law::Drains, "the machine does not stop telling".to_owned()));
        }
    }
}

impl<E, S: Sink<E>> Sink<E> for Watched<'_, S> {
    fn max_segments(&self) -> NonZeroUsize {
        self.sink.max_segments()
    }

    fn link(&mut self, request: LinkRequest) {
        self.count();
        self.ledger.check_request(&request).unwrap_or_else(|violation| raise(violation));
        self.sink.link(request);
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        let checked = self.ledger.check_transmit(transmit, bytes, self.sink.max_segments());
        checked.unwrap_or_else(|violation| raise(violation));
        let flow = self.sink.transmit(transmit, bytes);
        if flow == Flow::Blocked {
            self.ledger.note_blocked(transmit.link);
        }
        flow
    }

    fn event(&mut self, event: E) {
        self.count();
        self.sink.event(event);
    }
}

/// Unwinds to [`watch`] without a panic's message.
fn raise(violation: Violation) -> ! {
    resume_unwind(Box::new(violation))
}
