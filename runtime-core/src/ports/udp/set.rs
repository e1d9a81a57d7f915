//! All datagram sockets of a driver: one, usually, or thousands.

use proto_core::{Flow, Instant, LinkEvent, LinkId, Machine, Transmit};
use slab::Slab;
use std::{
    collections::HashMap,
    io,
    num::NonZeroUsize,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::UdpPort;
use crate::{
    ports::ready::{Mark, Ready},
    runtime::SocketIo,
    shared::{Shared, State},
    sockets::{Inbox, Outbox, unreachable_peer},
};

/// The datagram sockets. Finding one costs O(1), and a wake-up costs what is ready.
#[derive(Debug)]
pub(crate) struct UdpPorts<S> {
    entries: Slab<Entry<S>>,
    slots: HashMap<LinkId, usize>,
    /// Those that may have something to read.
    ready: Ready,
    /// Slots of those that have no room.
    blocked: Vec<usize>,
    /// Slots of those that the machine wants nothing from at present.
    held_back: Vec<usize>,
    /// Slots of those whose receiving failed again and again.
    resting: Vec<usize>,
    /// When they are tried anew.
    resting_until: Option<Instant>,
}

#[derive(Debug)]
struct Entry<S> {
    port: UdpPort<S>,
    mark: Arc<Mark>,
    /// Wakes with `mark`.
    waker: Waker,
}

/// How a port's turn ended.
enum Turn {
    /// It is woken by the next arrival.
    Asleep,
    /// It may have more.
    Again,
    /// The machine wants nothing from it at present.
    HeldBack,
    /// It fails again and again.
    Failing,
}

impl<S: SocketIo> UdpPorts<S> {
    pub(crate) fn new() -> Self {
        Self {
            entries: Slab::new(),
            slots: HashMap::new(),
            ready: Ready::default(),
            blocked: Vec::new(),
            held_back: Vec::new(),
            resting: Vec::new(),
            resting_until: None,
        }
    }

    /// Adds a port.
    ///
    /// # Errors
    /// Its link is in use.
    pub(crate) fn add(&mut self, port: UdpPort<S>) -> io::Result<()> {
        if self.contains(port.link()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // Most drivers have one socket, and there may be thousands of drivers.
        if self.entries.is_empty() {
            self.entries.reserve_exact(1);
        }
        let vacant = self.entries.vacant_entry();
        let mark = self.ready.mark(vacant.key());
        let waker = Waker::from(Arc::clone(&mark));
        self.ready.push(&mark);
        self.slots.insert(port.link(), vacant.key());
        vacant.insert(Entry { port, mark, waker });
        Ok(())
    }

    /// Closes a port, if there is one of that link.
    pub(crate) fn remove(&mut self, link: LinkId) {
        let Some(slot) = self.slots.remove(&link) else { return };
        self.entries.try_remove(slot);
        for list in [&mut self.blocked, &mut self.held_back, &mut self.resting] {
            list.retain(|&listed| listed != slot);
        }
    }

    /// Closes everything at once.
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Sends on a link; what is for one that is not there is dropped.
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8], out: &mut Outbox<'_>) -> Flow {
        let slot = self.slots.get(&transmit.link).copied();
        let Some((slot, entry)) = slot.and_then(|slot| Some((slot, self.entries.get_mut(slot)?))) else {
            return Flow::Sent;
        };
        let flow = entry.port.send(transmit, bytes, out);
        if flow == Flow::Blocked {
            self.blocked.push(slot);
        }
        flow
    }

    /// Sends what waits for room; `writable` hears of the links that have it again. The task of `cx` is woken when there
    /// is room for more.
    pub(crate) fn flush(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox<'_>,
        mut writable: impl FnMut(&mut Outbox<'_>, LinkId),
    ) {
        let Self { entries, blocked, .. } = self;
        blocked.retain(|&slot| {
            let Some(Entry { port, .. }) = entries.get_mut(slot) else { return false };
            let flushed = port.poll_flush(cx, out).is_ready();
            if flushed {
                writable(out, port.link());
            }
            !flushed
        });
    }

    /// Reads into the machine what has arrived on the ports that are ready, until about `budget` datagrams are read. Says
    /// whether anything had. Where nothing had, the task of `cx` is woken by the next arrival.
    ///
    /// While the driver is only `looking`, a single port is asked directly instead of waiting for its reactor.
    pub(crate) fn serve<M: Machine, F>(
        &mut self,
        shared: &Shared<M, F>,
        now: Instant,
        budget: usize,
        looking: bool,
        cx: &Context<'_>,
    ) -> bool {
        self.end_rest(now);
        self.ready.collect(cx);
        let Self { entries, ready, .. } = self;
        let direct = looking && entries.len() == 1;
        if direct && let Some((_, entry)) = entries.iter().next() {
            ready.push(&entry.mark);
        }
        if ready.len() == 0 {
            return false;
        }
        Inbox::with(|inbox| {
            let (mut left, mut any) = (budget, false);
            for _ in 0..self.ready.len() {
                if left == 0 {
                    break;
                }
                let Some(slot) = self.ready.pop() else { break };
                let Some(entry) = self.entries.get_mut(slot) else { continue };
                let before = left;
                let turn = entry.turn(inbox, shared, now, &mut left, direct);
                any |= left != before || matches!(turn, Turn::Failing);
                match turn {
                    Turn::Asleep => {}
                    Turn::Again => self.ready.push(&entry.mark),
                    Turn::HeldBack => self.held_back.push(slot),
                    Turn::Failing => {
                        self.resting.push(slot);
                        self.resting_until.get_or_insert(now + REST);
                    }
                }
            }
            any
        })
    }

    /// Gives ports that the machine wants to read from again a turn, and says whether any are left.
    pub(crate) fn hold_back<M: Machine>(&mut self, machine: &M) -> bool {
        let Self { entries, ready, held_back, .. } = self;
        held_back.retain(|&slot| {
            let Some(entry) = entries.get(slot) else { return false };
            let wanted = machine.wants_read(entry.port.link());
            if wanted {
                ready.push(&entry.mark);
            }
            !wanted
        });
        !held_back.is_empty()
    }

    /// Returns when a port that rests is to be tried anew.
    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.resting_until
    }

    pub(crate) fn contains(&self, link: LinkId) -> bool {
        self.slots.contains_key(&link)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says whether something waits for room.
    pub(crate) const fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Returns how many equal-sized datagrams a transmit may hold. It is the first port's answer: they are of one system,
    /// and each cuts what is too long for it.
    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        self.entries.iter().next().map_or(NonZeroUsize::MIN, |(_, entry)| entry.port.max_segments())
    }
}

