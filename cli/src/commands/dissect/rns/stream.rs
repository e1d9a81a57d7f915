//! From TCP segments to frames.

use netsim::capture::TcpSegment;
use proto_rns::iface::{Deframer, Framing, MAX_MTU};
use std::{collections::BTreeMap, net::SocketAddr};

/// The directions of all connections in the capture, 1,024 at most; further ones are left out.
#[derive(Debug)]
pub(super) struct Streams {
    framing: Framing,
    directions: BTreeMap<(SocketAddr, SocketAddr), Direction>,
}

/// One direction of a connection. Segments that come early wait, 256 at most; what the capture lacks is skipped.
#[derive(Debug)]
struct Direction {
    next: Option<u32>,
    early: BTreeMap<u32, Vec<u8>>,
    deframer: Deframer,
}

impl Streams {
    /// Creates the reader of streams that are all framed alike.
    pub(super) const fn new(framing: Framing) -> Self {
        Self { framing, directions: BTreeMap::new() }
    }

    /// Takes in a segment; returns the frames that are whole with it.
    pub(super) fn take_in(&mut self, segment: &TcpSegment<'_>) -> Vec<Vec<u8>> {
        let ends = (segment.from, segment.to);
        if self.directions.len() >= MOST_DIRECTIONS && !self.directions.contains_key(&ends) {
            return Vec::new();
        }
        let direction = self.directions.entry(ends).or_insert_with(|| Direction::new(self.framing));
        let mut frames = Vec::new();
        if segment.opens {
            *direction = Direction::new(self.framing);
            direction.next = Some(segment.sequence.wrapping_add(1));
        } else if !segment.payload.is_empty() {
            direction.take_in(segment, &mut frames);
        }
        if segment.ends {
            self.directions.remove(&ends);
        }
        frames
    }
}

impl Direction {
    const fn new(framing: Framing) -> Self {
        // The longest access code comes on top of the longest packet.
        Self { next: None, early: BTreeMap::new(), deframer: Deframer::new(framing, MAX_MTU + 64) }
    }

    fn take_in(&mut self, segment: &TcpSegment<'_>, frames: &mut Vec<Vec<u8>>) {
        let next = *self.next.get_or_insert(segment.sequence);
        if is_before(segment.sequence, next) {
            // Sent again; the end may be new.
            let known = usize::try_from(next.wrapping_sub(segment.sequence)).unwrap_or(usize::MAX);
            if let Some(new) = segment.payload.get(known..).filter(|new| !new.is_empty()) {
                self.read(new, frames);
            }
        } else if segment.sequence == next {
            self.read(segment.payload, frames);
        } else {
            self.early.insert(segment.sequence, segment.payload.to_vec());
        }
        self.read_early(frames);
    }

    /// Reads what waited, once its turn has come or the capture lacks what is before.
    fn read_early(&mut self, frames: &mut Vec<Vec<u8>>) {
        while let Some((&sequence, _)) = self.early.first_key_value() {
            let next = self.next.unwrap_or(sequence);
            let is_due = !is_before(next, sequence);
            if !is_due && self.early.len() <= MOST_EARLY {
                return;
            }
            let Some((_, payload)) = self.early.pop_first() else { return };
            if is_due {
                let known = usize::try_from(next.wrapping_sub(sequence)).unwrap_or(usize::MAX);
                self.read(payload.get(known..).unwrap_or_default(), frames);
            } else {
                self.deframer.reset();
                self.next = Some(sequence);
                self.read(&payload, frames);
            }
        }
    }

    fn read(&mut self, bytes: &[u8], frames: &mut Vec<Vec<u8>>) {
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.next = self.next.map(|next| next.wrapping_add(len));
        self.deframer.feed(&mut bytes.to_vec(), |frame| frames.push(frame.to_vec()));
    }
}

/// Says whether `a` is before `b` in the circle of sequence numbers.
const fn is_before(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 1 << 31
}

const MOST_DIRECTIONS: usize = 1_024;
const MOST_EARLY: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(framing: Framing, contents: &[&[u8]]) -> Vec<u8> {
        let mut stream = Vec::new();
        contents.iter().for_each(|content| framing.frame(&[content], &mut stream));
        stream
    }

    fn segment(sequence: u32, payload: &[u8]) -> TcpSegment<'_> {
        let (from, to) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        TcpSegment { from, to, sequence, opens: false, ends: false, payload }
    }

    #[test]
    fn frames_are_found_however_segments_cut_repeat_and_swap_them() {
        let (one, two) = ([0x7e; 40], [0x7d; 50]);
        for framing in [Framing::Hdlc, Framing::Kiss] {
            let stream = framed(framing, &[&one, &two]);
            let start = u32::MAX - 20;
            let cut = |from: usize, to: usize| {
                segment(start.wrapping_add(u32::try_from(from).unwrap()), &stream[from..to])
            };
            let mut streams = Streams::new(framing);
            let parts = [cut(0, 10), cut(30, 60), cut(5, 30), cut(10, 30), cut(60, stream.len())];
            let frames: Vec<_> = parts.iter().flat_map(|part| streams.take_in(part)).collect();
            assert_eq!(frames, [one.to_vec(), two.to_vec()], "{framing:?}");
        }
    }

    #[test]
    fn a_hole_in_the_capture_costs_only_the_frames_in_it() {
        let content = [7; 30];
        let stream = framed(Framing::Hdlc, &[&content]);
        let mut streams = Streams::new(Framing::Hdlc);
        let mut found = streams.take_in(&segment(0, &stream)).len();
        for number in 2..400 {
            found += streams.take_in(&segment(number * 32, &stream)).len();
        }
        assert!(found > 100, "{found}");
    }
}
