//! The last datagrams that were sent, for looking at a failure with Wireshark.

use crate::{
    capture::{CaptureWriter, UdpPacket},
    stats::Loss,
    wire::Packet,
};
use proto_core::Instant;
use std::{collections::VecDeque, net::SocketAddr, time::Duration};

/// A bounded record of datagrams: the oldest make room for the newest.
#[derive(Clone, Debug)]
pub struct Trace {
    records: VecDeque<Recorded>,
    bytes: usize,
    limit: usize,
}

/// One datagram and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When it was sent, or lost where that happened later.
    pub at: Instant,
    /// The sender, as seen behind its NAT.
    pub from: SocketAddr,
    /// The destination.
    pub to: SocketAddr,
    /// The payload.
    pub data: Vec<u8>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It went on its way.
    Sent,
    /// It went on its way twice.
    SentTwice,
    /// It was injected by the test.
    Forged,
    /// It was lost.
    Lost(Loss),
}

impl Trace {
    /// How many payload bytes are kept unless [`set_limit`](Self::set_limit) says otherwise.
    pub const DEFAULT_LIMIT: usize = 8 << 20;

    /// Sets how many payload bytes are kept; 0 keeps nothing.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
        self.shrink();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.records.clear();
        self.bytes = 0;
    }

    /// Returns the datagrams, oldest first.
    pub fn datagrams(&self) -> impl DoubleEndedIterator<Item = &Recorded> {
        self.records.iter()
    }

    /// Writes the record as a pcap-ng file. Datagrams that were lost, forged or doubled carry a comment.
    pub fn to_pcapng(&self) -> Vec<u8> {
        let mut writer = CaptureWriter::new();
        for record in &self.records {
            let packet =
                UdpPacket { from: record.from, to: record.to, payload: &record.data, is_truncated: false };
            let comment = match record.fate {
                Fate::Sent => String::new(),
                Fate::SentTwice => "duplicated".to_owned(),
                Fate::Forged => "injected".to_owned(),
                Fate::Lost(loss) => format!("lost: {loss}"),
            };
            writer.write_udp(Duration::from_nanos(record.at.as_nanos()), &packet, &comment);
        }
        writer.into_bytes()
    }

    pub(crate) fn record(&mut self, at: Instant, packet: &Packet, fate: Fate) {
        let Packet { from, to, data, .. } = packet;
        self.bytes += Self::cost(data);
        self.records.push_back(Recorded { at, from: *from, to: *to, data: data.clone(), fate });
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.bytes > self.limit {
            let Some(oldest) = self.records.pop_front() else { return };
            self.bytes -= Self::cost(&oldest.data);
        }
    }

    /// Empty datagrams cost something too.
    const fn cost(data: &[u8]) -> usize {
        data.len() + size_of::<Recorded>()
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self { records: VecDeque::new(), bytes: 0, limit: Self::DEFAULT_LIMIT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Capture;

    fn packet(byte: u8) -> Packet {
        let address = SocketAddr::from(([10, 0, 0, byte], 1));
        Packet { from: address, to: address, ecn: None, data: vec![byte; 100] }
    }

    #[test]
    fn the_oldest_datagrams_make_room() {
        let mut trace = Trace::default();
        trace.set_limit(3 * (100 + size_of::<Recorded>()));
        (0..10).for_each(|byte| trace.record(Instant::ZERO, &packet(byte), Fate::Sent));
        assert_eq!(trace.datagrams().map(|record| record.data[0]).collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn a_trace_reads_back_with_the_reasons_for_losses() {
        let mut trace = Trace::default();
        trace.record(Instant::from_nanos(5), &packet(1), Fate::Lost(Loss::Partition));
        let file = trace.to_pcapng();
        let frames: Vec<_> = Capture::open(&file).unwrap().map(Result::unwrap).collect();
        assert_eq!(frames[0].comment.as_deref(), Some("lost: partition"));
        assert_eq!(frames[0].at, Some(Duration::from_nanos(5)));
        assert_eq!(frames[0].udp().unwrap().payload, [1; 100]);
    }
}
