//! Packets whose proofs are awaited, and proofs that wait to be verified together (spec 1.9).

use super::SendError;
use crate::{
    PacketHash,
    crypto::{Claim, CryptoProvider, Signature, which_hold},
};
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use core::time::Duration;
use proto_core::Instant;

/// The receipts of a link.
#[derive(Debug)]
pub(super) struct Receipts {
    awaited: BTreeMap<PacketHash, Awaited>,
    /// The data packets in the order of their deadlines. Those proved meanwhile are still among them, but never first.
    deadlines: VecDeque<(Instant, PacketHash)>,
    arrived: Vec<Arrived>,
    limit: usize,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    what: Sent,
    sent_at: Instant,
}

/// What a packet was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Data of the application.
    Data,
    /// The channel's message with this sequence number; the channel times it.
    Message(u16),
}

/// A packet that the peer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proved {
    /// Its hash.
    pub(super) hash: PacketHash,
    /// What it was.
    pub(super) what: Sent,
    /// How long the proof took.
    pub(super) rtt: Duration,
}

/// A proof that is not verified yet.
#[derive(Debug)]
struct Arrived {
    hash: PacketHash,
    signature: Signature,
    at: Instant,
}

impl Receipts {
    pub(super) const fn new(limit: usize) -> Self {
        Self { awaited: BTreeMap::new(), deadlines: VecDeque::new(), arrived: Vec::new(), limit }
    }

    /// Makes sure that one more packet may be sent.
    ///
    /// # Errors
    /// As many as allowed are awaited.
    pub(super) fn check_room(&self) -> Result<(), SendError> {
        if self.awaited.len() < self.limit { Ok(()) } else { Err(SendError::Full) }
    }

    /// Awaits the proof of a data packet.
    pub(super) fn await_data(&mut self, hash: PacketHash, rtt: Duration, now: Instant) {
        self.awaited.insert(hash, Awaited { what: Sent::Data, sent_at: now });
        if self.deadlines.len() >= self.limit.saturating_mul(4) {
            self.deadlines.retain(|(_, hash)| self.awaited.contains_key(hash));
        }
        self.deadlines.push_back((now + patience(rtt), hash));
    }

    /// Awaits the proof of a try at a channel's message, of which there are few.
    pub(super) fn await_message(&mut self, hash: PacketHash, sequence: u16, now: Instant) {
        self.awaited.insert(hash, Awaited { what: Sent::Message(sequence), sent_at: now });
    }

    /// Stops awaiting a proof.
    pub(super) fn forget(&mut self, hash: PacketHash) {
        self.awaited.remove(&hash);
        self.skip_proved();
    }

    /// Takes a proof, unless nobody awaits it; it is verified by [`settle`](Self::settle).
    pub(super) fn on_proof(&mut self, hash: PacketHash, signature: Signature, now: Instant) -> bool {
        let known = self.awaited.contains_key(&hash);
        if known {
            self.arrived.push(Arrived { hash, signature, at: now });
        }
        known
    }

    /// Says whether the proofs should be verified before more of them pile up.
    pub(super) const fn is_batch_full(&self) -> bool {
        self.arrived.len() >= BATCH
    }

    /// Says whether proofs wait to be verified.
    pub(super) const fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Verifies the proofs that have arrived, together if they all hold, and passes on what they prove. Returns how
    /// many did not hold.
    pub(super) fn settle(
        &mut self,
        crypto: &dyn CryptoProvider,
        key: &[u8; 32],
        mut on_proved: impl FnMut(Proved),
    ) -> usize {
        let arrived = core::mem::take(&mut self.arrived);
        let claims: Vec<Claim<'_>> = arrived
            .iter()
            .map(|proof| Claim { key, message: proof.hash.as_bytes(), signature: &proof.signature })
            .collect();
        let mut forged = 0;
        for (proof, holds) in arrived.iter().zip(which_hold(crypto, &claims)) {
            if !holds {
                forged += 1;
            } else if let Some(awaited) = self.awaited.remove(&proof.hash) {
                let rtt = proof.at.saturating_since(awaited.sent_at);
                on_proved(Proved { hash: proof.hash, what: awaited.what, rtt });
            }
        }
        self.arrived = arrived;
        self.arrived.clear();
        self.skip_proved();
        forged
    }

