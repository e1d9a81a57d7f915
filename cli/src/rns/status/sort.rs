//! The order of the interfaces.

use clap::ValueEnum;
use proto_rns::wire::msgpack::Value;

use crate::rns::fields::amount;

/// What interfaces are sorted by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Bitrate.
    Rate,
    /// Bytes both ways.
    Traffic,
    /// Bytes in.
    Rx,
    /// Bytes out.
    Tx,
    /// Bits a second in.
    Rxs,
    /// Bits a second out.
    Txs,
    /// Announces held back.
    Held,
    /// Frames that were no packets.
    Pvs,
    /// Frames that were not of the interface's network.
    Ivs,
    /// Packets that were not sent.
    Txdrp,
}

impl SortKey {
    /// Sorts interfaces.
    pub(super) fn sort(self, interfaces: &mut [&Value], reverse: bool) {
        interfaces.sort_by(|one, other| self.of(other).total_cmp(&self.of(one)));
        if reverse {
            interfaces.reverse();
        }
    }

    fn of(self, interface: &Value) -> f64 {
        match self {
            Self::Rate => amount(interface, "bitrate"),
            Self::Traffic => amount(interface, "rxb") + amount(interface, "txb"),
            Self::Rx => amount(interface, "rxb"),
            Self::Tx => amount(interface, "txb"),
            Self::Rxs => amount(interface, "rxs"),
            Self::Txs => amount(interface, "txs"),
            Self::Held => amount(interface, "held_announces"),
            Self::Pvs => amount(interface, "protocol_violations"),
            Self::Ivs => amount(interface, "ifac_violations"),
            Self::Txdrp => amount(interface, "txdrp"),
        }
    }
}
