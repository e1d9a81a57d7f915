//! The peers and the cells that each of them can take part in.

use super::cell::{Cell, Kind};
use crate::compile::Binary;
use crate::document::Standing;
use crate::row::{Named, OURS};

/// A way to carry messages, as one variant of one binary.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// What the tables' legend says.
    pub(crate) about: &'static str,
    pub(crate) binary: Binary,
    /// The binary's `--mode`, where it has several.
    pub(crate) mode: Option<&'static str>,
    kind: PeerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeerKind {
    /// Delivers every message, in order.
    Reliable,
    /// Shows the limit of the machine; neither resends nor has connections.
    Bare {
        /// Whether one message at a time is worth measuring.
        sparse: bool,
    },
}

/// Every peer, in the order of the tables' columns.
pub(crate) static ALL: &[Peer] = &[
    reliable(OURS, "Iolite's RakNet through tokio", Binary::Iolite("iolite-tokio"), None),
    reliable("iolite-bare", "Iolite's RakNet in a blocking loop", Binary::Iolite("iolite-bare"), None),
    reliable("rr-send", "rust-raknet 1.4.0, send and recv", Binary::Rival("rival-rr"), Some("send")),
    reliable("rr-batch", "rust-raknet 1.4.0, its batch calls", Binary::Rival("rival-rr"), Some("batch")),
    reliable("kcp-each", "KCP (C core), a flush after every send", Binary::Rival("rival-kcp"), Some("each")),
    reliable("kcp-wake", "KCP (C core), one flush per wake-up", Binary::Rival("rival-kcp"), Some("wake")),
    reliable("tcp", "tokio TCP, one write per record", Binary::Rival("rival-tcp"), Some("record")),
    reliable("tcp-batch", "tokio TCP, one write per batch", Binary::Rival("rival-tcp"), Some("batch")),
    reliable("quinn", "quinn, one stream a connection", Binary::Rival("rival-quinn"), None),
    bare("udp", "bare UDP, one call per datagram: the limit", Some("single"), true),
    bare("udp-gso", "bare UDP with GSO and GRO: the limit", Some("gso"), false),
];

const fn reliable(
    name: &'static str,
    about: &'static str,
    binary: Binary,
    mode: Option<&'static str>,
) -> Peer {
    Peer { name, about, binary, mode, kind: PeerKind::Reliable }
}

const fn bare(name: &'static str, about: &'static str, mode: Option<&'static str>, sparse: bool) -> Peer {
    Peer { name, about, binary: Binary::Rival("rival-udp"), mode, kind: PeerKind::Bare { sparse } }
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
        match self.kind {
            PeerKind::Reliable => true,
            PeerKind::Bare { sparse } => {
                cell.connections == 1
                    && cell.network.loss_per_mille() == 0
                    && (sparse || cell.kind != Kind::SparseLatency)
            }
        }
    }

    /// What it is to the reader of the tables.
    pub(crate) fn standing(&self) -> Standing {
        match self.kind {
            PeerKind::Bare { .. } => Standing::Limit,
            PeerKind::Reliable if self.name == OURS => Standing::Ours,
            PeerKind::Reliable if matches!(self.binary, Binary::Iolite(_)) => Standing::Sibling,
            PeerKind::Reliable => Standing::Rival,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raknet::cell::cells;

    #[test]
    fn bare_udp_is_measured_only_where_nothing_can_be_lost() {
        let udp = Peer::by_name("udp").unwrap();
        for cell in cells(false).iter().filter(|cell| udp.takes_part_in(cell)) {
            assert!(!cell.name.ends_with("1%") && !cell.name.ends_with("5%"), "{}", cell.name);
            assert_eq!(cell.connections, 1, "{}", cell.name);
        }
    }

    #[test]
    fn an_unknown_peer_is_answered_with_the_known_ones() {
        assert!(Peer::by_name("enet").unwrap_err().contains("iolite, iolite-bare, rr-send"));
    }
}
