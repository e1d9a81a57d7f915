//! One session, as its stream and the stream's halves share it.

use proto_core::Instant;
use proto_raknet::{CloseReason, Endpoint, Message, PeerId, PeerInfo, PeerStats, Received, SendError};
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use super::{
    desk::{Desk, Occasion},
    error::SendFailed,
    receipt::Receipt,
};
use crate::{Handle, Stats};

/// A handle on the endpoint with the peer that it is about. Dropped, it closes the session in good order.
#[derive(Debug)]
pub(super) struct Session {
    handle: Handle<Endpoint, Desk>,
    peer: PeerId,
    info: PeerInfo,
}

impl Session {
    pub(super) const fn new(handle: Handle<Endpoint, Desk>, peer: PeerId, info: PeerInfo) -> Self {
        Self { handle, peer, info }
    }

    pub(super) const fn info(&self) -> &PeerInfo {
        &self.info
    }

    /// Sends `message`, or has the task of `cx` woken when there may be room and leaves the message where it is.
    pub(super) fn poll_send(
        &self,
        cx: &mut Context<'_>,
        message: &mut Option<Message>,
    ) -> Poll<Result<Option<Receipt>, SendFailed>> {
        self.handle.with(|machine, desk, now| {
            let Some(next) = message.take() else { return Poll::Ready(Ok(None)) };
            match self.offer(machine, desk, now, next) {
                Offer::Taken(sent) => Poll::Ready(sent),
                Offer::NoRoom(returned) => {
                    *message = Some(returned);
                    desk.wait(self.peer, Occasion::Writable, cx);
                    Poll::Pending
                }
            }
        })
    }

    /// Sends messages from the front of `messages` until it is empty; waits for room in between.
    pub(super) fn poll_send_batch(
        &self,
        cx: &mut Context<'_>,
        messages: &mut VecDeque<Message>,
    ) -> Poll<Result<(), SendFailed>> {
        self.handle.with(|machine, desk, now| {
            while let Some(next) = messages.pop_front() {
                match self.offer(machine, desk, now, next) {
                    Offer::Taken(sent) => drop(sent?),
                    Offer::NoRoom(returned) => {
                        messages.push_front(returned);
                        desk.wait(self.peer, Occasion::Writable, cx);
                        return Poll::Pending;
                    }
                }
            }
            Poll::Ready(Ok(()))
        })
    }

    /// Sends `message` now or not at all.
    pub(super) fn try_send(&self, message: Message) -> Result<Option<Receipt>, SendFailed> {
        match self.try_offer(message) {
            Offer::Taken(sent) => sent,
            Offer::NoRoom(_) => Err(SendFailed::Refused(SendError::Full)),
        }
    }

    /// Sends `message` now, or gives it back.
    pub(super) fn try_offer(&self, message: Message) -> Offer {
        self.handle.with(|machine, desk, now| self.offer(machine, desk, now, message))
    }

    /// Takes out the next message, or has the task of `cx` woken when there is one or the session is over.
    pub(super) fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<Result<Received, CloseReason>> {
        self.handle.read(|machine, desk| match self.take(machine, desk) {
            Ok(Some(received)) => Poll::Ready(Ok(received)),
            Ok(None) => {
                desk.wait(self.peer, Occasion::Readable, cx);
                Poll::Pending
            }
            Err(reason) => Poll::Ready(Err(reason)),
        })
    }

    /// Moves up to `limit` messages to the end of `into`; waits for the first one only.
    pub(super) fn poll_recv_batch(
        &self,
        cx: &mut Context<'_>,
        into: &mut Vec<Received>,
        limit: usize,
    ) -> Poll<Result<usize, CloseReason>> {
        self.handle.read(|machine, desk| {
            let mut count = 0;
            while count < limit {
                match self.take(machine, desk) {
                    Ok(Some(received)) => into.push(received),
                    Ok(None) if count > 0 => break,
                    Ok(None) => {
                        desk.wait(self.peer, Occasion::Readable, cx);
                        return Poll::Pending;
                    }
                    Err(_) if count > 0 => break,
                    Err(reason) => return Poll::Ready(Err(reason)),
                }
                count += 1;
            }
            Poll::Ready(Ok(count))
        })
    }

