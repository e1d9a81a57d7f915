//! The measurement: both directions at once, each with its window.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use bench_peer::{
    Fault,
    rns::{Command, Content, Gauge, Report, Tally},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    frames::{Drain, Source, content},
    route::Route,
    shore::Shore,
};

/// Frames on their way in both directions.
pub(crate) struct Flood<'a> {
    command: &'a Command,
    content: Content,
    ends: [End; 2],
    link_mtu: Option<usize>,
    input: Vec<u8>,
}

/// One connection: the source of one direction and the drain of the other.
struct End {
    stream: TcpStream,
    source: Source,
    drain: Drain,
    out: Vec<u8>,
    written: usize,
}

impl<'a> Flood<'a> {
    pub(crate) fn new(command: &'a Command, route: Route, shores: [Shore; 2]) -> Result<Self, Fault> {
        let content = content(&command.work, route.link_mtu);
        let [there, back] = route.courses;
        let [a, b] = shores;
        let end = |shore: Shore, out, back| End {
            stream: shore.stream,
            source: Source::new(&out, &content),
            drain: Drain::new(&back),
            out: Vec::new(),
            written: 0,
        };
        let ends = [end(a, there, back), end(b, back, there)];
        Ok(Self { command, content, ends, link_mtu: route.link_mtu, input: vec![0; PIECE] })
    }

    /// Warms up, measures, and waits for what is still on its way.
    pub(crate) fn run(mut self) -> Result<Report, Fault> {
        self.phase(self.command.warmup)?;
        let warm = self.settled();
        let begin = Gauge::read(self.command.partner);
        self.phase(self.command.time)?;
        let end = Gauge::read(self.command.partner);
        let (own, partner) = begin.until(&end);
        let settled = self.settled();
        Ok(Report {
            seconds: (end.at() - begin.at()).as_secs_f64(),
            operations: settled.count - warm.count,
            bytes: settled.bytes - warm.bytes,
            rtt: None,
            begun: sum(self.ends.each_ref().map(|end| end.source.begun)),
            settled,
            own,
            partner,
            link_mtu: self.link_mtu,
        })
    }

    fn phase(&mut self, time: Duration) -> Result<(), Fault> {
        let until = Instant::now() + time;
        let mut last_progress = Instant::now();
        loop {
            let now = Instant::now();
            let before = self.settled().count;
            let mut moved = false;
            for at in 0..self.ends.len() {
                if now < until {
                    self.refill(at);
                }
                moved |= self.write(at)? | self.read(at)?;
            }
            let settled = self.settled().count;
            if now >= until && settled == sum(self.ends.each_ref().map(|end| end.source.begun)).count {
                return Ok(());
            }
            if settled > before {
                last_progress = now;
            } else if now - last_progress > PATIENCE {
                // What is missing shows in the report.
                return Ok(());
            }
            if !moved {
                self.wait()?;
            }
        }
    }

    /// Frames as many as the window allows, if nothing waits to be written.
    fn refill(&mut self, at: usize) {
        let settled = self.ends.get(1 - at).map_or(0, |other| other.drain.settled.count);
        let Some(end) = self.ends.get_mut(at).filter(|end| end.out.is_empty()) else { return };
        let window = self.command.work.window as u64;
        while end.source.begun.count - settled < window && end.out.len() < PIECE {
            end.source.append(&mut end.out);
        }
    }

    fn write(&mut self, at: usize) -> Result<bool, Fault> {
        let Some(end) = self.ends.get_mut(at) else { return Ok(false) };
        let Some(rest) = end.out.get(end.written..).filter(|rest| !rest.is_empty()) else { return Ok(false) };
        match end.stream.write(rest) {
            Ok(len) => end.written += len,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        if end.written == end.out.len() {
            end.out.clear();
            end.written = 0;
        }
        Ok(true)
    }

    fn read(&mut self, at: usize) -> Result<bool, Fault> {
        let Some(end) = self.ends.get_mut(at) else { return Ok(false) };
        match end.stream.read(&mut self.input) {
            Ok(0) => Err("the relay closed the connection".into()),
            Ok(len) => {
                end.drain.feed(&self.content, self.input.get_mut(..len).unwrap_or_default());
                end.drain.fault.take().map_or(Ok(true), Err)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sleeps until a connection can be read, or written where something waits.
    fn wait(&self) -> Result<(), Fault> {
        let mut wanted = self.ends.each_ref().map(|end| {
            let write = if end.out.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            PollFd::new(&end.stream, PollFlags::IN | write)
        });
        let patience = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        poll(&mut wanted, Some(&patience))?;
        Ok(())
    }

    fn settled(&self) -> Tally {
        sum(self.ends.each_ref().map(|end| end.drain.settled))
    }
}

fn sum([a, b]: [Tally; 2]) -> Tally {
    Tally { count: a.count + b.count, bytes: a.bytes + b.bytes, numbers: a.numbers.wrapping_add(b.numbers) }
}

/// How much is written and read at a time.
const PIECE: usize = 256 << 10;
/// How long frames may be missing before they count as lost.
const PATIENCE: Duration = Duration::from_secs(3);
