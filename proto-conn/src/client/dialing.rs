//! From a name to a stream: resolving, and trying the addresses (RFC 8305).

use alloc::{collections::VecDeque, format, string::String, vec::Vec};
use core::net::{IpAddr, SocketAddr, SocketAddrV6};
use proto_core::{DownReason, Instant, LinkEvent, LinkId, LinkSpec};

use super::{links::Links, options::Timeouts};
use crate::{Code, Error, Host, Phase};

/// An attempt to reach a host.
///
/// ```text
/// Resolving --addresses--> Trying --one is up--> Up
///     \-- none, too late --> Failed <-- all failed, too late --/
/// ```
#[derive(Debug)]
pub(super) struct Dialing {
    target: String,
    stage: Stage,
    deadline: Instant,
}

#[derive(Debug)]
enum Stage {
    Resolving { link: LinkId },
    Trying(Trying),
}

#[derive(Debug)]
struct Trying {
    /// Those still to try, in order.
    addresses: VecDeque<SocketAddr>,
    /// The attempts under way.
    attempts: Vec<(LinkId, SocketAddr)>,
    /// When the next address joins in.
    next: Instant,
    /// What the last failed attempt failed of.
    reason: Option<(DownReason, SocketAddr)>,
}

/// What became of an attempt.
#[derive(Debug)]
pub(super) enum Dialed {
    /// Nothing yet.
    Pending,
    /// The name has addresses.
    Resolved,
    /// The stream is up.
    Up { link: LinkId, local: Option<SocketAddr>, peer: SocketAddr },
    /// None of the addresses can be reached.
    Failed(Error),
}

impl Dialing {
    /// Starts. An address needs no resolving.
    pub(super) fn start(
        now: Instant,
        host: &Host,
        port: u16,
        timeouts: &Timeouts,
        links: &mut Links,
    ) -> Self {
        let target = format!("{host}:{port}");
        let literal = match host {
            Host::Name(name) => {
                let spec = LinkSpec::Resolve { host: name.clone(), port };
                let link = links.open(spec);
                return Self { target, stage: Stage::Resolving { link }, deadline: now + timeouts.resolve };
            }
            Host::V4(ip) => SocketAddr::new(IpAddr::V4(*ip), port),
            Host::V6 { ip, zone } => {
                let scope = zone.as_ref().and_then(|zone| zone.parse().ok()).unwrap_or(0);
                SocketAddrV6::new(*ip, port, 0, scope).into()
            }
        };
        let mut dialing = Self {
            target,
            stage: Stage::trying(now, Vec::from([literal])),
            deadline: now + timeouts.connect,
        };
        dialing.proceed(now, timeouts, links);
        dialing
    }

    pub(super) const fn is_resolving(&self) -> bool {
        matches!(self.stage, Stage::Resolving { .. })
    }

    /// Takes note of what became of a link.
    pub(super) fn handle_link(
        &mut self,
        now: Instant,
        link: LinkId,
        event: &LinkEvent,
        timeouts: &Timeouts,
        links: &mut Links,
    ) -> Dialed {
        match (&mut self.stage, event) {
            (Stage::Resolving { link: lookup }, LinkEvent::Resolved { addresses }) if *lookup == link => {
                if addresses.is_empty() {
                    return Dialed::Failed(self.error(Code::NoAddress, Phase::Resolve));
                }
                self.stage = Stage::trying(now, interleaved(addresses));
                self.deadline = now + timeouts.connect;
                self.proceed(now, timeouts, links);
                Dialed::Resolved
            }
            (Stage::Resolving { link: lookup }, LinkEvent::Down(_)) if *lookup == link => {
                Dialed::Failed(self.error(Code::NoAddress, Phase::Resolve))
            }
            (Stage::Trying(trying), LinkEvent::Up { local, peer }) => {
                let Some(at) = trying.attempts.iter().position(|(tried, _)| *tried == link) else {
                    return Dialed::Pending;
                };
                let (_, address) = trying.attempts.swap_remove(at);
                trying.attempts.drain(..).for_each(|(other, _)| links.close(other));
                Dialed::Up { link, local: *local, peer: peer.unwrap_or(address) }
            }
            (Stage::Trying(trying), LinkEvent::Down(reason)) => {
                let Some(at) = trying.attempts.iter().position(|(tried, _)| *tried == link) else {
                    return Dialed::Pending;
                };
                let (_, address) = trying.attempts.swap_remove(at);
                trying.reason = Some((*reason, address));
                trying.next = now;
                self.proceed(now, timeouts, links);
                self.outcome()
            }
            _ => Dialed::Pending,
        }
    }

