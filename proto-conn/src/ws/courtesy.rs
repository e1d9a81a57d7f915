//! Time for the application's last words.

use core::time::Duration;
use proto_core::Instant;

use super::{Event, Session};

/// Leaves the application a moment to answer the last message before the peer's close frame is answered.
///
/// A session answers that frame when it is asked for the event; a driver asks for all events at once, before the
/// application has seen the first of them.
#[derive(Debug, Default)]
pub(crate) struct Courtesy {
    /// When the last message was told.
    told: Option<Instant>,
}

impl Courtesy {
    /// How long the application has.
    const MOMENT: Duration = Duration::from_millis(5);

    /// Returns the session's next event, unless that is the end and the moment has not passed.
    pub(crate) fn poll_event(&mut self, now: Instant, session: &mut Session) -> Option<Event> {
        if session.ends_next() && self.until().is_some_and(|until| now < until) {
            return None;
        }
        let event = session.poll_event();
        match &event {
            Some(Event::Message(_)) => self.told = Some(now),
            Some(Event::Closed { .. } | Event::Failed(_)) => self.told = None,
            Some(Event::Writable) | None => {}
        }
        event
    }

    /// When the session is to be asked again.
    pub(crate) fn poll_timeout(&self, session: &Session) -> Option<Instant> {
        self.until().filter(|_| session.ends_next())
    }

    fn until(&self) -> Option<Instant> {
        self.told.map(|told| told + Self::MOMENT)
    }
}
