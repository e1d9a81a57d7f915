//! Making and checking frames at memory speed.

use bench_peer::{
    Fault,
    rns::{Content, Kind, Tally, Work},
};
use proto_rns::{
    iface::{Deframer, Framing},
    wire::Packet,
};

use crate::route::Course;

/// Makes the frames of one direction: all that they have in common is framed once.
pub(crate) struct Source {
    head: Vec<u8>,
    tail: Vec<u8>,
    size: usize,
    pub(crate) begun: Tally,
    number: Vec<u8>,
}

impl Source {
    pub(crate) fn new(course: &Course, content: &Content) -> Self {
        let size = content.size(0);
        let head = escaped(&course.header().to_vec());
        let tail = escaped(content.of(0).get(NUMBER..).unwrap_or_default());
        Self { head, tail, size, begun: Tally::default(), number: Vec::new() }
    }

    /// Appends the next frame.
    pub(crate) fn append(&mut self, out: &mut Vec<u8>) {
        let number = self.begun.count;
        self.begun.add(number, self.size);
        self.number.clear();
        Framing::Hdlc.frame(&[&number.to_le_bytes()], &mut self.number);
        let flag = self.number.first().copied();
        out.extend(flag);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(unflagged(&self.number));
        out.extend_from_slice(&self.tail);
        out.extend(flag);
    }
}

/// Checks the frames of one direction.
pub(crate) struct Drain {
    course: Course,
    deframer: Deframer,
    pub(crate) settled: Tally,
    pub(crate) fault: Option<Fault>,
}

impl Drain {
    pub(crate) fn new(course: &Course) -> Self {
        Self {
            course: *course,
            deframer: Deframer::new(Framing::Hdlc, LONGEST),
            settled: Tally::default(),
            fault: None,
        }
    }

    /// Takes in a piece of the stream. Frames for others, such as announces, are none of its business.
    pub(crate) fn feed(&mut self, content: &Content, piece: &mut [u8]) {
        let Self { course, deframer, settled, fault } = self;
        deframer.feed(piece, |frame| match Packet::parse(frame) {
            Ok(packet) if course.carries(&packet) => match content.check(packet.data) {
                Ok(number) => settled.add(number, packet.data.len()),
                Err(error) => *fault = Some(error),
            },
            Ok(_) => {}
            Err(error) => *fault = Some(error.into()),
        });
    }
}

/// The contents of the frames: packets are as long as was asked for, parts as long as the link allows.
pub(crate) fn content(work: &Work, link_mtu: Option<usize>) -> Content {
    let part = link_mtu.map(|mtu| mtu.saturating_sub(Packet::LONG_HEADER + 1));
    let sizes = match (work.kind, part) {
        (Kind::RelayedPart, Some(part)) => part..=part,
        _ => *work.sizes.start()..=*work.sizes.start(),
    };
    Content::new(&Work { sizes, ..work.clone() })
}

/// Bytes as they stand in a frame.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    Framing::Hdlc.frame(&[bytes], &mut frame);
    unflagged(&frame).to_vec()
}

/// What is between the flags.
fn unflagged(frame: &[u8]) -> &[u8] {
    frame.get(1..frame.len().saturating_sub(1)).unwrap_or_default()
}

const NUMBER: usize = size_of::<u64>();
const LONGEST: usize = 1 << 19;
