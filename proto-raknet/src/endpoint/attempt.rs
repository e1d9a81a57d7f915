//! An attempt to open a session: probing the MTU, then asking for the session (spec 1.2, client).
//!
//! ```text
//! Probing --Reply1--> Requesting --Reply2--> a session
//!    | no answer: the next smaller MTU    | another Reply1: again, with its cookie
//! ```

use alloc::vec::Vec;
use bytes::Bytes;
use core::net::SocketAddr;
use proto_core::Instant;

use crate::{
    ConnectError, ConnectFailure, ConnectOptions, Guid,
    limits::{IP_UDP_HEADERS, MAX_MTU, MIN_MTU},
    peer::Agreed,
    wire::{
        OpenConnectionReply1, OpenConnectionReply2, OpenConnectionRequest1, OpenConnectionRequest2,
        ProtocolVersion,
    },
};

/// The state of an attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    to: SocketAddr,
    protocol_version: ProtocolVersion,
    pub(crate) password: Bytes,
    candidates: Vec<u16>,
    attempts_per_mtu: u32,
    retry_interval: core::time::Duration,
    stage: Stage,
    next_at: Instant,
    pub(crate) deadline: Instant,
    heard: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Sending OpenConnectionRequest1 with one candidate after the other.
    Probing { candidate: usize, sent: u32 },
    /// Sending OpenConnectionRequest2.
    Requesting { mtu: u16, cookie: Option<u32> },
}

impl Attempt {
    /// Creates an attempt whose first request is due now.
    pub(crate) fn new(
        to: SocketAddr,
        options: ConnectOptions,
        max_mtu: u16,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let candidates: Vec<u16> =
            options.mtu_candidates.into_iter().filter(|mtu| (MIN_MTU..=max_mtu).contains(mtu)).collect();
        if candidates.is_empty() {
            return Err(ConnectError::NoMtu);
        }
        Ok(Self {
            to,
            protocol_version: options.protocol_version,
            password: options.password,
            candidates,
            attempts_per_mtu: options.attempts_per_mtu.max(1),
            retry_interval: options.retry_interval.max(core::time::Duration::from_millis(1)),
            stage: Stage::Probing { candidate: 0, sent: 0 },
            next_at: now,
            deadline: now + options.timeout,
            heard: false,
        })
    }

    /// Appends the request that is due, or says why the attempt is over.
    pub(crate) fn poll_request(
        &mut self,
        guid: Guid,
        now: Instant,
        buf: &mut Vec<u8>,
    ) -> Result<(), ConnectFailure> {
        if self.deadline <= now {
            return Err(if self.heard { ConnectFailure::HandshakeTimeout } else { ConnectFailure::NoAnswer });
        }
        if self.next_at > now {
            return Ok(());
        }
        self.next_at = now + self.retry_interval;
        match &mut self.stage {
            Stage::Probing { candidate, sent } => {
                if *sent == self.attempts_per_mtu && *candidate + 1 < self.candidates.len() {
                    *candidate += 1;
                    *sent = 0;
                }
                *sent = sent.saturating_add(1).min(self.attempts_per_mtu);
                let mtu = self.candidates.get(*candidate).copied().unwrap_or(MIN_MTU);
                let datagram_len = usize::from(mtu - IP_UDP_HEADERS);
                OpenConnectionRequest1 { protocol: self.protocol_version, datagram_len }.emit(buf);
            }
            Stage::Requesting { mtu, cookie } => {
                OpenConnectionRequest2 { cookie: *cookie, server: self.to, mtu: *mtu, guid }.emit(buf);
            }
        }
        Ok(())
    }

    /// Takes in a first reply. One that comes while waiting for the second has a newer cookie (go-raknet#60); one with
    /// a nonsense MTU comes from a protection in front of the server, which sends the true one later (OVH).
    pub(crate) fn on_reply1(&mut self, reply: &OpenConnectionReply1, now: Instant) {
        let probed = match self.stage {
            Stage::Probing { candidate, .. } => self.candidates.get(candidate).copied().unwrap_or(MIN_MTU),
            Stage::Requesting { mtu, .. } => mtu,
        };
        let mtu = if (MIN_MTU..=MAX_MTU).contains(&reply.mtu) { reply.mtu.min(probed) } else { probed };
        self.heard = true;
        self.stage = Stage::Requesting { mtu, cookie: reply.cookie };
        self.next_at = now;
    }

