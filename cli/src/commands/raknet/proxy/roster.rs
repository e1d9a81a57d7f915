//! Who is being relayed now, and how it goes.

use proto_raknet::PeerStats;
use runtime_tokio::raknet::RaknetStream;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::pump::Flow;

/// The relays under way. The listener's limit on connections bounds them.
#[derive(Debug, Default)]
pub(super) struct Roster {
    relays: Mutex<BTreeMap<u64, Arc<Relay>>>,
    entered: AtomicU64,
}

/// One relay's two sessions.
#[derive(Debug)]
struct Relay {
    player: Arc<RaknetStream>,
    target: Arc<RaknetStream>,
    to_target: Flow,
    to_player: Flow,
}

/// A place in the roster, given back when dropped.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    roster: &'a Roster,
    number: u64,
    relay: Arc<Relay>,
}

/// How one relay goes.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) player: SocketAddr,
    /// The session with the player; empty when it is just over.
    pub(super) player_side: PeerStats,
    /// The session with the target; empty when it is just over.
    pub(super) target_side: PeerStats,
    pub(super) to_target: Count,
    pub(super) to_player: Count,
}

/// What went through in one direction so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) dropped: u64,
}

impl Roster {
    /// Takes in a relay.
    pub(super) fn enter(&self, player: Arc<RaknetStream>, target: Arc<RaknetStream>) -> Entry<'_> {
        let number = self.entered.fetch_add(1, Ordering::Relaxed);
        let relay =
            Arc::new(Relay { player, target, to_target: Flow::default(), to_player: Flow::default() });
        self.lock().insert(number, Arc::clone(&relay));
        Entry { roster: self, number, relay }
    }

    /// Returns how many relays there have been.
    pub(super) fn entered(&self) -> u64 {
        self.entered.load(Ordering::Relaxed)
    }

    /// Returns how each relay goes.
    pub(super) fn snapshot(&self) -> Vec<Snapshot> {
        let relays: Vec<Arc<Relay>> = self.lock().values().cloned().collect();
        relays.iter().map(|relay| relay.snapshot()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Relay>>> {
        self.relays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry<'_> {
    /// Returns the counters of the messages from the player.
    pub(super) fn to_target(&self) -> &Flow {
        &self.relay.to_target
    }

    /// Returns the counters of the messages from the target.
    pub(super) fn to_player(&self) -> &Flow {
        &self.relay.to_player
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.roster.lock().remove(&self.number);
    }
}

impl Relay {
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            player: self.player.peer_addr(),
            player_side: self.player.stats().unwrap_or_default(),
            target_side: self.target.stats().unwrap_or_default(),
            to_target: self.to_target.count(),
            to_player: self.to_player.count(),
        }
    }
}

impl Flow {
    fn count(&self) -> Count {
        Count {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
        }
    }
}

/// Returns the mean of the round trips that are known.
pub(super) fn mean_rtt<'a>(sessions: impl Iterator<Item = &'a PeerStats>) -> Option<Duration> {
    let known: Vec<Duration> = sessions.filter_map(|stats| stats.rtt).collect();
    let count = u32::try_from(known.len()).ok().filter(|&count| count > 0)?;
    Some(known.iter().sum::<Duration>() / count)
}
