//! A machine that keeps every law, and for each law one that breaks it: the proof that the suite can fail.

use super::{Law, Memory, Subject, SubjectLink, check, check_law};
use crate::{Conditions, Network, StreamConditions};
use proto_core::{
    Datagram, DownReason, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Rng, Transmit,
};
use std::{
    collections::{BTreeSet, VecDeque},
    net::SocketAddr,
    num::NonZeroUsize,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// What a toy does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    TellsForEver,
    SendsForEver,
    MisstatesLength,
    ExceedsSegments,
    ClearsBuffer,
    KeepsDeadline,
    CountsEarlyTimeouts,
    LetsTimeGoBack,
    PanicsOnEmpty,
    Hoards,
    IgnoresBlocked,
    BlocksEverything,
    CountsChunks,
    LimitsChunks,
    Varies,
    QueuesForEver,
    DropsUncounted,
    IgnoresDown,
    ReopensEarly,
}

const FAST: LinkId = LinkId(0);
const SLOW: LinkId = LinkId(1);
const LINES: LinkId = LinkId(2);
const EXTRA: LinkId = LinkId(3);
const EVENT_LIMIT: usize = 64;
const OUT_LIMIT: usize = 64;
const LONGEST_LINE: usize = 80;

/// Echoes datagrams on two links and lines on a third, and ticks a while after the last input.
#[derive(Debug)]
struct Toy {
    fault: Fault,
    rng: Rng,
    now: Instant,
    due: Option<Instant>,
    out: VecDeque<(LinkId, Option<SocketAddr>, Vec<u8>)>,
    events: VecDeque<String>,
    dropped: u64,
    requests: VecDeque<LinkRequest>,
    blocked: BTreeSet<LinkId>,
    down: BTreeSet<LinkId>,
    line: Vec<u8>,
    is_line_too_long: bool,
    hoard: Vec<u8>,
    is_endless: bool,
    extra_is_open: bool,
}

impl Toy {
    fn new(fault: Fault, seed: [u8; 32]) -> Self {
        Self {
            fault,
            rng: Rng::new(seed),
            now: Instant::ZERO,
            due: None,
            out: VecDeque::new(),
            events: VecDeque::new(),
            dropped: 0,
            requests: VecDeque::new(),
            blocked: BTreeSet::new(),
            down: BTreeSet::new(),
            line: Vec::new(),
            is_line_too_long: false,
            hoard: Vec::new(),
            is_endless: false,
            extra_is_open: false,
        }
    }

    fn send(&mut self, link: LinkId, to: Option<SocketAddr>, data: Vec<u8>) {
        if self.out.len() < OUT_LIMIT && !self.down.contains(&link) {
            self.out.push_back((link, to, data));
        }
    }

    fn open_extra(&mut self) {
        if !self.extra_is_open || self.fault == Fault::ReopensEarly {
            self.extra_is_open = true;
            let spec = LinkSpec::TcpConnect { peer: SocketAddr::from(([10, 0, 0, 1], 1)) };
            self.requests.push_back(LinkRequest::Open { link: EXTRA, spec });
        }
    }

    fn tell(&mut self, event: String) {
        if self.events.len() < EVENT_LIMIT || self.fault == Fault::QueuesForEver {
            self.events.push_back(event);
        } else if self.fault != Fault::DropsUncounted {
            self.dropped += 1;
        }
    }

    fn see(&mut self, now: Instant) -> Instant {
        self.now = if self.fault == Fault::LetsTimeGoBack { now } else { self.now.max(now) };
        self.now
    }

    fn wake_later(&mut self) {
        let jitter = Duration::from_micros(self.rng.below(1_000));
        self.due = Some(self.now + Duration::from_millis(50) + jitter);
    }

    fn on_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.tell(format!("line {line:?}"));
        self.send(LINES, None, line);
    }

    fn may_send(&self, link: LinkId) -> bool {
        let is_blocked = self.blocked.contains(&link) && self.fault != Fault::IgnoresBlocked;
        let is_silenced = !self.blocked.is_empty() && self.fault == Fault::BlocksEverything;
        !is_blocked && !is_silenced
    }
}

