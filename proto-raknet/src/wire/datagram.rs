//! The datagrams of a session: data, ACK and NACK (spec 1.4).

use alloc::vec::Vec;
use proto_core::{Reader, U24};

use super::ParseError;

/// The number of a data datagram. Every datagram gets a new one, also when it carries resent frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct DatagramNumber(pub U24);

/// What a session's datagram is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatagramKind {
    /// Frames (0x80 to 0x9f).
    Data,
    /// Acknowledged numbers (0xc0; with bandwidth information 0xe0).
    Ack {
        /// A 32-bit float precedes the records; the sliding-window build never sends it.
        bandwidth: bool,
    },
    /// Missing numbers (0xa0).
    Nack,
}

const VALID: u8 = 0x80;
const ACK: u8 = 0x40;
const NACK: u8 = 0x20;
const CONTINUOUS_SEND: u8 = 0x08;
const NEEDS_BANDWIDTH: u8 = 0x04;

impl DatagramKind {
    /// The first byte of an ACK.
    pub const ACK_BYTE: u8 = VALID | ACK;
    /// The first byte of a NACK.
    pub const NACK_BYTE: u8 = VALID | NACK;

    /// Tells a datagram by its first byte; `None` if it does not belong to a session.
    pub const fn of(first: u8) -> Option<Self> {
        if first & VALID == 0 {
            None
        } else if first & ACK != 0 {
            Some(Self::Ack { bandwidth: first & NACK != 0 })
        } else if first & NACK != 0 {
            Some(Self::Nack)
        } else {
            Some(Self::Data)
        }
    }
}

/// The head of a data datagram; frames follow until its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// The sender is about to run out of window, or has: it has more to send than it may (C++ `isContinuousSend`). A
    /// receiver does well to acknowledge at once.
    pub continuous_send: bool,
    /// The datagram's number.
    pub number: DatagramNumber,
}

impl DataHeader {
    /// Its length: flags and number.
    pub const LEN: usize = 4;

    /// Reads the head, flags byte included.
    ///
    /// # Errors
    /// When it is cut off or not that of a data datagram.
    #[inline]
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        let flags = r.u8()?;
        if DatagramKind::of(flags) != Some(DatagramKind::Data) {
            return Err(ParseError::Id(flags));
        }
        Ok(Self { continuous_send: flags & CONTINUOUS_SEND != 0, number: DatagramNumber(r.u24_le()?) })
    }

    /// Appends the head.
    #[inline]
    pub fn emit(&self, buf: &mut Vec<u8>) {
        let [a, b, c] = self.number.0.to_le_bytes();
        let continuous = if self.continuous_send { CONTINUOUS_SEND } else { 0 };
        buf.extend_from_slice(&[VALID | NEEDS_BANDWIDTH | continuous, a, b, c]);
    }

    /// Sets [`continuous_send`](Self::continuous_send) in a datagram that is already written.
    pub fn set_continuous_send(datagram: &mut [u8]) {
        if let Some(flags) = datagram.first_mut() {
            *flags |= CONTINUOUS_SEND;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn first_bytes_are_told_apart() {
        for first in 0x80..=0x9f {
            assert_eq!(
                DatagramKind::of(first),
                Some(DatagramKind::Data),
                "{first:#x}, the packet-pair bit too"
            );
        }
        assert_eq!(DatagramKind::of(0xc0), Some(DatagramKind::Ack { bandwidth: false }));
        assert_eq!(DatagramKind::of(0xe0), Some(DatagramKind::Ack { bandwidth: true }));
        assert_eq!(DatagramKind::of(0xa0), Some(DatagramKind::Nack));
        assert_eq!(DatagramKind::of(0x05), None);
    }

    #[test]
    fn a_head_has_its_known_bytes() {
        let header = DataHeader { continuous_send: false, number: DatagramNumber(U24::new(0x0003_0201)) };
        let mut buf = vec![];
        header.emit(&mut buf);
        assert_eq!(buf, [0x84, 1, 2, 3]);
        assert_eq!(DataHeader::parse(&mut Reader::new(&buf)), Ok(header));
        for len in 0..buf.len() {
            assert!(DataHeader::parse(&mut Reader::new(&buf[..len])).is_err());
        }
        let continuous = DataHeader { continuous_send: true, ..header };
        let mut marked = buf.clone();
        DataHeader::set_continuous_send(&mut marked);
        buf.clear();
        continuous.emit(&mut buf);
        assert_eq!((&buf, &marked), (&vec![0x8c, 1, 2, 3], &buf));
        assert_eq!(DataHeader::parse(&mut Reader::new(&[0xc0, 0, 0, 0])), Err(ParseError::Id(0xc0)));
    }
}
