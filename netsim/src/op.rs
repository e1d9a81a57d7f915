//! What can happen in a scenario, as data: for proptest, for fuzzing and for regressions.

use crate::{
    entropy::{ByteEntropy, Entropy},
    network::Network,
    node::{ClockJump, NodeId},
};
use proto_core::{LinkId, Machine};
use std::{net::SocketAddr, time::Duration};

/// One step of a scenario. `C` is the protocol's own command.
#[derive(Clone, Debug, PartialEq)]
pub enum Op<C> {
    /// Gives a command to a node's machine.
    Command {
        /// Whose machine.
        node: NodeId,
        /// What to do.
        command: C,
    },
    /// Lets time pass.
    Step(Duration),
    /// Cuts two nodes off from each other.
    Partition(NodeId, NodeId),
    /// Ends the partition between two nodes.
    Heal(NodeId, NodeId),
    /// Ends every partition.
    HealAll,
    /// Makes a node's NAT forget its mappings; nothing happens to a node without NAT.
    Rebind(NodeId),
    /// Makes a node's clock jump.
    Jump(NodeId, ClockJump),
    /// Brings a forged datagram to a node's first link.
    Inject {
        /// The receiver.
        node: NodeId,
        /// Whom it claims to be from.
        from: SocketAddr,
        /// The payload.
        data: Vec<u8>,
    },
}

impl<C> Op<C> {
    /// The longest step in time and the widest jump of a clock that [`decode`](Self::decode) and the proptest
    /// strategy make.
    pub const LONGEST_STEP: Duration = Duration::from_secs(60);
    /// The longest datagram that they inject.
    pub const LONGEST_DATAGRAM: usize = 2048;

    /// Reads operations from a fuzzer's bytes until they are exhausted, `limit` at most.
    ///
    /// Forged datagrams come from the nodes' own addresses, `addresses`, whose number is also the number of nodes.
    /// `command` reads a protocol's command and may refuse.
    pub fn decode(
        bytes: &mut ByteEntropy,
        addresses: &[SocketAddr],
        limit: usize,
        mut command: impl FnMut(&mut ByteEntropy) -> Option<C>,
    ) -> Vec<Self> {
        let mut ops = Vec::new();
        while !bytes.is_exhausted() && ops.len() < limit {
            ops.extend(Self::decode_one(bytes, addresses, &mut command));
        }
        ops
    }

    fn decode_one(
        bytes: &mut ByteEntropy,
        addresses: &[SocketAddr],
        command: &mut impl FnMut(&mut ByteEntropy) -> Option<C>,
    ) -> Option<Self> {
        let kind = bytes.byte();
        let count = addresses.len();
        let node = pick_node(bytes, count);
        Some(match kind % 16 {
            0..=4 => Self::Command { node, command: command(bytes)? },
            5..=9 => Self::Step(pick_duration(bytes)),
            10 => Self::Partition(node, pick_node(bytes, count)),
            11 => Self::Heal(node, pick_node(bytes, count)),
            12 => Self::HealAll,
            13 => Self::Rebind(node),
            14 => {
                let by = pick_duration(bytes);
                Self::Jump(
                    node,
                    if kind & 16 == 0 { ClockJump::Forward(by) } else { ClockJump::Backward(by) },
                )
            }
            _ => {
                let from = *addresses.get(pick_node(bytes, count).0)?;
                let mut data = vec![0; usize::from(bytes.byte())];
                bytes.fill(&mut data);
                Self::Inject { node, from, data }
            }
        })
    }
}

impl<M: Machine> Network<M> {
    /// Carries out one operation. `command` gives a protocol's command to the machine of a node.
    pub fn apply<C>(&mut self, op: &Op<C>, command: impl FnOnce(&mut Self, NodeId, &C)) {
        match op {
            Op::Command { node, command: what } => command(self, *node, what),
            Op::Step(duration) => self.run_for(*duration),
            Op::Partition(a, b) => self.partition(*a, *b),
            Op::Heal(a, b) => self.heal(*a, *b),
            Op::HealAll => self.heal_all(),
            Op::Rebind(node) if self.is_behind_nat(*node) => self.rebind_nat(*node),
            Op::Rebind(_) => {}
            Op::Jump(node, jump) => self.jump_clock(*node, *jump),
            // The machine may have closed its link.
            Op::Inject { node, from, data } if self.link_address(*node, LinkId(0)).is_some() => {
                self.inject(*node, LinkId(0), *from, data.clone());
            }
            Op::Inject { .. } => {}
        }
    }
}

fn pick_node(bytes: &mut ByteEntropy, count: usize) -> NodeId {
    NodeId(usize::try_from(bytes.below(count as u64)).unwrap_or(0))
}

/// Short and long spans alike: each bit length of microseconds is as likely as any other.
fn pick_duration(bytes: &mut ByteEntropy) -> Duration {
    let bits = bytes.below(27);
    Duration::from_micros(bytes.below(1 << bits)).min(Op::<()>::LONGEST_STEP)
}

/// The proptest strategy for operations.
#[cfg(feature = "proptest")]
pub mod strategy {
    use super::{ClockJump, Duration, NodeId, Op, SocketAddr};
    use proptest::{collection::vec, prelude::*, sample::select};
    use std::fmt::Debug;

    /// Makes single operations on nodes with the given addresses, most of them commands and steps in time.
    pub fn op<C: Clone + Debug + 'static>(
        addresses: Vec<SocketAddr>,
        command: impl Strategy<Value = C> + 'static,
    ) -> impl Strategy<Value = Op<C>> {
        let count = addresses.len();
        let node = move || (0..count).prop_map(NodeId);
        let data = vec(any::<u8>(), 0..Op::<C>::LONGEST_DATAGRAM);
        prop_oneof![
            6 => (node(), command).prop_map(|(node, command)| Op::Command { node, command }),
            6 => duration().prop_map(Op::Step),
            1 => (node(), node()).prop_map(|(a, b)| Op::Partition(a, b)),
            1 => (node(), node()).prop_map(|(a, b)| Op::Heal(a, b)),
            1 => Just(Op::HealAll),
            1 => node().prop_map(Op::Rebind),
            1 => (node(), jump()).prop_map(|(node, jump)| Op::Jump(node, jump)),
            1 => (node(), select(addresses), data).prop_map(|(node, from, data)| Op::Inject { node, from, data }),
        ]
    }

    fn jump() -> impl Strategy<Value = ClockJump> {
        prop_oneof![duration().prop_map(ClockJump::Forward), duration().prop_map(ClockJump::Backward)]
    }

    fn duration() -> impl Strategy<Value = Duration> {
        let longest = Op::<()>::LONGEST_STEP;
        (0_u32..27)
            .prop_flat_map(|bits| 0..=1_u64 << bits)
            .prop_map(move |micros| Duration::from_micros(micros).min(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_operations_until_they_end() {
        let addresses = [SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 1))];
        let decode = |bytes: &[u8], limit| {
            Op::decode(&mut ByteEntropy::new(bytes), &addresses, limit, |bytes| Some(bytes.byte()))
        };
        let command = Op::Command { node: NodeId(1), command: 9 };
        let inject = Op::Inject { node: NodeId(0), from: addresses[1], data: vec![7, 8] };
        assert_eq!(decode(&[0, 1, 9, 15, 0, 1, 2, 7, 8, 12, 0], 9), [command.clone(), inject, Op::HealAll]);
        assert_eq!(decode(&[0, 1, 9, 12, 0], 1), [command]);
        assert_eq!(decode(&[], 9), []);
    }
}