    /// Lets the next address join in, or gives up.
    pub(super) fn handle_timeout(&mut self, now: Instant, timeouts: &Timeouts, links: &mut Links) -> Dialed {
        if now >= self.deadline {
            self.abandon(links);
            let (code, phase) = match self.stage {
                Stage::Resolving { .. } => (Code::ResolveTimeout, Phase::Resolve),
                Stage::Trying(_) => (Code::ConnectTimeout, Phase::Connect),
            };
            return Dialed::Failed(self.error(code, phase));
        }
        self.proceed(now, timeouts, links);
        self.outcome()
    }

    pub(super) fn poll_timeout(&self) -> Instant {
        match &self.stage {
            Stage::Trying(trying) if !trying.addresses.is_empty() => self.deadline.min(trying.next),
            Stage::Resolving { .. } | Stage::Trying(_) => self.deadline,
        }
    }

    /// Closes everything that is under way.
    pub(super) fn abandon(&mut self, links: &mut Links) {
        match &mut self.stage {
            Stage::Resolving { link } => links.close(*link),
            Stage::Trying(trying) => trying.attempts.drain(..).for_each(|(link, _)| links.close(link)),
        }
    }

    fn proceed(&mut self, now: Instant, timeouts: &Timeouts, links: &mut Links) {
        let Stage::Trying(trying) = &mut self.stage else { return };
        if (now >= trying.next || trying.attempts.is_empty())
            && let Some(address) = trying.addresses.pop_front()
        {
            let link = links.open(LinkSpec::TcpConnect { peer: address });
            trying.attempts.push((link, address));
            trying.next = now + timeouts.stagger;
        }
    }

    fn outcome(&self) -> Dialed {
        let Stage::Trying(Trying { addresses, attempts, reason: Some((reason, address)), .. }) = &self.stage
        else {
            return Dialed::Pending;
        };
        if !addresses.is_empty() || !attempts.is_empty() {
            return Dialed::Pending;
        }
        let error = Error::new(code_of(*reason), Phase::Connect);
        Dialed::Failed(error.with_detail(format!("{} at {address}", self.target)))
    }

    fn error(&self, code: Code, phase: Phase) -> Error {
        Error::new(code, phase).with_detail(self.target.clone())
    }
}

impl Stage {
    fn trying(now: Instant, addresses: Vec<SocketAddr>) -> Self {
        Self::Trying(Trying { addresses: addresses.into(), attempts: Vec::new(), next: now, reason: None })
    }
}

/// Alternates between the families, beginning with that of the first address (RFC 8305 §4).
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (mut one, mut other): (VecDeque<_>, VecDeque<_>) =
        addresses.iter().copied().partition(|address| address.is_ipv6() == first_is_v6);
    let mut mixed = Vec::with_capacity(addresses.len().min(MAX_ADDRESSES));
    while mixed.len() < MAX_ADDRESSES {
        let Some(next) = one.pop_front().or_else(|| other.pop_front()) else { break };
        mixed.push(next);
        core::mem::swap(&mut one, &mut other);
    }
    mixed
}

/// Addresses of a name that are tried.
const MAX_ADDRESSES: usize = 16;

