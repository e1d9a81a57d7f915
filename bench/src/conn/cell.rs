//! The cells: a scheme and the size of its messages.

use std::time::Duration;

use bench_peer::conn::Scheme;

/// One scenario that every contender of its scheme is measured in.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// Unique; `--filter` matches a part of it.
    pub(crate) name: String,
    pub(crate) scheme: Scheme,
    /// Bytes of a message.
    pub(crate) size: usize,
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
        Self { repetitions: 5, warmup: Duration::from_millis(100), time: Duration::from_millis(700) }
    }

    pub(crate) fn quick() -> Self {
        Self { repetitions: 3, warmup: Duration::from_millis(50), time: Duration::from_millis(300) }
    }

    /// More repetitions, as differences between neighbours are small.
    pub(crate) fn sweep(self) -> Self {
        Self { repetitions: 4 * self.repetitions, ..self }
    }
}

/// All cells of a run, in the order in which they are measured.
pub(crate) fn cells() -> Vec<Cell> {
    Scheme::ALL
        .into_iter()
        .flat_map(|scheme| sizes(scheme).iter().map(move |&size| cell(scheme, size)))
        .collect()
}

/// The cells in which it matters into how large sends a message is cut.
pub(crate) fn sweep_cells() -> Vec<Cell> {
    [Scheme::Ws, Scheme::Https].map(|scheme| cell(scheme, MIB)).to_vec()
}

/// The sizes of a scheme's messages.
pub(crate) fn sizes(scheme: Scheme) -> &'static [usize] {
    if scheme.is_datagram() { &[64, 1024, 60_000] } else { &[64, MIB / 8, MIB] }
}

/// What the cell of a scheme and a size is called.
pub(crate) fn name(scheme: Scheme, size: usize) -> String {
    format!("{scheme}-{size}")
}

fn cell(scheme: Scheme, size: usize) -> Cell {
    Cell { name: name(scheme, size), scheme, size }
}

const MIB: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_scheme_is_measured_with_small_and_large_messages_and_names_are_unique() {
        let cells = cells();
        let names: HashSet<_> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names.len(), cells.len());
        for name in ["http-64", "wss-131072", "https-1048576", "udp-1024", "udp_multicast-60000"] {
            assert!(names.contains(name), "{name}");
        }
    }
}
