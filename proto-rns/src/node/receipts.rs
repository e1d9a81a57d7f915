//! Packets whose delivery is to be proved (spec 1.9).

use crate::{
    DestinationHash, PacketHash,
    crypto::{Claim, CryptoProvider, Signature, which_hold},
    wire::Proof,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::time::Duration;
use proto_core::Instant;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Its destination proved that it arrived.
    Delivered { hash: PacketHash, rtt: Duration },
    /// No proof came in time, or too many packets were sent after it.
    Undelivered { hash: PacketHash },
}

/// The receipts that are open, by the address that a proof comes to.
///
/// A proof costs one verification at most, because its address tells which packet it proves. Those that arrive
/// together are verified together.
#[derive(Debug)]
pub(super) struct Receipts {
    open: BTreeMap<DestinationHash, Receipt>,
    deadlines: BTreeSet<(Instant, DestinationHash)>,
    arrived: Vec<Arrived>,
    limit: usize,
}

#[derive(Debug)]
struct Receipt {
    hash: PacketHash,
    key: [u8; 32],
    sent: Instant,
    until: Instant,
    /// Proofs of it that have arrived and are not yet verified.
    unverified: u8,
}

#[derive(Debug)]
struct Arrived {
    address: DestinationHash,
    signature: Signature,
    at: Instant,
}

impl Receipts {
    pub(super) const fn new(limit: usize) -> Self {
        Self { open: BTreeMap::new(), deadlines: BTreeSet::new(), arrived: Vec::new(), limit }
    }

    /// Opens a receipt for a packet to the holder of the Ed25519 `key`. Where too many are open, the oldest is given up
    /// and returned.
    pub(super) fn open(
        &mut self,
        hash: PacketHash,
        key: [u8; 32],
        now: Instant,
        timeout: Duration,
    ) -> Option<Outcome> {
        let given_up = if self.open.len() >= self.limit { self.give_up_first() } else { None };
        let until = now + timeout;
        let address = hash.truncated();
        self.deadlines.insert((until, address));
        self.open.insert(address, Receipt { hash, key, sent: now, until, unverified: 0 });
        given_up
    }

    /// Says whether a proof with this address is waited for.
    pub(super) fn awaits(&self, address: DestinationHash) -> bool {
        self.open.contains_key(&address)
    }

    /// Takes in a proof; it counts once [`settle`](Self::settle) has verified it. Says whether anything waits for it.
    pub(super) fn handle_proof(&mut self, address: DestinationHash, proof: &Proof, now: Instant) -> bool {
        let Some(receipt) = self.open.get_mut(&address) else { return false };
        let fits = proof.packet.is_none_or(|packet| packet == receipt.hash);
        if fits && receipt.unverified < MOST_UNVERIFIED {
            receipt.unverified += 1;
            self.arrived.push(Arrived { address, signature: proof.signature, at: now });
        }
        fits
    }

    /// Verifies the proofs that have arrived and tells which packets they prove. Returns how many were forged.
    pub(super) fn settle(&mut self, crypto: &dyn CryptoProvider, mut tell: impl FnMut(Outcome)) -> u64 {
        if self.arrived.is_empty() {
            return 0;
        }
        let arrived = core::mem::take(&mut self.arrived);
        // Some packets may have been given up while their proofs waited.
        let (arrived, claims): (Vec<_>, Vec<_>) = arrived
            .iter()
            .filter_map(|proof| {
                let Receipt { key, hash, .. } = self.open.get(&proof.address)?;
                Some((proof, Claim { key, message: hash.as_bytes(), signature: &proof.signature }))
            })
            .unzip();
        let hold: Vec<bool> = which_hold(crypto, &claims).collect();
        let mut forged = 0;
        for (arrived, holds) in arrived.into_iter().zip(hold) {
            if !holds {
                forged += 1;
                if let Some(receipt) = self.open.get_mut(&arrived.address) {
                    receipt.unverified = receipt.unverified.saturating_sub(1);
                }
            } else if let Some(receipt) = self.close(arrived.address) {
                let rtt = arrived.at.saturating_since(receipt.sent);
                tell(Outcome::Delivered { hash: receipt.hash, rtt });
            }
        }
        forged
    }

    /// Gives up what is due.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Outcome> {
        let (due, _) = self.deadlines.first()?;
        if *due > now { None } else { self.give_up_first() }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(due, _)| *due)
    }

    fn give_up_first(&mut self) -> Option<Outcome> {
        let (_, address) = *self.deadlines.first()?;
        self.close(address).map(|receipt| Outcome::Undelivered { hash: receipt.hash })
    }

    fn close(&mut self, address: DestinationHash) -> Option<Receipt> {
        let receipt = self.open.remove(&address)?;
        self.deadlines.remove(&(receipt.until, address));
        Some(receipt)
    }
}