    pub(super) fn try_recv(&self) -> Result<Option<Received>, CloseReason> {
        self.handle.read(|machine, desk| self.take(machine, desk))
    }

    pub(super) fn flush(&self) {
        self.handle.with(|machine, _, now| machine.flush(now, self.peer));
    }

    /// Begins an orderly end.
    pub(super) fn begin_close(&self) {
        self.handle.with(|machine, _, now| machine.disconnect(now, self.peer));
    }

    /// Ends the session without a word to the peer.
    pub(super) fn abort(&self) {
        self.handle.with(|machine, _, now| machine.abort(now, self.peer));
    }

    /// Waits for the end that [`begin_close`](Self::begin_close) began; any other end is an error.
    pub(super) fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<Result<(), CloseReason>> {
        self.poll_over(cx).map(|reason| if reason == CloseReason::LocalClose { Ok(()) } else { Err(reason) })
    }

    /// Waits for the end of the session, however it comes.
    pub(super) fn poll_over(&self, cx: &mut Context<'_>) -> Poll<CloseReason> {
        self.handle.read(|_, desk| match desk.departed(self.peer) {
            Some(departed) => Poll::Ready(departed.why.reason()),
            None => {
                desk.wait(self.peer, Occasion::Change, cx);
                Poll::Pending
            }
        })
    }

    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.handle.read(|_, desk| desk.departed(self.peer).map(|departed| departed.why.reason()))
    }

    pub(super) fn stats(&self) -> Option<PeerStats> {
        self.handle.read(|machine, _| machine.peer_stats(self.peer))
    }

    pub(super) fn driver_stats(&self) -> Stats {
        self.handle.stats()
    }

    /// Returns the peer if it belongs to the endpoint behind `handle`.
    pub(super) fn peer_at(&self, handle: &Handle<Endpoint, Desk>) -> Option<PeerId> {
        self.handle.is_same(handle).then_some(self.peer)
    }

    /// Asks something about the peer.
    pub(super) fn read<T>(&self, ask: impl FnOnce(&mut Endpoint, &mut Desk, PeerId) -> T) -> T {
        self.handle.read(|machine, desk| ask(machine, desk, self.peer))
    }

    /// Gives a message to the machine if that has room.
    fn offer(&self, machine: &mut Endpoint, desk: &mut Desk, now: Instant, message: Message) -> Offer {
        if !machine.poll_room(self.peer, message.reliability) {
            return Offer::NoRoom(message);
        }
        Offer::Taken(match machine.send(now, self.peer, message) {
            Ok(None) => Ok(None),
            Ok(Some(id)) => {
                let (receipt, pending) = Receipt::new();
                desk.keep_receipt(self.peer, id, pending);
                Ok(Some(receipt))
            }
            Err(SendError::UnknownPeer) => Err(SendFailed::Closed(desk.close_reason(self.peer))),
            Err(SendError::Closing) => Err(SendFailed::Closed(CloseReason::LocalClose)),
            Err(error) => Err(SendFailed::Refused(error)),
        })
    }

    /// Takes out the next message; an error says that there will be none.
    fn take(&self, machine: &mut Endpoint, desk: &mut Desk) -> Result<Option<Received>, CloseReason> {
        if let Some(received) = machine.recv(self.peer) {
            return Ok(Some(received));
        }
        let Some(departed) = desk.departed(self.peer) else { return Ok(None) };
        departed.unread.pop_front().map(Some).ok_or_else(|| departed.why.reason())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.handle.with(|machine, desk, now| {
            machine.disconnect(now, self.peer);
            desk.leave(self.peer);
        });
    }
}

/// What became of a message that was offered to the machine.
pub(super) enum Offer {
    /// It was sent, or cannot be.
    Taken(Result<Option<Receipt>, SendFailed>),
    /// It can be sent later; the machine will say when.
    NoRoom(Message),
}
