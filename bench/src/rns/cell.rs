//! The cells: which work is done.

use std::time::Duration;

use bench_peer::rns::{Kind, Mtu, Work};

use crate::compile::Binary;

/// One scenario that every peer is measured in.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// Unique; `--filter` matches a part of it.
    pub(crate) name: &'static str,
    pub(crate) work: Work,
}

/// How long and how often is measured.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    pub(crate) repetitions: usize,
    pub(crate) warmup: Duration,
    pub(crate) time: Duration,
}

impl Pace {
    pub(crate) fn full() -> Self {
        Self { repetitions: 3, warmup: Duration::from_millis(500), time: Duration::from_secs(4) }
    }

    pub(crate) fn quick() -> Self {
        Self { repetitions: 3, warmup: Duration::from_millis(200), time: Duration::from_secs(1) }
    }
}

impl Cell {
    /// Whether what is measured is a relay between two connections of a driver.
    pub(crate) fn is_relayed(&self) -> bool {
        matches!(self.work.kind, Kind::RelayedPacket | Kind::RelayedPart)
    }

    /// Whether bytes tell more than operations.
    pub(crate) fn is_bulk(&self) -> bool {
        match self.work.kind {
            Kind::Packet | Kind::Message | Kind::Request => false,
            Kind::Resource | Kind::RelayedPacket | Kind::RelayedPart => true,
        }
    }

    /// What the processes are: the one that begins everything, and the one that is reached.
    pub(crate) fn roles(&self) -> [&'static str; 2] {
        if self.is_relayed() { ["driver", "relay"] } else { ["initiator", "responder"] }
    }
}

/// All cells of a run, in the order in which they are measured.
pub(crate) fn cells() -> Vec<Cell> {
    let small = 60..=380;
    let segment = SEGMENT..=SEGMENT;
    let stream = 64 * SEGMENT..=64 * SEGMENT;
    let cell =
        |name, kind, window, links, sizes, mtu| Cell { name, work: Work { kind, window, links, sizes, mtu } };
    vec![
        cell("packet", Kind::Packet, 16, 1, small.clone(), MATCHED),
        cell("message", Kind::Message, 16, 1, small, MATCHED),
        cell("request", Kind::Request, 1, 4, 1024..=4096, Mtu::Fixed(500)),
        cell("segment", Kind::Resource, 1, 1, segment.clone(), Mtu::Default),
        cell("segment-16k", Kind::Resource, 1, 1, segment, MATCHED),
        cell("stream", Kind::Resource, 1, 1, stream.clone(), Mtu::Default),
        cell("stream-16k", Kind::Resource, 1, 1, stream, MATCHED),
        cell("relay-raw", Kind::RelayedPacket, 256, 1, 240..=240, Mtu::Default),
        cell("relay-parts", Kind::RelayedPart, 64, 1, 8..=8, Mtu::Default),
        cell("relay-parts-16k", Kind::RelayedPart, 64, 1, 8..=8, MATCHED),
    ]
}

/// The program around relays.
pub(crate) const DRIVER: Binary = Binary::Iolite("rns-driver");

/// The bytes of the largest resource that is one segment.
const SEGMENT: usize = (1 << 20) - 1;
/// The longest frame that the reference's TCP interfaces have of themselves.
const MATCHED: Mtu = Mtu::Fixed(16_384);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_no_policy_is_measured_without_its_match() {
        let cells = cells();
        let names: HashSet<_> = cells.iter().map(|cell| cell.name).collect();
        assert_eq!(names.len(), cells.len());
        for matched in cells.iter().filter(|cell| cell.name.ends_with("-16k")) {
            let default = matched.name.trim_end_matches("-16k");
            let default = cells.iter().find(|cell| cell.name == default).unwrap();
            assert_eq!(Work { mtu: Mtu::Default, ..matched.work.clone() }, default.work);
        }
    }
}
