//! Announces as a stream.

use super::node::RnsNode;
use crate::{Runtime, faces::waiters::Waiters};
use futures_core::Stream;
use proto_rns::transport::Announced;
use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    task::{Context, Poll},
};

/// A stream of the announces that a node hears from now on; ends with the node.
///
/// A reader that falls more than 1,024 announces behind misses the oldest; [`missed`](Self::missed) counts them.
#[derive(Debug)]
pub struct Announces<R: Runtime> {
    node: RnsNode<R>,
    subscription: u64,
}

impl<R: Runtime> Announces<R> {
    pub(super) fn new(node: RnsNode<R>) -> Self {
        let subscription = node.handle().read(|_, desk| desk.announces.subscribe());
        Self { node, subscription }
    }

    /// Waits for the next announce; `None` once the node has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<Announced> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns how many announces this reader missed.
    pub fn missed(&self) -> u64 {
        self.node.handle().read(|_, desk| desk.announces.missed(self.subscription))
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Option<Announced>> {
        self.node.handle().read(|_, desk| desk.announces.poll(self.subscription, cx))
    }
}

impl<R: Runtime> Stream for Announces<R> {
    type Item = Announced;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Announced>> {
        self.poll(cx)
    }
}

impl<R: Runtime> Drop for Announces<R> {
    fn drop(&mut self) {
        self.node.handle().read(|_, desk| desk.announces.unsubscribe(self.subscription));
    }
}

/// Who listens to announces.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    queues: BTreeMap<u64, Queue>,
    next: u64,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Queue {
    heard: VecDeque<Announced>,
    missed: u64,
    waiters: Waiters,
}

impl Subscriptions {
    const MOST: usize = 1_024;

    pub(super) fn publish(&mut self, announced: &Announced) {
        for queue in self.queues.values_mut() {
            if queue.heard.len() >= Self::MOST {
                queue.heard.pop_front();
                queue.missed = queue.missed.wrapping_add(1);
            }
            queue.heard.push_back(announced.clone());
            queue.waiters.wake();
        }
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.queues.values_mut().for_each(|queue| queue.waiters.wake());
    }

    fn subscribe(&mut self) -> u64 {
        self.next += 1;
        self.queues.insert(self.next, Queue::default());
        self.next
    }

    fn unsubscribe(&mut self, subscription: u64) {
        self.queues.remove(&subscription);
    }

    fn missed(&self, subscription: u64) -> u64 {
        self.queues.get(&subscription).map_or(0, |queue| queue.missed)
    }

    fn poll(&mut self, subscription: u64, cx: &Context<'_>) -> Poll<Option<Announced>> {
        let Some(queue) = self.queues.get_mut(&subscription) else { return Poll::Ready(None) };
        match queue.heard.pop_front() {
            Some(announced) => Poll::Ready(Some(announced)),
            None if self.stopped => Poll::Ready(None),
            None => {
                queue.waiters.add(cx);
                Poll::Pending
            }
        }
    }
}