impl<S: SocketIo> UdpPorts<S> {
    /// Gives ports that have rested enough a turn.
    fn end_rest(&mut self, now: Instant) {
        if self.resting_until.is_none_or(|until| until > now) {
            return;
        }
        self.resting_until = None;
        for slot in self.resting.drain(..) {
            if let Some(entry) = self.entries.get_mut(slot) {
                entry.port.forgive();
                self.ready.push(&entry.mark);
            }
        }
    }
}

impl<S: SocketIo> Entry<S> {
    /// Reads until there is no more, or until `left`, which goes down with each datagram and each error, is used up.
    fn turn<M: Machine, F>(
        &mut self,
        inbox: &mut Inbox,
        shared: &Shared<M, F>,
        now: Instant,
        left: &mut usize,
        direct: bool,
    ) -> Turn {
        let (port, cx) = (&mut self.port, &mut Context::from_waker(&self.waker));
        let link = port.link();
        if !shared.lock().machine.wants_read(link) {
            return Turn::HeldBack;
        }
        while *left > 0 {
            let received = if direct { port.try_receive(inbox) } else { port.poll_receive(inbox, cx) };
            let Poll::Ready(received) = received else {
                // Nobody is woken by what comes to a port that was asked directly: it is to be asked again.
                return if direct { Turn::Again } else { Turn::Asleep };
            };
            let mut guard = shared.lock();
            let State { machine, stats, .. } = &mut *guard;
            let count = match received {
                Ok(()) => inbox.feed(machine, now, link, &mut stats.received),
                Err(error) => {
                    stats.count_receive_error(&error);
                    if port.is_connected()
                        && let Some(reason) = unreachable_peer(&error)
                    {
                        machine.handle_link(now, link, LinkEvent::Unreachable(reason));
                    }
                    1
                }
            };
            *left = left.saturating_sub(count.max(1));
            if port.is_failing() {
                return Turn::Failing;
            }
            if !machine.wants_read(link) {
                return Turn::HeldBack;
            }
        }
        Turn::Again
    }
}

/// How long a port whose receiving fails persistently is left alone.
const REST: Duration = Duration::from_millis(50);
