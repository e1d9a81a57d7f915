//! Counters and gauges of peers and endpoints.

use core::time::Duration;
use proto_core::Instant;

/// What one session has done since it began. Bytes are UDP payload unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerTotals {
    /// Datagrams sent, acknowledgements included.
    pub datagrams_sent: u64,
    /// Bytes of datagrams sent.
    pub bytes_sent: u64,
    /// Datagrams received, duplicates and acknowledgements included.
    pub datagrams_received: u64,
    /// Bytes of datagrams received.
    pub bytes_received: u64,
    /// Messages taken from the application.
    pub messages_sent: u64,
    /// Payload bytes taken from the application.
    pub message_bytes_sent: u64,
    /// Messages delivered to the application.
    pub messages_received: u64,
    /// Payload bytes delivered to the application.
    pub message_bytes_received: u64,
    /// Frames sent again.
    pub frames_resent: u64,
    /// Sent datagrams that counted as lost, tail-loss probes not included.
    pub datagrams_lost: u64,
    /// Sent datagrams with frames, the base of the loss rate.
    pub data_datagrams_sent: u64,
    /// Tail-loss probes.
    pub probes: u64,
    /// NACK datagrams sent.
    pub nacks_sent: u64,
    /// NACK datagrams received.
    pub nacks_received: u64,
    /// Received datagrams and reliable frames that were there before.
    pub duplicates: u64,
    /// Sequenced messages that came after a newer one, and ordered ones that came twice.
    pub stale: u64,
    /// Datagrams cut off, or with impossible values.
    pub malformed: u64,
    /// Datagrams whose number was too old or too far ahead.
    pub out_of_range: u64,
    /// Datagrams or frames left unacknowledged because a queue was full.
    pub refused_full: u64,
    /// Parts of split messages that contradict earlier ones or exceed the limit of parts.
    pub invalid_splits: u64,
    /// Split messages given up because they made no progress.
    pub splits_timed_out: u64,
    /// Unreliable messages that expired in the send queue.
    pub unreliable_expired: u64,
    /// Messages that must not come at that point of the handshake, or at all.
    pub unexpected: u64,
}

/// A moment of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerStats {
    /// What it has done so far.
    pub totals: PeerTotals,
    /// Bytes sent in the last full second.
    pub send_rate: u64,
    /// Bytes received in the last full second.
    pub receive_rate: u64,
    /// The smoothed round-trip time; `None` before the first acknowledgement. It includes how long the peer waits before
    /// it acknowledges (10 ms ticks in C++); [`min_rtt`](Self::min_rtt) tells more about the path alone.
    pub rtt: Option<Duration>,
    /// Its mean deviation.
    pub rtt_variation: Duration,
    /// The last sample.
    pub latest_rtt: Duration,
    /// The shortest sample.
    pub min_rtt: Option<Duration>,
    /// The congestion window in bytes.
    pub congestion_window: usize,
    /// Bytes of datagrams in flight.
    pub bytes_in_flight: usize,
    /// From the oldest unacknowledged reliable frame to the newest.
    pub frames_in_flight: usize,
    /// Frames that wait to be sent again.
    pub frames_to_resend: usize,
    /// Messages that wait to be sent for the first time, by priority.
    pub send_queue: [usize; 4],
    /// Bytes of reliable messages that wait.
    pub reliable_queue_bytes: usize,
    /// Bytes of unreliable messages that wait.
    pub unreliable_queue_bytes: usize,
    /// Messages that the application has not taken.
    pub receive_queue: usize,
    /// Bytes of them.
    pub receive_queue_bytes: usize,
    /// Messages that wait for an earlier one of their channel.
    pub held_messages: usize,
}

impl PeerStats {
    /// Returns the share of sent data datagrams that were lost, 0.0 to 1.0.
    #[allow(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    pub fn loss(&self) -> f64 {
        if self.totals.data_datagrams_sent == 0 {
            return 0.0;
        }
        self.totals.datagrams_lost as f64 / self.totals.data_datagrams_sent as f64
    }
}

/// What an endpoint has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes of them.
    pub bytes_received: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes of them.
    pub bytes_sent: u64,
    /// Sessions there are now, handshakes included.
    pub peers: usize,
    /// Sessions that others opened and that are established or closing.
    pub incoming: usize,
    /// Handshakes that others began and that are not finished.
    pub handshakes: usize,
    /// Pings answered.
    pub pings_answered: u64,
    /// What was dropped, by reason.
    pub drops: Drops,
}

/// Datagrams that an endpoint dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// The filter said no.
    pub filtered: u64,
    /// From a banned address.
    pub banned: u64,
    /// Neither of a session nor an offline message.
    pub unknown: u64,
    /// An offline message cut off or with impossible values.
    pub malformed: u64,
    /// Without a valid cookie.
    pub bad_cookie: u64,
    /// Over the rate of offline messages of its address.
    pub rate_limited: u64,
    /// Too many answers were waiting.
    pub replies_full: u64,
    /// Events about addresses without a session that found no room.
    pub events_full: u64,
    /// Replies that no attempt of ours waits for.
    pub unsolicited: u64,
    /// Notifications of a close that could be forged; each makes the session check whether its peer is still there.
    pub unverified_close: u64,
}

/// Bytes a second, over whole seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    second: u64,
    bytes: u64,
    last: u64,
}

impl Meter {
    #[inline]
    pub(crate) fn add(&mut self, now: Instant, bytes: usize) {
        self.roll(now);
        self.bytes += bytes as u64;
    }

    /// Returns the bytes of the last full second.
    pub(crate) fn rate(mut self, now: Instant) -> u64 {
        self.roll(now);
        self.last
    }

    #[inline]
    fn roll(&mut self, now: Instant) {
        let second = now.as_nanos() / 1_000_000_000;
        if second != self.second {
            self.last = if second == self.second + 1 { self.bytes } else { 0 };
            self.second = second;
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_tells_the_last_full_second() {
        let mut meter = Meter::default();
        meter.add(Instant::from_millis(100), 10);
        meter.add(Instant::from_millis(900), 5);
        assert_eq!(meter.rate(Instant::from_millis(950)), 0);
        assert_eq!(meter.rate(Instant::from_millis(1_500)), 15);
        assert_eq!(meter.rate(Instant::from_millis(2_500)), 0);
    }
}
