//! What a protocol tells the suite about itself, once.

use proto_core::{Instant, LinkId, Machine, Rng};
use std::{fmt::Debug, net::SocketAddr};

/// A protocol under test. It is implemented once for each role or set-up worth checking.
///
/// The deeper the state that [`build`](Self::build) reaches and the better [`datagrams`](Self::datagrams) and
/// [`streams`](Self::streams) fit it, the more the suite finds. A good way: let two machines talk on a
/// [`Network`](crate::Network) seeded with the given seed and take what the peer sent from its trace. Machines are
/// deterministic, so a machine with the same seed accepts the same datagrams again.
pub trait Subject {
    /// The machine.
    type Machine: Machine<Event: Debug>;

    /// Builds a machine whose links are up. The same seed must give the same machine.
    fn build(&self, seed: [u8; 32]) -> Self::Machine;

    /// Returns the links over which it speaks.
    fn links(&self) -> Vec<SubjectLink>;

    /// Returns datagrams that a peer would send, in order.
    fn datagrams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Returns byte streams that a peer would send, each from its start.
    fn streams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Gives the machine some command, drawn by chance. Refusals are fine.
    fn command(&self, machine: &mut Self::Machine, now: Instant, rng: &mut Rng);

    /// Returns how many events the machine keeps at most when nobody takes them.
    fn event_limit(&self) -> usize;

    /// Returns the instant at which the built machine is.
    fn start(&self) -> Instant {
        Instant::from_millis(1_000_000)
    }

    /// Returns the address from which the datagrams come.
    fn peer(&self) -> SocketAddr {
        SocketAddr::from(([10, 9, 9, 9], 19_132))
    }

    /// Returns how much memory the machine uses and how much it may, where it can tell.
    fn memory(&self, _machine: &Self::Machine) -> Option<Memory> {
        None
    }

    /// Returns how many events the machine counted as dropped, where it counts.
    fn dropped_events(&self, _machine: &Self::Machine) -> Option<u64> {
        None
    }

    /// Describes the machine's state as far as it must not depend on chunks.
    fn state(&self, _machine: &Self::Machine) -> String {
        String::new()
    }
}

/// A link of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectLink {
    /// It takes datagrams.
    Datagrams(LinkId),
    /// It takes stream bytes.
    Stream(LinkId),
}

impl SubjectLink {
    /// Returns the link's number.
    pub const fn id(self) -> LinkId {
        match self {
            Self::Datagrams(link) | Self::Stream(link) => link,
        }
    }
}

/// How much memory a machine uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes in use.
    pub used: usize,
    /// Bytes allowed.
    pub limit: usize,
}
