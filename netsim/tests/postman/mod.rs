//! The machine of the tests: sends what it is told to and tells what it gets.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use proto_core::{
    Datagram, DownReason, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit,
};
use std::{
    collections::{BTreeSet, VecDeque},
    net::SocketAddr,
    num::NonZeroUsize,
    time::Duration,
};

pub const LINK: LinkId = LinkId(0);
pub const STREAM: LinkId = LinkId(1);

/// Sends and tells. Equal datagrams to one destination leave as a batch.
#[derive(Debug, Default)]
pub struct Postman {
    pub reads: bool,
    pub largest_batch: usize,
    out: VecDeque<(LinkId, Option<SocketAddr>, Vec<u8>)>,
    events: VecDeque<Told>,
    requests: VecDeque<LinkRequest>,
    blocked: BTreeSet<LinkId>,
    alarm: Option<Instant>,
}

/// What a postman tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Got(SocketAddr, Vec<u8>),
    Read(LinkId, Vec<u8>),
    Link(LinkId, LinkEvent),
    Alarm(Instant),
}

impl Postman {
    pub fn new() -> Self {
        Self { reads: true, ..Self::default() }
    }

    pub fn send(&mut self, to: SocketAddr, data: &[u8]) {
        self.out.push_back((LINK, Some(to), data.to_vec()));
    }

    pub fn write(&mut self, link: LinkId, data: &[u8]) {
        self.out.push_back((link, None, data.to_vec()));
    }

    pub fn open(&mut self, link: LinkId, spec: LinkSpec) {
        self.requests.push_back(LinkRequest::Open { link, spec });
    }

    pub fn close(&mut self, link: LinkId) {
        self.requests.push_back(LinkRequest::Close { link });
    }

    pub fn wake_after(&mut self, now: Instant, duration: Duration) {
        self.alarm = Some(now + duration);
    }
}

impl Machine for Postman {
    type Event = Told;

    fn handle_datagram(&mut self, _: Instant, datagram: Datagram<'_>) {
        self.events.push_back(Told::Got(datagram.from, datagram.data.to_vec()));
    }

    fn handle_stream(&mut self, _: Instant, link: LinkId, data: &mut [u8]) {
        self.events.push_back(Told::Read(link, data.to_vec()));
    }

    fn handle_link(&mut self, _: Instant, link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Blocked => {
                self.blocked.insert(link);
            }
            LinkEvent::Writable => {
                self.blocked.remove(&link);
            }
            LinkEvent::Down(_) => self.out.retain(|(on, ..)| *on != link),
            LinkEvent::Up { .. }
            | LinkEvent::Eof
            | LinkEvent::Resolved { .. }
            | LinkEvent::TooBig { .. }
            | _ => {}
        }
        self.events.push_back(Told::Link(link, event));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(at) = self.alarm.take_if(|at| *at <= now) {
            self.events.push_back(Told::Alarm(at));
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(&mut self, _: Instant, max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        let at = self.out.iter().position(|(link, ..)| !self.blocked.contains(link))?;
        let (link, to, data) = self.out.remove(at)?;
        buf.extend(&data);
        let mut count = 1;
        let batches = to.is_some() && !data.is_empty();
        while batches
            && count < max.get()
            && self.out.get(at).is_some_and(|next| *next == (link, to, data.clone()))
        {
            self.out.remove(at);
            buf.extend(&data);
            count += 1;
        }
        self.largest_batch = self.largest_batch.max(count);
        let segment = NonZeroUsize::new(data.len()).filter(|_| count > 1);
        Some(Transmit { link, to, from: None, ecn: None, len: buf.len(), segment })
    }

    fn poll_event(&mut self) -> Option<Told> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.alarm
    }

    fn wants_read(&self, _: LinkId) -> bool {
        self.reads
    }
}

/// Returns the payloads of datagrams among what was told.
pub fn payloads(told: Vec<Told>) -> Vec<Vec<u8>> {
    told.into_iter()
        .filter_map(|told| if let Told::Got(_, data) = told { Some(data) } else { None })
        .collect()
}

/// Returns the stream bytes among what was told.
pub fn stream_bytes(told: &[Told], of: LinkId) -> Vec<u8> {
    let chunk =
        |told: &Told| if let Told::Read(link, data) = told { Some((*link, data.clone())) } else { None };
    told.iter().filter_map(chunk).filter(|(link, _)| *link == of).flat_map(|(_, data)| data).collect()
}

/// Says whether a link was reported down for a reason.
pub fn went_down(told: &[Told], link: LinkId, reason: DownReason) -> bool {
    told.contains(&Told::Link(link, LinkEvent::Down(reason)))
}
