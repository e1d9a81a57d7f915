//! The records of ACK and NACK datagrams: ranges of datagram numbers, kept as ranges (spec 1.4).

use alloc::vec::Vec;
use proto_core::{Reader, U24};

use super::{DatagramKind, ParseError};

/// Datagram numbers from `first` to `last`, both included, `first <= last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberRange {
    /// The first number.
    pub first: U24,
    /// The last number.
    pub last: U24,
}

/// Whether a record list acknowledges or asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AckKind {
    /// The numbers arrived.
    Ack,
    /// The numbers are missing.
    Nack,
}

impl AckKind {
    const fn first_byte(self) -> u8 {
        match self {
            Self::Ack => DatagramKind::ACK_BYTE,
            Self::Nack => DatagramKind::NACK_BYTE,
        }
    }
}

/// The records of one ACK or NACK, read as they are iterated.
#[derive(Clone, Copy, Debug)]
pub struct AckRecords<'a> {
    left: u16,
    records: Reader<'a>,
}

impl<'a> AckRecords<'a> {
    /// The bytes before the records: flags and count.
    pub const HEAD_LEN: usize = 3;
    /// A record of one number.
    pub const SINGLE_LEN: usize = 4;
    /// A record of a range.
    pub const RANGE_LEN: usize = 7;

    /// Reads the head, flags byte included; the records are read by iterating.
    ///
    /// # Errors
    /// When the head is cut off or not that of an ACK or NACK.
    pub fn parse(r: &mut Reader<'a>) -> Result<(AckKind, Self), ParseError> {
        let flags = r.u8()?;
        let kind = match DatagramKind::of(flags) {
            Some(DatagramKind::Ack { bandwidth }) => {
                if bandwidth {
                    r.take(4)?;
                }
                AckKind::Ack
            }
            Some(DatagramKind::Nack) => AckKind::Nack,
            Some(DatagramKind::Data) | None => return Err(ParseError::Id(flags)),
        };
        let left = r.u16_be()?;
        Ok((kind, Self { left, records: Reader::new(r.take_rest()) }))
    }

    fn record(&mut self) -> Result<NumberRange, ParseError> {
        let single = self.records.u8()? != 0;
        let first = self.records.u24_le()?;
        let last = if single { first } else { self.records.u24_le()? };
        if first.get() > last.get() {
            return Err(ParseError::Range);
        }
        Ok(NumberRange { first, last })
    }
}

impl Iterator for AckRecords<'_> {
    type Item = Result<NumberRange, ParseError>;

    /// Returns the next record; after a fault there are no more.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let record = self.record();
        if record.is_err() {
            self.left = 0;
        }
        Some(record)
    }
}

/// Appends an ACK or NACK with as many of `ranges` as fit into `max_len` bytes, and returns how many those were.
/// Nothing is appended when none fits or there is none.
pub fn emit_records(
    kind: AckKind,
    ranges: impl IntoIterator<Item = NumberRange>,
    max_len: usize,
    buf: &mut Vec<u8>,
) -> usize {
    let start = buf.len();
    buf.extend_from_slice(&[kind.first_byte(), 0, 0]);
    let mut count = 0_u16;
    for NumberRange { first, last } in ranges {
        let len = if first == last { AckRecords::SINGLE_LEN } else { AckRecords::RANGE_LEN };
        if buf.len().saturating_sub(start).saturating_add(len) > max_len || count == u16::MAX {
            break;
        }
        buf.push(u8::from(first == last));
        buf.extend_from_slice(&first.to_le_bytes());
        if first != last {
            buf.extend_from_slice(&last.to_le_bytes());
        }
        count = count.saturating_add(1);
    }
    if count == 0 {
        buf.truncate(start);
    } else if let Some([_, high, low]) = buf.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<3>) {
        [*high, *low] = count.to_be_bytes();
    }
    usize::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn range(first: u32, last: u32) -> NumberRange {
        NumberRange { first: U24::new(first), last: U24::new(last) }
    }

    #[test]
    fn singles_and_ranges_have_their_known_bytes() {
        let mut buf = vec![];
        assert_eq!(emit_records(AckKind::Ack, [range(1, 1), range(3, 5)], 100, &mut buf), 2);
        assert_eq!(buf, [0xc0, 0, 2, 1, 1, 0, 0, 0, 3, 0, 0, 5, 0, 0]);
        let (kind, records) = AckRecords::parse(&mut Reader::new(&buf)).unwrap();
        assert_eq!(kind, AckKind::Ack);
        assert_eq!(records.collect::<Vec<_>>(), [Ok(range(1, 1)), Ok(range(3, 5))]);
    }

    #[test]
    fn what_does_not_fit_is_left_for_the_next_datagram() {
        let mut buf = vec![];
        assert_eq!(emit_records(AckKind::Nack, [range(1, 2), range(4, 4), range(6, 7)], 14, &mut buf), 2);
        assert_eq!(buf.len(), 14);
        buf.clear();
        assert_eq!(emit_records(AckKind::Nack, [], 100, &mut buf), 0);
        assert!(buf.is_empty());
    }

    #[test]
    fn the_bandwidth_float_is_skipped() {
        let bytes = [0xe0, 0, 0, 0, 0, 0, 1, 1, 9, 0, 0];
        let (kind, mut records) = AckRecords::parse(&mut Reader::new(&bytes)).unwrap();
        assert_eq!((kind, records.next(), records.next()), (AckKind::Ack, Some(Ok(range(9, 9))), None));
    }

    #[test]
    fn a_range_that_runs_backwards_ends_the_list() {
        let bytes = [0xc0, 0, 2, 0, 5, 0, 0, 4, 0, 0, 1, 9, 0, 0];
        let (_, records) = AckRecords::parse(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(records.collect::<Vec<_>>(), [Err(ParseError::Range)]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            numbers in prop::collection::vec((0_u32..1 << 24, 0_u32..1 << 24), 1..50), nack in any::<bool>()
        ) {
            let kind = if nack { AckKind::Nack } else { AckKind::Ack };
            let ranges: Vec<_> = numbers.iter().map(|&(a, b)| range(a.min(b), a.max(b))).collect();
            let mut buf = vec![];
            prop_assert_eq!(emit_records(kind, ranges.iter().copied(), usize::MAX, &mut buf), ranges.len());
            let (read, records) = AckRecords::parse(&mut Reader::new(&buf)).unwrap();
            prop_assert_eq!(read, kind);
            prop_assert_eq!(records.collect::<Result<Vec<_>, _>>(), Ok(ranges));
            for len in 0..buf.len() {
                let fails = match AckRecords::parse(&mut Reader::new(&buf[..len])) {
                    Ok((_, mut records)) => records.any(|record| record.is_err()),
                    Err(_) => true,
                };
                prop_assert!(fails);
            }
        }
    }
}
