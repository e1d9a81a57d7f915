//! Waiting on any runtime.

use runtime_core::{Runtime, Timer};
use std::{pin::pin, task::Poll, time::Duration};

/// Runs `future`, for a limited time.
pub(crate) async fn within<R: Runtime, F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut timer = R::timer().unwrap();
    let end = R::now() + limit;
    timer.arm(end, Duration::ZERO);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        while timer.poll_expired(cx).is_ready() {
            if R::now() >= end {
                return Poll::Ready(None);
            }
            timer.arm(end, Duration::ZERO);
        }
        Poll::Pending
    })
    .await
}

pub(crate) async fn sleep<R: Runtime>(time: Duration) {
    within::<R, _>(time, std::future::pending::<()>()).await;
}