impl Machine for Toy {
    type Event = String;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.see(now);
        assert!(self.fault != Fault::PanicsOnEmpty || !datagram.data.is_empty(), "an empty datagram");
        self.is_endless = [Fault::TellsForEver, Fault::SendsForEver].contains(&self.fault);
        if self.fault == Fault::Hoards {
            self.hoard.extend_from_slice(datagram.data);
        }
        if [FAST, SLOW].contains(&datagram.link) {
            let mut echo = datagram.data.to_vec();
            if self.fault == Fault::Varies {
                static CALLS: AtomicU64 = AtomicU64::new(0);
                echo.extend(CALLS.fetch_add(1, Ordering::Relaxed).to_le_bytes());
            }
            self.tell(format!("datagram of {}", datagram.data.len()));
            self.send(datagram.link, Some(datagram.from), echo);
            self.wake_later();
        }
    }

    fn handle_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        self.see(now);
        if link != LINES {
            return;
        }
        if self.fault == Fault::CountsChunks {
            self.tell("chunk".to_owned());
        }
        for &byte in data.iter() {
            if self.is_line_too_long {
                return;
            }
            let is_limited = self.fault != Fault::LimitsChunks;
            match byte {
                b'\n' => self.on_line(),
                _ if self.line.len() == LONGEST_LINE && is_limited => self.is_line_too_long = true,
                _ => self.line.push(byte),
            }
        }
        self.is_line_too_long |= self.line.len() > LONGEST_LINE;
        if self.is_line_too_long {
            self.line.clear();
        }
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        self.see(now);
        if link.0 > EXTRA.0 {
            return;
        }
        match event {
            LinkEvent::Blocked => {
                self.blocked.insert(link);
            }
            LinkEvent::Writable => {
                self.blocked.remove(&link);
            }
            LinkEvent::Up { .. } => {
                self.extra_is_open |= link == EXTRA;
                self.down.remove(&link);
            }
            LinkEvent::Down(_) if self.fault != Fault::IgnoresDown => {
                self.extra_is_open &= link != EXTRA;
                self.blocked.remove(&link);
                self.down.insert(link);
                self.out.retain(|(on, ..)| *on != link);
            }
            LinkEvent::Down(_)
            | LinkEvent::Eof
            | LinkEvent::TooBig { .. }
            | LinkEvent::Resolved { .. }
            | _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.see(now);
        if self.fault == Fault::CountsEarlyTimeouts || self.due.is_some_and(|due| due <= now) {
            self.tell("tick".to_owned());
            if self.fault != Fault::KeepsDeadline {
                self.due = None;
            }
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(&mut self, _: Instant, max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        if self.is_endless && self.fault == Fault::SendsForEver {
            return Some(Transmit::stream(LINES, 0));
        }
        let next = self.out.iter().position(|(link, ..)| self.may_send(*link))?;
        let (link, to, first) = self.out.remove(next)?;
        if self.fault == Fault::ClearsBuffer {
            buf.clear();
        }
        buf.extend(&first);
        let (mut len, mut count) = (first.len(), 1);
        let most = if self.fault == Fault::ExceedsSegments { usize::MAX } else { max.get() };
        let is_alike = |out: &(LinkId, Option<SocketAddr>, Vec<u8>)| {
            (out.0, out.1, out.2.len()) == (link, to, first.len()) && to.is_some() && !first.is_empty()
        };
        while let Some(more) = self.out.get(next).filter(|out| count < most && is_alike(out)) {
            buf.extend(&more.2);
            (len, count) = (len + more.2.len(), count + 1);
            self.out.remove(next);
        }
        let segment = NonZeroUsize::new(first.len()).filter(|_| count > 1);
        let misstatement = usize::from(self.fault == Fault::MisstatesLength);
        Some(Transmit { link, to, from: None, ecn: None, len: len + misstatement, segment })
    }

    fn poll_event(&mut self) -> Option<String> {
        if self.is_endless && self.fault == Fault::TellsForEver {
            return Some(String::new());
        }
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }
}

struct ToySubject(Fault);

impl Subject for ToySubject {
    type Machine = Toy;

    fn build(&self, seed: [u8; 32]) -> Toy {
        Toy::new(self.0, seed)
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Datagrams(FAST), SubjectLink::Datagrams(SLOW), SubjectLink::Stream(LINES)]
    }

    fn datagrams(&self, _: [u8; 32]) -> Vec<Vec<u8>> {
        vec![b"hello".to_vec(), vec![7; 100], vec![8; 100]]
    }

    fn streams(&self, _: [u8; 32]) -> Vec<Vec<u8>> {
        vec![b"one\ntwo\nthree\n".to_vec(), [&[b'x'; LONGEST_LINE + 1][..], b"\nafter\n"].concat()]
    }

    fn command(&self, machine: &mut Toy, now: Instant, rng: &mut Rng) {
        machine.see(now);
        if rng.chance(0.1) {
            return machine.open_extra();
        }
        for _ in 0..rng.below(40) {
            machine.send(FAST, Some(self.peer()), vec![1; 10]);
        }
    }

    fn event_limit(&self) -> usize {
        EVENT_LIMIT
    }

    fn memory(&self, machine: &Toy) -> Option<Memory> {
        Some(Memory { used: machine.hoard.len(), limit: 1_000 })
    }

    fn dropped_events(&self, machine: &Toy) -> Option<u64> {
        Some(machine.dropped)
    }
}

