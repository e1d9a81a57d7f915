//! Shapes of networks.

use super::Mesh;
use netsim::NodeId;
use proto_core::Rng;

/// How nodes are connected.
#[derive(Clone, Copy, Debug)]
pub enum Topology {
    /// One after the other.
    Line,
    /// As a line whose ends meet.
    Ring,
    /// All to the first.
    Star,
    /// Each to an earlier one, and some more at random.
    Random {
        /// Connections beyond those that keep it together.
        extra: usize,
        /// What the choice depends on.
        seed: u64,
    },
}

impl Topology {
    /// Adds so many transport nodes, connected in this shape.
    pub fn build(self, mesh: &mut Mesh<'_>, count: usize) -> Vec<NodeId> {
        let nodes: Vec<NodeId> = (0..count).map(|_| mesh.transport()).collect();
        for (from, to) in self.edges(count) {
            mesh.connect(nodes[from], nodes[to]);
        }
        nodes
    }

    /// Returns which places are connected.
    pub fn edges(self, count: usize) -> Vec<(usize, usize)> {
        let line = (1..count).map(|place| (place, place - 1));
        match self {
            Self::Line => line.collect(),
            Self::Ring => line.chain([(0, count - 1)]).collect(),
            Self::Star => (1..count).map(|place| (place, 0)).collect(),
            Self::Random { extra, seed } => {
                let mut rng = Rng::from_u64(seed);
                let mut below = move |bound: usize| usize::try_from(rng.below(bound as u64)).unwrap_or(0);
                let mut edges: Vec<_> = (1..count).map(|place| (place, below(place))).collect();
                for _ in 0..extra {
                    let (a, b) = (below(count), below(count));
                    if a != b && !edges.contains(&(a, b)) && !edges.contains(&(b, a)) {
                        edges.push((a, b));
                    }
                }
                edges
            }
        }
    }
}
