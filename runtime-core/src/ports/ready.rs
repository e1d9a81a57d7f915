//! Which ports have something to do: a list that their wakers fill.

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
};

/// The slots of ports that want a turn.
///
/// Each port waits with a waker of its own, so that a wake-up of the driver costs what is ready and not what is there.
#[derive(Debug, Default)]
pub(super) struct Ready {
    bell: Arc<Bell>,
    turns: VecDeque<Arc<Mark>>,
}

/// What says that a port wants a turn, and that it is noted already.
#[derive(Debug)]
pub(super) struct Mark {
    slot: usize,
    noted: AtomicBool,
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<Rung>,
}

#[derive(Debug, Default)]
struct Rung {
    marks: Vec<Arc<Mark>>,
    /// The driver's task, until it is woken.
    task: Option<Waker>,
}

impl Ready {
    /// Creates the mark of the port in `slot`; it is a waker as well.
    pub(super) fn mark(&self, slot: usize) -> Arc<Mark> {
        Arc::new(Mark { slot, noted: AtomicBool::new(false), bell: Arc::clone(&self.bell) })
    }

    /// Takes over what was woken since, and has the next one wake the task of `cx`.
    pub(super) fn collect(&mut self, cx: &Context<'_>) {
        let mut rung = self.bell.lock();
        if rung.task.as_ref().is_none_or(|task| !task.will_wake(cx.waker())) {
            rung.task = Some(cx.waker().clone());
        }
        self.turns.extend(rung.marks.drain(..));
    }

    /// Gives a port a turn without waking anybody.
    pub(super) fn push(&mut self, mark: &Arc<Mark>) {
        if !mark.noted.swap(true, Ordering::AcqRel) {
            self.turns.push_back(Arc::clone(mark));
        }
    }

    /// Returns the slot whose turn it is. From now on it can be marked again.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let mark = self.turns.pop_front()?;
        mark.noted.store(false, Ordering::Release);
        Some(mark.slot)
    }

    /// Returns how many turns there are.
    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }
}

impl Wake for Mark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.noted.swap(true, Ordering::AcqRel) {
            return;
        }
        let task = {
            let mut rung = self.bell.lock();
            rung.marks.push(Arc::clone(self));
            mem::take(&mut rung.task)
        };
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn many_wakes_are_one_turn_each_and_wake_the_task_once() {
        let (mut ready, task) = (Ready::default(), Arc::new(Task::default()));
        let task_waker = Waker::from(Arc::clone(&task));
        let cx = Context::from_waker(&task_waker);
        ready.collect(&cx);
        let marks = [ready.mark(3), ready.mark(5)];
        for mark in marks.iter().chain(&marks) {
            Waker::from(Arc::clone(mark)).wake();
        }
        assert_eq!(task.0.load(Ordering::Relaxed), 1);
        ready.collect(&cx);
        assert_eq!((ready.pop(), ready.pop(), ready.pop()), (Some(3), Some(5), None));

        marks[0].wake_by_ref();
        assert_eq!(task.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_port_that_has_its_turn_can_be_woken_again() {
        let mut ready = Ready::default();
        let mark = ready.mark(0);
        ready.push(&mark);
        ready.push(&mark);
        assert_eq!(ready.len(), 1);
        assert_eq!(ready.pop(), Some(0));
        mark.wake_by_ref();
        ready.collect(&Context::from_waker(Waker::noop()));
        assert_eq!(ready.pop(), Some(0));
    }
}
