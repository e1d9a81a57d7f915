//! A single machine on the test bench: it is given a script, and all that it puts out is recorded.

use super::{
    Law, Ledger, Subject, Violation,
    script::{Input, Step, machine_seed},
};
use crate::driver;
use proto_core::{Datagram, Flow, Instant, LinkId, LinkRequest, Machine, Rng, Sink, Transmit};
use std::{fmt::Debug, num::NonZeroUsize};

/// A machine and what came out of it.
pub(super) struct Rig<'a, S: Subject> {
    pub(super) subject: &'a S,
    pub(super) machine: S::Machine,
    pub(super) recorder: Recorder,
    ledger: Ledger,
    scratch: Vec<u8>,
    /// The latest time that the machine has seen.
    now: Instant,
}

impl<'a, S: Subject> Rig<'a, S> {
    /// How many deadlines a machine may have between two inputs; the time after them is skipped.
    const DEADLINES_LIMIT: usize = 200;

    pub(super) fn new(subject: &'a S, seed: u64) -> Self {
        let batch = 1 + Rng::from_u64(seed).below(16) as usize;
        Self {
            subject,
            machine: subject.build(machine_seed(seed)),
            recorder: Recorder::new(NonZeroUsize::new(batch).unwrap_or(NonZeroUsize::MIN)),
            ledger: Ledger::default(),
            scratch: Vec::new(),
            now: subject.start(),
        }
    }

    /// Plays a whole script.
    pub(super) fn play(&mut self, script: &[Step]) -> Result<(), Violation> {
        script.iter().try_for_each(|step| self.step(step))
    }

    /// Lets time pass up to a step, plays it, and checks memory.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), Violation> {
        self.pass_time(step.at)?;
        self.give(step.at, &step.input);
        if step.drains {
            self.drain()?;
        }
        self.check_memory()
    }

    /// Wakes the machine at each of its deadlines up to `until`.
    pub(super) fn pass_time(&mut self, until: Instant) -> Result<(), Violation> {
        for _ in 0..Self::DEADLINES_LIMIT {
            let Some(due) = self.machine.poll_timeout().filter(|due| *due <= until) else { break };
            self.now = self.now.max(due);
            self.drain()?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Gives an input and nothing else.
    pub(super) fn give(&mut self, at: Instant, input: &Input) {
        match input {
            Input::Datagram { link, from, data } => {
                if self.machine.wants_read(*link) {
                    self.machine.handle_datagram(at, Datagram::new(*link, *from, &mut data.clone()));
                }
            }
            Input::Stream { link, data } => {
                if self.machine.wants_read(*link) {
                    driver::feed_stream(&mut self.machine, at, *link, &mut data.clone());
                }
            }
            Input::Link { link, event } => {
                self.ledger.note_event(*link, event);
                self.machine.handle_link(at, *link, event.clone());
            }
            Input::Timeout => self.machine.handle_timeout(at),
            Input::Command(seed) => self.subject.command(&mut self.machine, at, &mut Rng::from_u64(*seed)),
        }
    }

    /// Drains the machine at the latest time it has seen.
    pub(super) fn drain(&mut self) -> Result<(), Violation> {
        driver::drain(&mut self.machine, self.now, &mut self.ledger, &mut self.scratch, &mut self.recorder)
    }

    pub(super) fn check_memory(&self) -> Result<(), Violation> {
        match self.subject.memory(&self.machine) {
            Some(memory) if memory.used > memory.limit => Err(Violation::new(
                Law::TakesAnything,
                format!("{} bytes are in use where {} are allowed", memory.used, memory.limit),
            )),
            _ => Ok(()),
        }
    }

    pub(super) const fn now(&self) -> Instant {
        self.now
    }
}

/// Something that a machine put out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Transmit(Transmit, Vec<u8>),
    Request(LinkRequest),
    /// As its `Debug` shows it, since events need not be comparable.
    Event(String),
}

impl Output {
    fn as_event(&self) -> Option<&str> {
        match self {
            Self::Event(event) => Some(event),
            Self::Transmit(..) | Self::Request(_) => None,
        }
    }
}

/// A sink that keeps everything.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) outputs: Vec<Output>,
    pub(super) max_segments: NonZeroUsize,
}

impl Recorder {
    const fn new(max_segments: NonZeroUsize) -> Self {
        Self { outputs: Vec::new(), max_segments }
    }

    /// Returns the events in order.
    pub(super) fn events(&self) -> Vec<&str> {
        self.outputs.iter().filter_map(Output::as_event).collect()
    }

    /// Returns all bytes sent on a link.
    pub(super) fn bytes_on(&self, on: LinkId) -> Vec<u8> {
        let mut all = Vec::new();
        for output in &self.outputs {
            if let Output::Transmit(Transmit { link, .. }, bytes) = output
                && *link == on
            {
                all.extend_from_slice(bytes);
            }
        }
        all
    }
}

impl<E: Debug> Sink<E> for Recorder {
    fn max_segments(&self) -> NonZeroUsize {
        self.max_segments
    }

    fn link(&mut self, request: LinkRequest) {
        self.outputs.push(Output::Request(request));
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        self.outputs.push(Output::Transmit(*transmit, bytes.to_vec()));
        Flow::Sent
    }

    fn event(&mut self, event: E) {
        self.outputs.push(Output::Event(format!("{event:?}")));
    }
}

/// Describes where two records part, or nothing where they are the same.
pub(super) fn first_difference<T: Debug + PartialEq>(expected: &[T], got: &[T]) -> Option<String> {
    let len = expected.len().max(got.len());
    let at = (0..len).find(|&at| expected.get(at) != got.get(at))?;
    Some(format!("output {at} is {:?} instead of {:?}", got.get(at), expected.get(at)))
}