    /// Takes in a second reply; `None` if it does not belong here.
    pub(crate) fn on_reply2(&mut self, reply: &OpenConnectionReply2) -> Option<Agreed> {
        let Stage::Requesting { mtu, .. } = self.stage else { return None };
        if !(MIN_MTU..=MAX_MTU).contains(&reply.mtu) {
            return None;
        }
        Some(Agreed {
            address: self.to,
            guid: reply.guid,
            mtu: mtu.min(reply.mtu),
            protocol_version: self.protocol_version,
        })
    }

    /// The operating system refused a datagram of this length: the next smaller MTU is due at once.
    pub(crate) fn on_too_big(&mut self, len: usize, now: Instant) {
        if let Stage::Probing { candidate, sent } = &mut self.stage {
            let current = self.candidates.get(*candidate).copied().unwrap_or(MIN_MTU);
            if len == usize::from(current - IP_UDP_HEADERS) && *candidate + 1 < self.candidates.len() {
                *candidate += 1;
                *sent = 0;
                self.next_at = now;
            }
        }
    }

    /// Returns when [`poll_request`](Self::poll_request) is to be called.
    pub(crate) fn due(&self) -> Instant {
        self.next_at.min(self.deadline)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn attempt() -> Attempt {
        let to = SocketAddr::from(([192, 0, 2, 1], 19_132));
        Attempt::new(to, ConnectOptions::default(), 1_492, Instant::ZERO).unwrap()
    }

    fn probe(attempt: &mut Attempt, millis: u64) -> usize {
        let mut buf = vec![];
        attempt.poll_request(Guid(1), Instant::from_millis(millis), &mut buf).unwrap();
        buf.len()
    }

    fn reply1(mtu: u16, cookie: Option<u32>) -> OpenConnectionReply1 {
        OpenConnectionReply1 { guid: Guid(2), cookie, mtu }
    }

    #[test]
    fn mtus_are_probed_from_large_to_small() {
        let mut attempt = attempt();
        let sizes: Vec<_> = (0..8).map(|n| probe(&mut attempt, n * 500)).collect();
        assert_eq!(sizes, [1_464, 1_464, 1_172, 1_172, 548, 548, 548, 548]);
        assert_eq!(probe(&mut attempt, 3_600), 0, "not due");
    }

    #[test]
    fn a_refused_size_is_skipped_at_once() {
        let mut attempt = attempt();
        assert_eq!(probe(&mut attempt, 0), 1_464);
        attempt.on_too_big(1_464, Instant::from_millis(1));
        attempt.on_too_big(1_464, Instant::from_millis(1));
        assert_eq!(probe(&mut attempt, 1), 1_172, "one step for one refusal");
    }

    #[test]
    fn a_newer_cookie_is_used_at_once() {
        let mut attempt = attempt();
        probe(&mut attempt, 0);
        attempt.on_reply1(&reply1(1_400, Some(1)), Instant::from_millis(10));
        assert_eq!(probe(&mut attempt, 10), 39);
        attempt.on_reply1(&reply1(1_400, Some(2)), Instant::from_millis(20));
        let mut buf = vec![];
        attempt.poll_request(Guid(1), Instant::from_millis(20), &mut buf).unwrap();
        assert_eq!(buf[17..21], [0, 0, 0, 2]);
    }

    #[test]
    fn a_nonsense_first_reply_is_answered_and_the_true_one_awaited() {
        let mut attempt = attempt();
        probe(&mut attempt, 0);
        attempt.on_reply1(&OpenConnectionReply1 { guid: Guid(0), cookie: Some(7), mtu: 0 }, Instant::ZERO);
        assert_eq!(probe(&mut attempt, 0), 39);
        attempt.on_reply1(&reply1(1_300, Some(8)), Instant::from_millis(5));
        let reply2 = OpenConnectionReply2 { guid: Guid(2), client: attempt.to, mtu: 1_492, security: false };
        assert_eq!(attempt.on_reply2(&reply2).map(|agreed| agreed.mtu), Some(1_300));
    }

    #[test]
    fn the_deadline_covers_everything() {
        let mut attempt = attempt();
        assert_eq!(
            attempt.poll_request(Guid(1), Instant::from_millis(10_000), &mut vec![]),
            Err(ConnectFailure::NoAnswer)
        );
        attempt.on_reply1(&reply1(1_400, None), Instant::from_millis(1));
        assert_eq!(
            attempt.poll_request(Guid(1), Instant::from_millis(10_000), &mut vec![]),
            Err(ConnectFailure::HandshakeTimeout)
        );
    }
}
