//! Sending a channel's messages until they are proved.

use super::{receiver::WINDOW, window::Window};
use crate::{
    PacketHash,
    wire::{Envelope, MessageType},
};
use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// The sending end of a channel. It keeps at most a window of messages, each at most a packet long.
#[derive(Debug)]
pub(in crate::link) struct Sender {
    rtt: Duration,
    window: Window,
    next: u16,
    outstanding: VecDeque<Outstanding>,
    was_refused: bool,
}

/// A message that is not proved.
#[derive(Debug)]
struct Outstanding {
    sequence: u16,
    envelope: Vec<u8>,
    /// The packet of each try: a late proof of an early one is as good.
    tries: Vec<PacketHash>,
    deadline: Instant,
    /// How many later messages were proved before it.
    overtaken: u32,
}

/// What the time asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) enum Due {
    /// This message is to be sent again.
    Resend(u16),
    /// A message was tried often enough.
    GiveUp,
}

impl Sender {
    pub(in crate::link) fn new(rtt: Duration) -> Self {
        Self { rtt, window: Window::new(rtt), next: 0, outstanding: VecDeque::new(), was_refused: false }
    }

    /// Says whether one more message may be sent; a `false` is followed by a `true` of
    /// [`on_proved`](Self::on_proved) once that has changed.
    pub(in crate::link) fn is_ready(&mut self) -> bool {
        let ready = self.has_room();
        self.was_refused |= !ready;
        ready
    }

    /// Takes a message and returns its number. It is to be sent at once.
    pub(in crate::link) fn push(&mut self, message_type: MessageType, data: &[u8]) -> u16 {
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        let mut envelope = Vec::with_capacity(Envelope::HEADER + data.len());
        Envelope { message_type, sequence, data }.emit(&mut envelope);
        self.outstanding.push_back(Outstanding {
            sequence,
            envelope,
            tries: Vec::new(),
            deadline: Instant::ZERO,
            overtaken: 0,
        });
        sequence
    }

    /// Returns a message that is not proved.
    pub(in crate::link) fn envelope(&self, sequence: u16) -> Option<&[u8]> {
        self.outstanding.iter().find(|message| message.sequence == sequence).map(|message| &*message.envelope)
    }

    /// Notes that a message was sent in the packet with this hash.
    pub(in crate::link) fn on_sent(&mut self, sequence: u16, hash: PacketHash, now: Instant) {
        let waiting = self.outstanding.len();
        let rtt = self.rtt;
        if let Some(message) = self.outstanding.iter_mut().find(|message| message.sequence == sequence) {
            message.tries.push(hash);
            message.deadline = now + patience(rtt, message.tries.len(), waiting);
        }
    }

    /// Takes the proof of a message off the window. Says whether there is room again that was missed, and passes on the
    /// packets whose proofs need no longer be awaited.
    ///
    /// A message that several later ones overtook is lost: it is sent again at once, but once only, so that the tries of
    /// a peer that is just slow are not used up. Patience for a full window would take seconds.
    pub(in crate::link) fn on_proved(
        &mut self,
        sequence: u16,
        now: Instant,
        mut forget: impl FnMut(PacketHash),
    ) -> bool {
        let Some(place) = self.outstanding.iter().position(|message| message.sequence == sequence) else {
            return false;
        };
        if let Some(message) = self.outstanding.remove(place) {
            message.tries.into_iter().for_each(&mut forget);
        }
        for earlier in self.outstanding.iter_mut().take(place) {
            earlier.overtaken += 1;
            if earlier.overtaken == OVERTAKEN_IS_LOST && earlier.tries.len() == 1 {
                earlier.deadline = now;
            }
        }
        self.window.on_delivered(self.rtt);
        self.has_room() && core::mem::take(&mut self.was_refused)
    }

    /// Returns what is due; a message that is to be sent again must be, with [`on_sent`](Self::on_sent).
    pub(in crate::link) fn handle_timeout(&mut self, now: Instant) -> Option<Due> {
        let late = self.outstanding.iter().find(|message| message.deadline <= now)?;
        if late.tries.len() >= MAX_TRIES {
            return Some(Due::GiveUp);
        }
        self.window.on_timeout();
        Some(Due::Resend(late.sequence))
    }

    pub(in crate::link) fn deadline(&self) -> Option<Instant> {
        self.outstanding.iter().map(|message| message.deadline).min()
    }

