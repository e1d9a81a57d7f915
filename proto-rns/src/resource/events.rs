//! The events that the application has not taken yet.

use super::Event;
use alloc::collections::VecDeque;

/// A queue in which progress takes one place a resource.
///
/// Its length is bounded because a resource tells at most a start, progress, an end and its segments, and no resource
/// is accepted while the queue [is full](Self::is_full) or too much memory [is held](Self::held_bytes).
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: VecDeque<Event>,
    held_bytes: usize,
}

impl EventQueue {
    pub(super) fn push(&mut self, event: Event) {
        if let Event::Progress { id, .. } = event
            && let Some(earlier) = self
                .events
                .iter_mut()
                .find(|earlier| matches!(earlier, Event::Progress { id: known, .. } if *known == id))
        {
            *earlier = event;
            return;
        }
        self.held_bytes += event.held_bytes();
        self.events.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.held_bytes = self.held_bytes.saturating_sub(event.held_bytes());
        Some(event)
    }

    /// Returns the memory of the data that wait to be taken.
    pub(super) const fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Says whether so much waits that nothing more should be begun.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MAX_EVENTS
    }
}

/// So many events wait before offers are refused.
const MAX_EVENTS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Kind, ResourceId};
    use bytes::Bytes;

    #[test]
    fn progress_takes_one_place_and_data_are_counted_until_taken() {
        let id = ResourceId::FIRST;
        let mut queue = EventQueue::default();
        queue.push(Event::Started { id });
        (1..9).for_each(|done| queue.push(Event::Progress { id, done, total: 9 }));
        queue.push(Event::Received {
            id,
            kind: Kind::Plain,
            data: Bytes::from_static(&[1; 9]),
            metadata: None,
        });
        assert_eq!(queue.held_bytes(), 9);
        assert_eq!(queue.pop(), Some(Event::Started { id }));
        assert_eq!(queue.pop(), Some(Event::Progress { id, done: 8, total: 9 }));
        assert!(queue.pop().is_some());
        assert_eq!((queue.held_bytes(), queue.pop()), (0, None));
    }
}