#[test]
fn a_machine_that_keeps_the_laws_passes() {
    check(&ToySubject(Fault::None));
}

#[test]
fn each_fault_is_found_by_its_law() {
    let faults = [
        (Law::Drains, Fault::TellsForEver),
        (Law::Drains, Fault::SendsForEver),
        (Law::TellsLengths, Fault::MisstatesLength),
        (Law::TellsLengths, Fault::ExceedsSegments),
        (Law::TellsLengths, Fault::ClearsBuffer),
        (Law::DoesNotSpin, Fault::KeepsDeadline),
        (Law::KeepsTime, Fault::CountsEarlyTimeouts),
        (Law::KeepsTime, Fault::LetsTimeGoBack),
        (Law::TakesAnything, Fault::PanicsOnEmpty),
        (Law::TakesAnything, Fault::Hoards),
        (Law::RespectsBlocked, Fault::IgnoresBlocked),
        (Law::RespectsBlocked, Fault::BlocksEverything),
        (Law::IgnoresChunks, Fault::CountsChunks),
        (Law::IgnoresChunks, Fault::LimitsChunks),
        (Law::Repeats, Fault::Varies),
        (Law::BoundsEvents, Fault::QueuesForEver),
        (Law::BoundsEvents, Fault::DropsUncounted),
        (Law::RespectsDown, Fault::IgnoresDown),
        (Law::RespectsDown, Fault::ReopensEarly),
    ];
    assert!(Law::ALL.iter().all(|law| faults.iter().any(|(of, _)| of == law)));
    for (law, fault) in faults {
        let found = (0..8).find_map(|seed| check_law(&ToySubject(fault), law, seed).err());
        assert_eq!(found.map(|violation| violation.law), Some(law), "{fault:?}");
    }
}

/// Puts two toys on a network, joined by a datagram path and a stream, and lets one talk.
fn talk(fault: Fault) {
    let mut net = Network::new(1);
    let (a, b) = (net.add_node(Toy::new(fault, [1; 32])), net.add_node(Toy::new(Fault::None, [2; 32])));
    net.join_stream((a, LINES), (b, LINES), StreamConditions::default());
    net.set_paths(&Conditions::delayed(Duration::from_millis(1)));
    let to = net.address(b);
    net.command(a, |toy, _| (0..20).for_each(|_| toy.send(FAST, Some(to), vec![1; 10])));
    net.run_for(Duration::from_millis(10));
    net.command(a, |toy, _| (0..2).for_each(|_| toy.open_extra()));
    net.report(a, FAST, LinkEvent::Blocked);
    net.command(a, |toy, _| toy.send(FAST, Some(to), vec![1; 10]));
    net.report(a, FAST, LinkEvent::Writable);
    net.report(a, FAST, LinkEvent::Down(DownReason::Reset));
    net.command(a, |toy, _| toy.send(FAST, Some(to), vec![1; 10]));
    net.run_for(Duration::from_secs(1));
}

#[test]
fn a_network_watches_the_laws_that_show_in_a_drain() {
    let text = |fault| {
        let payload = std::panic::catch_unwind(|| talk(fault)).err()?;
        payload.downcast_ref::<String>().cloned()
    };
    talk(Fault::None);
    for (law, fault) in [
        (Law::Drains, Fault::TellsForEver),
        (Law::Drains, Fault::SendsForEver),
        (Law::TellsLengths, Fault::MisstatesLength),
        (Law::TellsLengths, Fault::ExceedsSegments),
        (Law::DoesNotSpin, Fault::KeepsDeadline),
        (Law::RespectsBlocked, Fault::IgnoresBlocked),
        (Law::RespectsDown, Fault::IgnoresDown),
        (Law::RespectsDown, Fault::ReopensEarly),
    ] {
        let text = text(fault).unwrap_or_default();
        assert!(text.contains(&format!("law {} ", law.number())), "{fault:?} gave {text:?}");
    }
}
