//! Messages in one direction.

use runtime_tokio::raknet::{CloseReason, Message, RaknetStream, SendFailed};
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::raknet::echo::as_it_came;

/// What went through in one direction.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) messages: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// Unreliable messages that found no room.
    pub(super) dropped: AtomicU64,
}

/// Moves messages until the session that they come from ends, and returns how it did.
///
/// Reliable messages wait for room, and with them those behind them: the sender is slowed down. Unreliable ones that
/// find no room are dropped, since whoever sends them wants them now or not at all.
pub(super) async fn pump(from: &RaknetStream, to: &RaknetStream, flow: &Flow) -> CloseReason {
    let (mut received, mut ready) = (Vec::new(), VecDeque::new());
    loop {
        if let Err(reason) = from.recv_batch(&mut received, BATCH).await {
            return reason;
        }
        for message in received.drain(..) {
            flow.messages.fetch_add(1, Ordering::Relaxed);
            flow.bytes.fetch_add(message.payload.len() as u64, Ordering::Relaxed);
            let message = as_it_came(message);
            if message.reliability.is_reliable() {
                ready.push_back(message);
                continue;
            }
            // What is sequenced must not overtake what was ordered before it.
            send_all(to, &mut ready, flow).await;
            if to.try_send(message).is_err() {
                flow.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        send_all(to, &mut ready, flow).await;
    }
}

/// Sends all messages. When the session they go to is over this never ends: the other direction, whose source that
/// session is, first brings what it sent before its end.
async fn send_all(to: &RaknetStream, messages: &mut VecDeque<Message>, flow: &Flow) {
    while let Err(error) = to.send_batch(messages).await {
        if matches!(error, SendFailed::Closed(_)) {
            std::future::pending::<()>().await;
        }
        flow.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Messages taken at a time.
const BATCH: usize = 64;
