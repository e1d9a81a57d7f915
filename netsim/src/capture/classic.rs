//! Classic pcap files, of either byte order, with micro- or nanoseconds.

use super::{
    cursor::ByteOrder,
    frame::{Frame, LinkType},
    reader::CaptureError,
};
use proto_core::Reader;
use std::time::Duration;

/// A classic file behind its header.
#[derive(Clone, Debug)]
pub(super) struct Classic<'a> {
    rest: Reader<'a>,
    order: ByteOrder,
    fraction: Fraction,
    link_type: LinkType,
}

/// The unit of the sub-second part of timestamps.
#[derive(Clone, Copy, Debug)]
enum Fraction {
    Micros,
    Nanos,
}

impl<'a> Classic<'a> {
    pub(super) fn open(file: &'a [u8]) -> Result<Self, CaptureError> {
        let mut r = Reader::new(file);
        let magic = r.u32_be().map_err(|_| CaptureError::NotACapture)?;
        let (order, fraction) = match magic {
            0xa1b2_c3d4 => (ByteOrder::Big, Fraction::Micros),
            0xd4c3_b2a1 => (ByteOrder::Little, Fraction::Micros),
            0xa1b2_3c4d => (ByteOrder::Big, Fraction::Nanos),
            0x4d3c_b2a1 => (ByteOrder::Little, Fraction::Nanos),
            _ => return Err(CaptureError::NotACapture),
        };
        // Version, time zone, accuracy and snapshot length change nothing about how frames are read.
        r.take(16)?;
        // The upper half of the word holds flags about frame check sequences.
        let number = order.u32(&mut r)? & 0xffff;
        let link_type = LinkType::from(u16::try_from(number).unwrap_or(u16::MAX));
        Ok(Self { rest: r, order, fraction, link_type })
    }

    pub(super) fn next_frame(&mut self) -> Result<Option<Frame<'a>>, CaptureError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (order, r) = (self.order, &mut self.rest);
        let seconds = Duration::from_secs(order.u32(r)?.into());
        let fraction = u64::from(order.u32(r)?);
        let at = seconds
            + match self.fraction {
                Fraction::Micros => Duration::from_micros(fraction),
                Fraction::Nanos => Duration::from_nanos(fraction),
            };
        let captured_len = order.len(r)?;
        let original_len = order.len(r)?;
        let data = r.take(captured_len)?;
        Ok(Some(Frame { at: Some(at), link_type: self.link_type, data, original_len, comment: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(magic: u32, order: ByteOrder, words: &[u32]) -> Vec<u8> {
        let write = |word: &u32| match order {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => word.to_be_bytes(),
        };
        [&[magic, 0x0004_0002, 0, 0, 65_535, 1], words].concat().iter().flat_map(write).collect()
    }

    #[test]
    fn both_byte_orders_and_units_are_read() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (magic, nanos) in [(0xa1b2_c3d4, 7_000), (0xa1b2_3c4d, 7)] {
                let file = [header(magic, order, &[3, 7, 2, 60]), vec![8, 9]].concat();
                let mut classic = Classic::open(&file).unwrap();
                let frame = classic.next_frame().unwrap().unwrap();
                assert_eq!(frame.at, Some(Duration::new(3, nanos)));
                assert_eq!((frame.data, frame.original_len), (&[8, 9][..], 60));
                assert_eq!(frame.link_type, LinkType::Ethernet);
                assert_eq!(classic.next_frame(), Ok(None));
            }
        }
    }

    #[test]
    fn a_frame_cut_off_is_an_error() {
        let file = header(0xa1b2_c3d4, ByteOrder::Little, &[3, 7, 2, 60]);
        assert_eq!(Classic::open(&file).unwrap().next_frame(), Err(CaptureError::Truncated));
    }
}