/// Returns the code of a connection attempt that failed.
pub(super) const fn code_of(reason: DownReason) -> Code {
    match reason {
        DownReason::Refused => Code::ConnectRefused,
        DownReason::Reset => Code::Reset,
        DownReason::Unreachable => Code::Unreachable,
        DownReason::TimedOut => Code::ConnectTimeout,
        DownReason::Unsupported => Code::Unsupported,
        DownReason::Closed => Code::Cancelled,
        DownReason::Io | _ => Code::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use core::time::Duration;
    use proto_core::LinkRequest;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn opened(links: &mut Links) -> Vec<(LinkId, LinkSpec)> {
        let mut all = vec![];
        while let Some(request) = links.poll() {
            if let LinkRequest::Open { link, spec } = request {
                all.push((link, spec));
            }
        }
        all
    }

    fn resolved(links: &mut Links, addresses: &[&str]) -> Dialing {
        let timeouts = Timeouts::default();
        let mut dialing = Dialing::start(Instant::ZERO, &Host::Name("a".into()), 80, &timeouts, links);
        let [(link, LinkSpec::Resolve { .. })] = opened(links)[..] else { panic!("a lookup") };
        let addresses = addresses.iter().map(|text| address(text)).collect();
        let event = LinkEvent::Resolved { addresses };
        let outcome = dialing.handle_link(Instant::ZERO, link, &event, &timeouts, links);
        assert!(matches!(outcome, Dialed::Resolved));
        dialing
    }

    #[test]
    fn families_alternate_and_a_silent_address_does_not_hold_up_the_next() {
        let (mut links, timeouts) = (Links::default(), Timeouts::default());
        let mut dialing = resolved(&mut links, &["[::1]:80", "[::2]:80", "1.2.3.4:80"]);
        let first = opened(&mut links);
        assert_eq!(first[0].1, LinkSpec::TcpConnect { peer: address("[::1]:80") });
        assert_eq!(dialing.poll_timeout(), Instant::ZERO + timeouts.stagger);
        let later = dialing.poll_timeout();
        dialing.handle_timeout(later, &timeouts, &mut links);
        let second = opened(&mut links);
        assert_eq!(second[0].1, LinkSpec::TcpConnect { peer: address("1.2.3.4:80") });
        let up = LinkEvent::Up { local: None, peer: None };
        let outcome = dialing.handle_link(later, second[0].0, &up, &timeouts, &mut links);
        assert!(matches!(outcome, Dialed::Up { peer, .. } if peer == address("1.2.3.4:80")));
        assert_eq!(links.poll(), Some(LinkRequest::Close { link: first[0].0 }));
    }

    #[test]
    fn a_refusal_lets_the_next_address_try_at_once_and_the_last_one_is_told() {
        let (mut links, timeouts) = (Links::default(), Timeouts::default());
        let mut dialing = resolved(&mut links, &["1.2.3.4:80", "1.2.3.5:80"]);
        let refused = LinkEvent::Down(DownReason::Refused);
        let [(first, _)] = opened(&mut links)[..] else { panic!("one attempt") };
        let outcome = dialing.handle_link(Instant::ZERO, first, &refused, &timeouts, &mut links);
        assert!(matches!(outcome, Dialed::Pending));
        let [(second, _)] = opened(&mut links)[..] else { panic!("one attempt") };
        let outcome = dialing.handle_link(Instant::ZERO, second, &refused, &timeouts, &mut links);
        let Dialed::Failed(error) = outcome else { panic!("{outcome:?}") };
        assert_eq!((error.code, error.phase), (Code::ConnectRefused, Phase::Connect));
        assert_eq!(error.detail, "a:80 at 1.2.3.5:80");
    }

    #[test]
    fn each_phase_has_its_own_deadline_and_code() {
        let (mut links, timeouts) = (Links::default(), Timeouts::default());
        let mut dialing = Dialing::start(Instant::ZERO, &Host::Name("a".into()), 80, &timeouts, &mut links);
        let late = dialing.poll_timeout();
        assert_eq!(late, Instant::ZERO + Duration::from_secs(5));
        let outcome = dialing.handle_timeout(late, &timeouts, &mut links);
        assert!(matches!(outcome, Dialed::Failed(error) if error.code == Code::ResolveTimeout));
        opened(&mut links);
        let mut dialing = resolved(&mut links, &["1.2.3.4:80"]);
        let outcome = dialing.handle_timeout(late, &timeouts, &mut links);
        assert!(matches!(outcome, Dialed::Failed(error) if error.code == Code::ConnectTimeout));
    }
}
