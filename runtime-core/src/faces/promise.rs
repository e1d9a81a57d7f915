//! A value that one task waits for and the driver brings.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// A future of a value that a [`Resolver`] brings; `None` if the resolver is dropped without one.
#[derive(Debug)]
pub(crate) struct Promise<T>(Arc<Mutex<State<T>>>);

/// Brings the value of one [`Promise`].
#[derive(Debug)]
pub(crate) struct Resolver<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    over: bool,
    waiting: Option<Waker>,
}

/// Creates a promise and what resolves it.
pub(crate) fn promise<T>() -> (Promise<T>, Resolver<T>) {
    let state = Arc::new(Mutex::new(State { value: None, over: false, waiting: None }));
    (Promise(Arc::clone(&state)), Resolver(state))
}

impl<T> Future for Promise<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = lock(&self.0);
        if state.over {
            return Poll::Ready(state.value.take());
        }
        state.waiting = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<T> Resolver<T> {
    /// Brings the value.
    pub(crate) fn resolve(self, value: T) {
        lock(&self.0).value = Some(value);
    }

    /// Says whether nobody waits for the value any more.
    #[cfg(any(feature = "rns", test))]
    pub(crate) fn is_abandoned(&self) -> bool {
        Arc::strong_count(&self.0) < 2
    }
}

impl<T> Drop for Resolver<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.over = true;
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }
}

fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<T>(promise: &mut Promise<T>) -> Poll<Option<T>> {
        Pin::new(promise).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_promise_tells_what_was_brought() {
        let (mut promise, resolver) = promise();
        assert_eq!(poll(&mut promise), Poll::Pending);
        resolver.resolve(7);
        assert_eq!(poll(&mut promise), Poll::Ready(Some(7)));
    }

    #[test]
    fn a_promise_that_nobody_keeps_is_over() {
        let (mut promise, resolver) = promise::<u8>();
        drop(resolver);
        assert_eq!(poll(&mut promise), Poll::Ready(None));
        let (promise, resolver) = super::promise::<u8>();
        drop(promise);
        assert!(resolver.is_abandoned());
    }
}