    /// Says whether the window, and the receiver's behind it, have room. A receiver of the reference proves what is too
    /// far ahead of the next message and throws it away.
    fn has_room(&self) -> bool {
        let oldest = self.outstanding.front().map_or(self.next, |message| message.sequence);
        self.outstanding.len() < self.window.size() && self.next.wrapping_sub(oldest) < WINDOW
    }
}

/// Returns how long the proof of a message may take that was sent so often and is one of `waiting`.
fn patience(rtt: Duration, tries: usize, waiting: usize) -> Duration {
    let first = rtt.mul_f64(2.5).max(Duration::from_millis(25));
    let backoff = (1..tries).fold(1.0, |factor, _| factor * 1.5);
    let waiting = u32::try_from(waiting).map_or(f64::MAX, f64::from);
    Duration::try_from_secs_f64(first.as_secs_f64() * backoff * (waiting + 1.5)).unwrap_or(Duration::MAX)
}

/// How many later messages must be proved before an earlier one counts as lost: paths reorder a little.
const OVERTAKEN_IS_LOST: u32 = 3;
/// How often a message is sent before the link is given up.
const MAX_TRIES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn hash(n: u8) -> PacketHash {
        PacketHash::new([n; 32])
    }

    #[test]
    fn a_message_is_tried_five_times_with_growing_patience() {
        let mut sender = Sender::new(Duration::from_millis(100));
        let sequence = sender.push(MessageType(1), b"message");
        sender.on_sent(sequence, hash(0), at(0));
        let mut gaps = Vec::new();
        let mut now = at(0);
        for n in 1.. {
            let deadline = sender.deadline().unwrap();
            gaps.push(deadline.saturating_since(now).as_millis());
            now = deadline;
            match sender.handle_timeout(now).unwrap() {
                Due::Resend(sequence) => sender.on_sent(sequence, hash(n), now),
                Due::GiveUp => break,
            }
        }
        assert_eq!(gaps, [625, 937, 1_406, 2_109, 3_164]);
    }

    #[test]
    fn the_proof_of_any_try_counts_and_lets_go_of_all() {
        let mut sender = Sender::new(Duration::from_millis(100));
        let sequence = sender.push(MessageType(1), b"message");
        sender.on_sent(sequence, hash(1), at(0));
        assert_eq!(sender.handle_timeout(at(625)), Some(Due::Resend(sequence)));
        sender.on_sent(sequence, hash(2), at(625));
        let mut forgotten = Vec::new();
        sender.on_proved(sequence, at(700), |hash| forgotten.push(hash));
        assert_eq!(forgotten, [hash(1), hash(2)]);
        assert_eq!(sender.deadline(), None);
        assert!(!sender.on_proved(sequence, at(700), |_| ()));
    }

    #[test]
    fn room_in_the_window_is_told_to_who_missed_it() {
        let mut sender = Sender::new(Duration::from_millis(100));
        for n in 0..2 {
            assert!(sender.is_ready());
            let sequence = sender.push(MessageType(1), b"");
            sender.on_sent(sequence, hash(n), at(0));
        }
        assert!(!sender.is_ready());
        assert!(sender.on_proved(0, at(1), |_| ()));
        assert!(!sender.on_proved(1, at(1), |_| ()));
    }

    #[test]
    fn a_message_that_three_others_overtook_is_sent_again_at_once_but_once() {
        let mut sender = Sender::new(Duration::from_millis(100));
        for n in 0..8 {
            let sequence = sender.push(MessageType(1), b"");
            sender.on_sent(sequence, hash(n), at(0));
        }
        sender.on_proved(1, at(200), |_| ());
        sender.on_proved(2, at(200), |_| ());
        assert_eq!(sender.handle_timeout(at(200)), None);
        sender.on_proved(3, at(200), |_| ());
        assert_eq!(sender.handle_timeout(at(200)), Some(Due::Resend(0)));
        sender.on_sent(0, hash(9), at(200));
        (4..8).for_each(|sequence| _ = sender.on_proved(sequence, at(201), |_| ()));
        assert_eq!(sender.handle_timeout(at(201)), None);
    }

    #[test]
    fn no_message_is_sent_that_a_receiver_would_throw_away() {
        let mut sender = Sender::new(Duration::from_millis(100));
        let mut sent = 0;
        while sender.is_ready() {
            let sequence = sender.push(MessageType(1), b"");
            sender.on_sent(sequence, hash(0), at(0));
            sent += 1;
            if sequence > 0 {
                sender.on_proved(sequence, at(1), |_| ());
            }
        }
        assert_eq!(sent, 48);
        assert!(sender.on_proved(0, at(2), |_| ()));
    }
}
