//! Requests that wait: this end's for their responses, the peer's for the application (spec 1.11).

use super::RequestFailure;
use crate::RequestId;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::time::Duration;
use proto_core::Instant;

/// The requests of a link, in both directions.
#[derive(Debug)]
pub(super) struct Requests {
    pending: BTreeMap<RequestId, Pending>,
    deadlines: BTreeSet<(Instant, RequestId)>,
    unanswered: VecDeque<RequestId>,
    max_pending: usize,
    max_unanswered: usize,
}

/// A request of this end.
#[derive(Clone, Copy, Debug)]
struct Pending {
    patience: Duration,
    max_response: usize,
    deadline: Option<Instant>,
}

impl Requests {
    pub(super) const fn new(max_pending: usize, max_unanswered: usize) -> Self {
        Self {
            pending: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            unanswered: VecDeque::new(),
            max_pending,
            max_unanswered,
        }
    }

    /// Says whether one more request may be made.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < self.max_pending
    }

    /// Waits for the response to a request. The time does not run before [`on_sent`](Self::on_sent).
    pub(super) fn on_requested(&mut self, id: RequestId, patience: Duration, max_response: usize) {
        self.forget(id);
        self.pending.insert(id, Pending { patience, max_response, deadline: None });
    }

    /// Lets the time run, now that the peer can have the request.
    pub(super) fn on_sent(&mut self, id: RequestId, now: Instant) {
        if let Some(pending) = self.pending.get_mut(&id) {
            let deadline = now + pending.patience;
            if let Some(earlier) = pending.deadline.replace(deadline) {
                self.deadlines.remove(&(earlier, id));
            }
            self.deadlines.insert((deadline, id));
        }
    }

    /// Says whether a request waits for a response.
    pub(super) fn is_pending(&self, id: RequestId) -> bool {
        self.pending.contains_key(&id)
    }

    /// Says whether a response of `size` bytes is not too long for the request that waits for it, if one does.
    pub(super) fn allows_response(&self, id: RequestId, size: u64) -> bool {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.pending.get(&id).is_none_or(|pending| size <= pending.max_response)
    }

    /// Stops the clock of a request whose response is coming as a resource, which has a clock of its own.
    pub(super) fn on_response_started(&mut self, id: RequestId) {
        if let Some(deadline) = self.pending.get_mut(&id).and_then(|pending| pending.deadline.take()) {
            self.deadlines.remove(&(deadline, id));
        }
    }

    /// Takes a response of `size` bytes; says whether somebody waits for it.
    ///
    /// # Errors
    /// It is longer than the request allows.
    pub(super) fn on_response(&mut self, id: RequestId, size: usize) -> Result<bool, RequestFailure> {
        match self.forget(id) {
            Some(pending) if size > pending.max_response => Err(RequestFailure::TooLarge),
            pending => Ok(pending.is_some()),
        }
    }

    /// Gives a request up; says whether it was waiting.
    pub(super) fn on_failed(&mut self, id: RequestId) -> bool {
        self.forget(id).is_some()
    }

    /// Returns a request that has waited for too long, and gives it up.
    pub(super) fn expire(&mut self, now: Instant) -> Option<RequestId> {
        let &(deadline, id) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.forget(id);
        Some(id)
    }

    /// Gives up a request, whichever; for when the link closes.
    pub(super) fn abandon(&mut self) -> Option<RequestId> {
        let (&id, _) = self.pending.first_key_value()?;
        self.forget(id);
        Some(id)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Notes a request of the peer.
    pub(super) fn on_asked(&mut self, id: RequestId) {
        if self.unanswered.len() >= self.max_unanswered {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back(id);
    }

    /// Says whether a request of the peer waits for an answer.
    pub(super) fn is_unanswered(&self, id: RequestId) -> bool {
        self.unanswered.contains(&id)
    }

    /// Notes that a request of the peer has its answer.
    pub(super) fn on_answered(&mut self, id: RequestId) {
        if let Some(place) = self.unanswered.iter().position(|unanswered| *unanswered == id) {
            self.unanswered.remove(place);
        }
    }

    fn forget(&mut self, id: RequestId) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        if let Some(deadline) = pending.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(pending)
    }
}

/// Returns how long a response may take when the request does not say.
pub(super) fn default_patience(rtt: Duration) -> Duration {
    rtt * 6 + RESPONSE_GRACE
}

/// Says whether compressing `len` bytes is worth its milliseconds: where the bytes are many, or each of them slow.
pub(super) fn is_worth_compressing(len: usize, rtt: Duration) -> bool {
    len >= 16 << 10 || rtt >= Duration::from_millis(100)
}

/// The reference's 1.125 times 10 s.
const RESPONSE_GRACE: Duration = Duration::from_millis(11_250);

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId::new([1; 16]);
    const OTHER: RequestId = RequestId::new([2; 16]);

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_response_takes_a_request_off_the_clock() {
        let mut requests = Requests::new(2, 2);
        requests.on_requested(ID, Duration::from_millis(10), 100);
        assert_eq!(requests.deadline(), None);
        requests.on_sent(ID, at(5));
        assert_eq!(requests.deadline(), Some(at(15)));
        assert_eq!(requests.on_response(ID, 100), Ok(true));
        assert_eq!(requests.deadline(), None);
        assert_eq!(requests.on_response(ID, 1), Ok(false));
    }

    #[test]
    fn a_request_expires_once() {
        let mut requests = Requests::new(2, 2);
        requests.on_requested(ID, Duration::from_millis(10), 100);
        requests.on_sent(ID, at(0));
        assert_eq!(requests.expire(at(9)), None);
        assert_eq!(requests.expire(at(10)), Some(ID));
        assert_eq!(requests.expire(at(10)), None);
    }

    #[test]
    fn a_response_longer_than_allowed_is_refused_when_offered_and_when_received() {
        let mut requests = Requests::new(2, 2);
        requests.on_requested(ID, Duration::from_secs(1), 100);
        requests.on_requested(OTHER, Duration::from_secs(1), 100);
        assert!(!requests.has_room());
        assert!(requests.allows_response(ID, 100));
        assert!(!requests.allows_response(ID, 101));
        assert!(requests.on_failed(ID));
        assert!(requests.allows_response(ID, 101));
        assert_eq!(requests.on_response(OTHER, 101), Err(RequestFailure::TooLarge));
        assert!(requests.has_room());
    }

    #[test]
    fn a_long_response_that_is_on_its_way_is_not_timed() {
        let mut requests = Requests::new(2, 2);
        requests.on_requested(ID, Duration::from_millis(10), 100);
        requests.on_sent(ID, at(0));
        requests.on_response_started(ID);
        assert_eq!(requests.deadline(), None);
        assert_eq!(requests.expire(at(1_000)), None);
    }

    #[test]
    fn the_oldest_unanswered_request_makes_room() {
        let mut requests = Requests::new(2, 2);
        for n in 0..3 {
            requests.on_asked(RequestId::new([n; 16]));
        }
        assert!(!requests.is_unanswered(RequestId::new([0; 16])));
        requests.on_answered(ID);
        assert!(!requests.is_unanswered(ID));
        assert!(requests.is_unanswered(OTHER));
    }
}