    /// Returns a data packet that was not proved in time, and gives it up.
    pub(super) fn expire(&mut self, now: Instant) -> Option<PacketHash> {
        let &(deadline, _) = self.deadlines.front()?;
        if deadline > now { None } else { self.abandon() }
    }

    /// Gives up a data packet, whichever; for when the link closes.
    pub(super) fn abandon(&mut self) -> Option<PacketHash> {
        let (_, hash) = self.deadlines.pop_front()?;
        self.awaited.remove(&hash);
        self.skip_proved();
        Some(hash)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.front().map(|(deadline, _)| *deadline)
    }

    fn skip_proved(&mut self) {
        while self.deadlines.front().is_some_and(|(_, hash)| !self.awaited.contains_key(hash)) {
            self.deadlines.pop_front();
        }
    }
}

/// Returns how long a proof may take. The reference allows six round trips but looks only once a second, and peers
/// rely on getting that second.
fn patience(rtt: Duration) -> Duration {
    (rtt * 6).max(Duration::from_secs(1))
}

/// How many proofs are verified together at the most: beyond this a batch gets no cheaper.
const BATCH: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::Dalek;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn hash(n: u8) -> PacketHash {
        PacketHash::new([n; 32])
    }

    fn settled(receipts: &mut Receipts, key: &[u8; 32]) -> (Vec<PacketHash>, usize) {
        let mut proved = Vec::new();
        let forged = receipts.settle(&Dalek, key, |packet| proved.push(packet.hash));
        (proved, forged)
    }

    #[test]
    fn a_forged_proof_spoils_none_of_the_others() {
        let signer = Dalek.signer(&[3; 32]);
        let mut receipts = Receipts::new(100);
        for n in 0..20 {
            receipts.await_data(hash(n), Duration::ZERO, at(0));
            let signature = if n == 7 { [9; 64] } else { signer.sign(hash(n).as_bytes()) };
            assert!(receipts.on_proof(hash(n), signature, at(1)));
        }
        let (proved, forged) = settled(&mut receipts, &signer.key());
        assert_eq!((proved.len(), forged), (19, 1));
        assert!(!proved.contains(&hash(7)));
        assert_eq!(receipts.expire(at(1_000)), Some(hash(7)));
        assert_eq!(receipts.expire(at(1_000)), None);
    }

    #[test]
    fn a_proof_counts_once_however_often_it_arrives() {
        let signer = Dalek.signer(&[3; 32]);
        let mut receipts = Receipts::new(100);
        receipts.await_data(hash(1), Duration::ZERO, at(0));
        for _ in 0..3 {
            assert!(receipts.on_proof(hash(1), signer.sign(hash(1).as_bytes()), at(1)));
        }
        assert_eq!(settled(&mut receipts, &signer.key()), (alloc::vec![hash(1)], 0));
        assert!(!receipts.on_proof(hash(1), [0; 64], at(1)));
        assert!(!receipts.has_arrived());
    }

    #[test]
    fn proved_packets_do_not_expire_and_leave_no_deadline() {
        let signer = Dalek.signer(&[3; 32]);
        let mut receipts = Receipts::new(2);
        receipts.await_data(hash(1), Duration::from_secs(1), at(0));
        receipts.await_data(hash(2), Duration::from_secs(1), at(10));
        assert_eq!(receipts.check_room(), Err(SendError::Full));
        receipts.on_proof(hash(1), signer.sign(hash(1).as_bytes()), at(20));
        settled(&mut receipts, &signer.key());
        assert_eq!(receipts.deadline(), Some(at(6_010)));
        assert_eq!(receipts.expire(at(6_009)), None);
        assert_eq!(receipts.expire(at(6_010)), Some(hash(2)));
        assert_eq!(receipts.deadline(), None);
    }
}
