//! What was answered lately, to answer it again.

use super::sender::proof_packet_hash;
use crate::{LinkHash, ResourceHash, wire::ResourceProof};
use alloc::collections::VecDeque;

/// The last answer to the last segments: a proof that got lost must not cost the whole segment.
#[derive(Clone, Debug)]
pub(super) struct Recent(VecDeque<Answer>);

/// How a segment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It arrived.
    Proved(ResourceProof),
    /// It was refused, or given up.
    Refused(ResourceHash),
}

impl Recent {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(super) fn push(&mut self, answer: Answer) {
        self.0.retain(|earlier| earlier.hash() != answer.hash());
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(answer);
    }

    pub(super) fn get(&self, hash: ResourceHash) -> Option<Answer> {
        self.0.iter().copied().find(|answer| answer.hash() == hash)
    }

    /// Returns the proof that went in a packet with this hash.
    pub(super) fn proof_in(&self, link: LinkHash, packet: &[u8]) -> Option<ResourceProof> {
        self.0.iter().find_map(|answer| match answer {
            Answer::Proved(proof) => (proof_packet_hash(link, proof).as_bytes() == packet).then_some(*proof),
            Answer::Refused(_) => None,
        })
    }
}

impl Answer {
    const fn hash(&self) -> ResourceHash {
        match self {
            Self::Proved(proof) => proof.hash,
            Self::Refused(hash) => *hash,
        }
    }
}

const CAPACITY: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_answers_are_kept_and_one_a_segment() {
        let mut recent = Recent::new();
        let hash = |i: u8| ResourceHash::new([i; 32]);
        (0..33).for_each(|i| recent.push(Answer::Refused(hash(i))));
        let proof = ResourceProof { hash: hash(5), proof: [1; 32] };
        recent.push(Answer::Proved(proof));
        assert_eq!(recent.get(hash(0)), None);
        assert_eq!(recent.get(hash(5)), Some(Answer::Proved(proof)));
        assert_eq!(recent.0.len(), CAPACITY);
        let link = LinkHash::new([3; 16]);
        let packet = proof_packet_hash(link, &proof);
        assert_eq!(recent.proof_in(link, packet.as_bytes()), Some(proof));
        assert_eq!(recent.proof_in(LinkHash::new([4; 16]), packet.as_bytes()), None);
    }
}
