//! The pairs of programs, and the cells that each of them can take part in.

use super::cell::Cell;
use crate::compile::Binary;
use crate::document::Standing;
use crate::python::Sources;
use crate::row::{Named, OURS};

/// A pair of nodes; relays are the responder's program.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    about: &'static str,
    pub(crate) initiator: Program,
    pub(crate) responder: Program,
}

/// A program that takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Iolite,
    /// personal-rns with its cryptography in line.
    Prns,
    /// personal-rns with its pool of threads for cryptography.
    PrnsPool,
    /// The reference.
    Python,
    /// No node at all: bytes of one connection go to the other.
    Splice,
}

/// Every peer, in the order of the tables' columns.
pub(crate) static ALL: &[Peer] = &[
    peer(OURS, "Iolite through tokio", Program::Iolite, Program::Iolite),
    peer(
        "prns",
        "personal-rns 0.3.7 with PRNS_CRYPTO_POOL=0, which suits two processors",
        Program::Prns,
        Program::Prns,
    ),
    peer("prns-pool", "personal-rns 0.3.7 as it comes", Program::PrnsPool, Program::PrnsPool),
    peer("rns", "the Python reference, PyPI rns 1.5.7", Program::Python, Program::Python),
    peer("rns-iolite", "from the reference to Iolite", Program::Python, Program::Iolite),
    peer("iolite-rns", "from Iolite to the reference", Program::Iolite, Program::Python),
    peer("splice", "no relay, bytes are copied: the driver's limit", Program::Splice, Program::Splice),
];

const fn peer(name: &'static str, about: &'static str, initiator: Program, responder: Program) -> Peer {
    Peer { name, about, initiator, responder }
}

impl Named for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }
}

impl Peer {
    /// Finds a peer for the command line.
    pub(crate) fn by_name(name: &str) -> Result<&'static Self, String> {
        ALL.iter().find(|peer| peer.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|peer| peer.name).collect();
            format!("the peers are {}", names.join(", "))
        })
    }

    /// Whether the peer can be measured in `cell` at all.
    pub(crate) fn takes_part_in(&self, cell: &Cell) -> bool {
        if cell.is_relayed() { self.initiator == self.responder } else { !self.is_limit() }
    }

    /// What it is to the reader of the tables.
    pub(crate) fn standing(&self) -> Standing {
        match self.responder {
            _ if self.name == OURS => Standing::Ours,
            Program::Splice => Standing::Limit,
            Program::Iolite | Program::Prns | Program::PrnsPool | Program::Python => Standing::Rival,
        }
    }

    fn is_limit(&self) -> bool {
        self.standing() == Standing::Limit
    }

    /// Whether it keeps processors busy while it waits.
    pub(crate) fn spins(&self) -> bool {
        self.responder == Program::PrnsPool
    }
}

impl Program {
    /// What has to be built for it.
    pub(crate) fn binary(self) -> Option<Binary> {
        match self {
            Self::Iolite => Some(Binary::Iolite("iolite-rns")),
            Self::Prns | Self::PrnsPool => Some(Binary::Rival("rival-prns")),
            Self::Splice => Some(super::cell::DRIVER),
            Self::Python => None,
        }
    }
}

/// Where [`Program::Python`] comes from.
pub(crate) const REFERENCE: Sources =
    Sources { environment: "bench-python", requirements: "requirements.txt", script: "rns_bench_peer.py" };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::cell::cells;

    #[test]
    fn mixed_pairs_are_measured_only_end_to_end_and_the_limit_only_as_a_relay() {
        for cell in cells() {
            for peer in ALL.iter().filter(|peer| peer.takes_part_in(&cell)) {
                assert!(
                    !cell.is_relayed() || !peer.name.contains("-iolite"),
                    "{} in {}",
                    peer.name,
                    cell.name
                );
                assert!(!peer.is_limit() || cell.is_relayed(), "{} in {}", peer.name, cell.name);
            }
        }
    }
}
