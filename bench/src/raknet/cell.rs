//! The cells: which traffic is measured over which network.

use std::time::Duration;

use bench_peer::Load;

/// One profile that every peer is measured in.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// Unique; `--filter` matches a part of it.
    pub(crate) name: String,
    pub(crate) network: Network,
    pub(crate) kind: Kind,
    /// Bytes of one message.
    pub(crate) size: usize,
    pub(crate) connections: u32,
    /// Messages of one connection that may await their echo.
    pub(crate) window: u32,
}

/// The network between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Network {
    /// Loopback as the operating system sets it up.
    Plain,
    /// Loopback with the MTU of Ethernet and without segmentation offload; of 1,000 packets in either
    /// direction `loss_per_mille` are dropped at random.
    Limited { loss_per_mille: u32 },
}

/// What a cell asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Payload echoed in a fixed time.
    Throughput,
    /// Round trips of single messages on an idle connection.
    SparseLatency,
    /// Round trips while every window is full.
    LoadLatency,
}

/// How long and how often is measured.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    pub(crate) repetitions: usize,
    burst: Duration,
    /// Many connections need a while until all of them have had a turn.
    burst_of_many: Duration,
    sparse_samples: u32,
    sparse_warmup: u32,
}

impl Pace {
    pub(crate) fn full() -> Self {
        Self {
            repetitions: 3,
            burst: Duration::from_millis(700),
            burst_of_many: Duration::from_millis(1200),
            sparse_samples: 10_000,
            sparse_warmup: 1_000,
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            repetitions: 3,
            burst: Duration::from_millis(200),
            burst_of_many: Duration::from_millis(500),
            sparse_samples: 2_000,
            sparse_warmup: 200,
        }
    }
}

impl Cell {
    pub(crate) fn load(&self, pace: &Pace) -> Load {
        let sparse = self.kind == Kind::SparseLatency;
        Load {
            size: self.size,
            connections: self.connections,
            window: self.window,
            // Bursts end by the clock: a peer that is slow under loss takes no longer than a fast one.
            count: if sparse { pace.sparse_samples } else { 1_000_000_000 },
            warmup: if sparse { pace.sparse_warmup } else { WARMUP },
            time_limit: match self.kind {
                Kind::SparseLatency => SPARSE_LIMIT,
                Kind::Throughput | Kind::LoadLatency if self.connections >= MANY => pace.burst_of_many,
                Kind::Throughput | Kind::LoadLatency => pace.burst,
            },
            latency: self.kind != Kind::Throughput,
        }
    }
}

impl Network {
    pub(crate) fn loss_per_mille(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Limited { loss_per_mille } => loss_per_mille,
        }
    }
}

/// All cells of a run, in the order in which they are measured.
pub(crate) fn cells(quick: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for loss in [0, 10, 50] {
        cells.extend([64, 800, 4096].map(|size| throughput(1, size, limited(loss))));
    }
    cells.extend([64, 800, 4096].map(|size| throughput(1, size, Network::Plain)));
    cells.extend([64, 800].map(sparse));
    let connections: &[u32] = if quick { &[64] } else { &[64, 256, 1024, 2048] };
    let losses: &[u32] = if quick { &[0] } else { &[0, 10] };
    for &loss in losses {
        for size in [64, 800] {
            cells.extend(connections.iter().map(|&connections| throughput(connections, size, limited(loss))));
        }
    }
    if !quick {
        for size in [64, 800] {
            cells.extend([64, 1024].map(|connections| under_load(connections, size)));
        }
    }
    cells
}

fn throughput(connections: u32, size: usize, network: Network) -> Cell {
    let prefix = if network == Network::Plain { "plain-" } else { "" };
    let name = format!("{prefix}{connections}c-{size}-{}%", network.loss_per_mille() / 10);
    Cell { name, network, kind: Kind::Throughput, size, connections, window: window(connections) }
}

fn sparse(size: usize) -> Cell {
    let name = format!("sparse-{size}");
    Cell { name, network: limited(0), kind: Kind::SparseLatency, size, connections: 1, window: 1 }
}

fn under_load(connections: u32, size: usize) -> Cell {
    let name = format!("load-{connections}c-{size}");
    let window = window(connections);
    Cell { name, network: limited(0), kind: Kind::LoadLatency, size, connections, window }
}

fn limited(loss_per_mille: u32) -> Network {
    Network::Limited { loss_per_mille }
}

fn window(connections: u32) -> u32 {
    if connections == 1 { 64 } else { 16 }
}

const WARMUP: u32 = 20;
/// From here on a burst is one of many connections.
const MANY: u32 = 1000;
const SPARSE_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_full_run_covers_the_profiles_and_names_are_unique() {
        let cells = cells(false);
        let names: HashSet<_> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names.len(), cells.len());
        for name in ["1c-64-0%", "1c-4096-5%", "plain-1c-800-0%", "sparse-800", "2048c-800-1%", "load-64c-64"]
        {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn one_connection_has_64_messages_in_flight_and_each_of_many_has_16() {
        let pace = Pace::full();
        for cell in cells(false).iter().filter(|cell| cell.kind != Kind::SparseLatency) {
            assert_eq!(cell.load(&pace).window, if cell.connections == 1 { 64 } else { 16 }, "{}", cell.name);
        }
    }

    #[test]
    fn the_quick_run_measures_a_part_of_the_full_one() {
        let full: HashSet<_> = cells(false).into_iter().map(|cell| cell.name).collect();
        assert!(cells(true).iter().all(|cell| full.contains(&cell.name)));
    }
}
