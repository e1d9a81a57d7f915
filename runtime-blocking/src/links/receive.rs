//! Receiving: waiting in the cheapest way that the links allow, and giving each that is ready its turn.

use proto_core::{DownReason, LinkEvent, Machine};
use socket2::Socket;
use std::{
    io, mem,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use super::{
    Links,
    port::{Entry, Port},
    round::{How, Round, Turn, Wants},
    stream::Stream,
    watch::{Watch, wait_for_two},
};

/// How long receiving may wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all: what is there is read.
    Not,
    /// Not at all: what is there is looked at once, and again soon.
    Look,
    /// So long.
    For(Duration),
    /// Until something comes.
    Forever,
}

impl Wait {
    const fn timeout(self) -> Option<Duration> {
        match self {
            Self::Not | Self::Look => Some(Duration::ZERO),
            Self::For(left) => Some(left),
            Self::Forever => None,
        }
    }
}

impl Links {
    /// Reads what has arrived into the machine, and waits for it as long as it may. It can return early with nothing.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub(crate) fn receive<M: Machine>(&mut self, wait: Wait, round: &mut Round<'_, M>) -> io::Result<()> {
        self.release(round.machine);
        // Those that are served without asking must not keep the others from being read.
        let wait = if self.serve_due(round) { Wait::Not } else { wait };
        match self.only() {
            Some(slot) => self.receive_from_one(slot, wait, round),
            None => self.receive_from_many(wait, round),
        }
    }

    /// Says whether anything can happen by itself: something arrives, a name is resolved, a stream gets room, somebody
    /// rings.
    pub(crate) fn has_prospects<M: Machine>(&mut self, machine: &M) -> bool {
        self.release(machine);
        self.armed_bell().is_some() || self.entries.iter().any(|(_, entry)| entry.wants().any())
    }

    /// Returns a descriptor that becomes readable, or what else [`wants`](Self::wants) says, when something happens: the
    /// only socket's if there is but one, else that of a set.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn descriptor<M: Machine>(&mut self, machine: &M) -> io::Result<BorrowedFd<'_>> {
        self.release(machine);
        match self.lone_socket() {
            Some(slot) => {
                let socket = self.entries.get(slot).and_then(|entry| entry.port.descriptor());
                socket.ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            None => self.watched().map(AsFd::as_fd),
        }
    }

    /// Returns what is to be watched of the descriptor.
    pub(crate) fn wants<M: Machine>(&mut self, machine: &M) -> Wants {
        self.release(machine);
        match self.lone_socket().and_then(|slot| self.entries.get(slot)) {
            Some(entry) => entry.wants(),
            None => Wants { read: true, write: false },
        }
    }

    /// Returns the only socket, if there is no set and nobody who might ring.
    fn lone_socket(&self) -> Option<usize> {
        self.only().filter(|_| self.watch.is_none() && self.armed_bell().is_none())
    }

    /// Returns the slot of the only link, if it has a descriptor.
    fn only(&self) -> Option<usize> {
        if self.entries.len() != 1 {
            return None;
        }
        let (slot, entry) = self.entries.iter().next()?;
        entry.port.descriptor().map(|_| slot)
    }

    /// Receives from the only link, if possible by a call that waits and receives at once.
    fn receive_from_one<M: Machine>(
        &mut self,
        slot: usize,
        wait: Wait,
        round: &mut Round<'_, M>,
    ) -> io::Result<()> {
        let is_armed = self.armed_bell().is_some();
        let reads = self.config.reads_per_turn.max(1);
        let Some(entry) = self.entries.get_mut(slot) else { return Ok(()) };
        let wants = entry.wants();
        let readable_only = wants.read && !wants.write;
        let how = match wait {
            Wait::Not => Some(How::Try(reads)),
            Wait::Look => Some(How::Try(1)),
            Wait::For(_) | Wait::Forever if !readable_only => None,
            Wait::For(_) | Wait::Forever if !is_armed && entry.prepare_to_wait(wait.timeout())? => {
                Some(How::Wait)
            }
            Wait::For(_) | Wait::Forever => (!entry.drained).then_some(How::Try(1)),
        };
        if let Some(how) = how {
            if wants.any() {
                self.serve(slot, how, round);
            }
            return Ok(());
        }
        let link = entry.port.descriptor().filter(|_| wants.any()).map(|fd| (fd, wants));
        let bell = self.bell.get().filter(|_| is_armed);
        let (ready, rung) = wait_for_two(link, bell.map(|bell| bell.as_fd()), wait.timeout())?;
        round.refresh();
        if rung && let Some(bell) = bell {
            bell.silence();
        }
        if ready {
            self.serve(slot, How::Try(1), round);
        }
        Ok(())
    }

    /// Receives from those links that are ready.
    fn receive_from_many<M: Machine>(&mut self, wait: Wait, round: &mut Round<'_, M>) -> io::Result<()> {
        let mut ready = mem::take(&mut self.ready);
        ready.clear();
        self.watched()?.wait(wait.timeout(), &mut ready)?;
        if matches!(wait, Wait::For(_) | Wait::Forever) {
            round.refresh();
        }
        let reads = self.config.reads_per_turn.max(1);
        for &number in &ready {
            match usize::try_from(number) {
                Ok(slot) if number != BELL => self.serve(slot, How::Try(reads), round),
                Ok(_) | Err(_) => self.on_bell(round),
            }
        }
        self.ready = ready;
        Ok(())
    }

    fn on_bell<M: Machine>(&mut self, round: &mut Round<'_, M>) {
        let Some(bell) = self.bell.get() else { return };
        bell.silence();
        self.serve_lookups(round);
    }

    fn serve_lookups<M: Machine>(&mut self, round: &mut Round<'_, M>) {
        if !self.lookups.is_empty() && self.bell.get().is_some_and(|bell| bell.was_answered()) {
            for slot in self.lookups.clone() {
                self.serve(slot, How::Try(1), round);
            }
        }
    }

    /// Gives those a turn that want one whether or not anything happened. Says whether the machine was told anything.
    fn serve_due<M: Machine>(&mut self, round: &mut Round<'_, M>) -> bool {
        self.serve_lookups(round);
        while let Some(slot) = self.deadlines.expire(round.now) {
            self.due.push(slot as usize);
        }
        if self.due.is_empty() {
            return round.told;
        }
        let mut due = mem::take(&mut self.due);
        for slot in due.drain(..) {
            self.serve(slot, How::Try(1), round);
        }
        // What a turn made due is served next time.
        due.append(&mut self.due);
        self.due = due;
        round.told
    }

    /// Gives a link its turn.
    fn serve<M: Machine>(&mut self, slot: usize, how: How, round: &mut Round<'_, M>) {
        let Self { entries, scratch, reports, changed, config, .. } = self;
        let Some(entry) = entries.get_mut(slot) else { return };
        let link = entry.link;
        let before = entry.wants();
        let turn = match &mut entry.port {
            Port::Stream(stream) => {
                let len = config.first_read.clamp(1, scratch.len());
                stream.turn(link, how, scratch.get_mut(..len).unwrap_or_default(), round)
            }
            Port::Datagrams(socket) => socket.turn(link, how, scratch, reports, round),
            Port::Listener(listener) => listener.turn(link, round),
            Port::Lookup { lookup, until } => match lookup.take() {
                Some(addresses) => {
                    round.tell(link, LinkEvent::Resolved { addresses });
                    Turn::Over
                }
                None if *until <= round.now => Turn::Down(DownReason::TimedOut),
                None => Turn::Drained,
            },
        };
        entry.drained = matches!(turn, Turn::Drained);
        if matches!(turn, Turn::HeldBack) && !mem::replace(&mut entry.held_back, true) {
            self.held_back.push(slot);
        }
        if entry.wants() != before {
            entry.note_change(slot, changed);
        }
        let deadline = entry.port.deadline();
        self.set_deadline(slot, deadline);
        match turn {
            Turn::Drained | Turn::More | Turn::HeldBack => {}
            Turn::Accepted(socket, peer) => {
                self.take_in(slot, socket, peer, round);
                self.due.push(slot);
            }
            Turn::Over => self.remove(slot),
            Turn::Down(reason) => {
                self.remove(slot);
                round.tell(link, LinkEvent::Down(reason));
            }
        }
    }

    /// Gives an accepted stream its number and reports it.
    fn take_in<M: Machine>(
        &mut self,
        listener: usize,
        socket: Socket,
        peer: Option<SocketAddr>,
        round: &mut Round<'_, M>,
    ) {
        let link = self.fresh_accepted();
        let Some(of) = self.entries.get(listener).map(|entry| entry.link) else { return };
        match self.insert(link, Port::Stream(Stream::accepted(socket))) {
            Ok(slot) => {
                round.tell(link, LinkEvent::Accepted { listener: of, peer });
                // Most peers that connect have something to say already.
                self.due.push(slot);
            }
            Err(error) => round.stats.count_receive_error(&error),
        }
    }

    /// Lets links go on that the machine wants to read from again.
    fn release<M: Machine>(&mut self, machine: &M) {
        if self.held_back.is_empty() {
            return;
        }
        let Self { entries, held_back, changed, .. } = self;
        held_back.retain(|&slot| {
            let Some(entry) = entries.get_mut(slot) else { return false };
            entry.held_back = !machine.wants_read(entry.link);
            if !entry.held_back {
                entry.drained = false;
                entry.note_change(slot, changed);
            }
            entry.held_back
        });
    }

    /// Returns the set of watched descriptors, which watches what is wanted now.
    fn watched(&mut self) -> io::Result<&Watch> {
        if self.watch.is_none() {
            self.watch = Some(Watch::new()?);
            for (slot, entry) in &mut self.entries {
                entry.note_change(slot, &mut self.changed);
            }
        }
        let Self { watch: Some(watch), entries, changed, bell, bell_is_watched, .. } = self else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if let Some(bell) = bell.get()
            && !mem::replace(bell_is_watched, true)
        {
            watch.change(bell.as_fd(), BELL, Wants::default(), Wants { read: true, write: false })?;
        }
        for slot in changed.drain(..) {
            let Some(entry) = entries.get_mut(slot) else { continue };
            entry.settle_change();
            let wanted = entry.wants();
            if let Some(fd) = entry.port.descriptor().filter(|_| wanted != entry.watched) {
                watch.change(fd, slot as u64, entry.watched, wanted)?;
                entry.watched = wanted;
            }
        }
        Ok(watch)
    }
}

impl Entry {
    /// Has the next reading call wait for less than `left`, if it can.
    fn prepare_to_wait(&mut self, left: Option<Duration>) -> io::Result<bool> {
        match &mut self.port {
            Port::Stream(stream) => stream.prepare_to_wait(left),
            Port::Datagrams(socket) => socket.prepare_to_wait(left),
            Port::Listener(_) | Port::Lookup { .. } => Ok(false),
        }
    }
}

/// The bell's number in the set of watched descriptors; slots are smaller.
const BELL: u64 = u64::MAX;