/// Forged proofs that arrive with the true one must not keep it out; more of them than this may.
const MOST_UNVERIFIED: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crypto::Dalek, identity::Identity};

    fn hash(n: u8) -> PacketHash {
        PacketHash::new([n; 32])
    }

    fn settled(receipts: &mut Receipts) -> (Vec<Outcome>, u64) {
        let mut told = Vec::new();
        let forged = receipts.settle(&Dalek, |outcome| told.push(outcome));
        (told, forged)
    }

    #[test]
    fn proofs_are_verified_together_and_a_forged_one_harms_no_other() {
        let identity = Identity::from_bytes(&Dalek, &[1; 64]);
        let mut receipts = Receipts::new(100);
        for n in 0..16 {
            receipts.open(hash(n), *identity.public().verifying_key(), Instant::ZERO, Duration::from_secs(5));
        }
        let at = Instant::from_millis(30);
        for n in 0..16 {
            let mut proof = Proof { packet: None, signature: identity.sign(hash(n).as_bytes()) };
            if n == 3 {
                proof.signature[0] ^= 1;
            }
            assert!(receipts.handle_proof(hash(n).truncated(), &proof, at));
        }
        let (told, forged) = settled(&mut receipts);
        assert_eq!((told.len(), forged), (15, 1));
        assert_eq!(told[0], Outcome::Delivered { hash: hash(0), rtt: Duration::from_millis(30) });
        assert_eq!(receipts.expire(Instant::from_millis(4_999)), None);
        assert_eq!(
            receipts.expire(Instant::from_millis(5_000)),
            Some(Outcome::Undelivered { hash: hash(3) })
        );
        assert_eq!(receipts.deadline(), None);
    }

    #[test]
    fn a_proof_of_nothing_or_of_another_packet_costs_no_verification() {
        let mut receipts = Receipts::new(100);
        receipts.open(hash(1), [0; 32], Instant::ZERO, Duration::from_secs(5));
        let other = PacketHash::new({
            let mut bytes = [1; 32];
            bytes[31] = 2;
            bytes
        });
        let proof = Proof { packet: Some(other), signature: [0; 64] };
        assert!(!receipts.handle_proof(hash(1).truncated(), &proof, Instant::ZERO));
        let proof = Proof { packet: None, signature: [0; 64] };
        assert!(!receipts.handle_proof(hash(2).truncated(), &proof, Instant::ZERO));
        assert!(receipts.arrived.is_empty());
    }

    #[test]
    fn a_flood_of_forged_proofs_for_one_receipt_costs_few_verifications() {
        let mut receipts = Receipts::new(100);
        receipts.open(hash(1), [0; 32], Instant::ZERO, Duration::from_secs(5));
        for _ in 0..1_000 {
            receipts.handle_proof(
                hash(1).truncated(),
                &Proof { packet: None, signature: [7; 64] },
                Instant::ZERO,
            );
        }
        assert_eq!(settled(&mut receipts), (Vec::new(), u64::from(MOST_UNVERIFIED)));
    }

    #[test]
    fn a_packet_given_up_while_its_proof_waits_harms_no_other() {
        let identity = Identity::from_bytes(&Dalek, &[1; 64]);
        let mut receipts = Receipts::new(2);
        for n in 0..2 {
            let at = Instant::from_millis(n.into());
            receipts.open(hash(n), *identity.public().verifying_key(), at, Duration::from_secs(5));
            let proof = Proof { packet: None, signature: identity.sign(hash(n).as_bytes()) };
            assert!(receipts.handle_proof(hash(n).truncated(), &proof, at));
        }
        let given_up = receipts.open(hash(2), [0; 32], Instant::from_millis(2), Duration::from_secs(5));
        assert_eq!(given_up, Some(Outcome::Undelivered { hash: hash(0) }));
        let delivered = Outcome::Delivered { hash: hash(1), rtt: Duration::ZERO };
        assert_eq!(settled(&mut receipts), (alloc::vec![delivered], 0));
    }

    #[test]
    fn the_oldest_receipt_is_given_up_when_there_are_too_many() {
        let mut receipts = Receipts::new(2);
        let timeout = Duration::from_secs(5);
        assert_eq!(receipts.open(hash(1), [0; 32], Instant::ZERO, timeout), None);
        assert_eq!(receipts.open(hash(2), [0; 32], Instant::from_millis(1), timeout), None);
        let given_up = receipts.open(hash(3), [0; 32], Instant::from_millis(2), timeout);
        assert_eq!(given_up, Some(Outcome::Undelivered { hash: hash(1) }));
    }
}
