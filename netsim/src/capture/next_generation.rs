//! pcap-ng files (draft-ietf-opsawg-pcapng): sections of blocks, with interfaces of their own link types and clocks.

use super::{
    cursor::ByteOrder,
    frame::{Frame, LinkType},
    reader::CaptureError,
};
use proto_core::{Reader, Truncated};
use std::{borrow::Cow, time::Duration};

/// The type of a section header block, which reads the same in both byte orders.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// The type of an interface description block.
pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
/// The type of a simple packet block.
const SIMPLE_PACKET: u32 = 3;
/// The type of an enhanced packet block.
pub(super) const ENHANCED_PACKET: u32 = 6;
/// The value by which a section shows its byte order.
pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// The option that holds a comment.
pub(super) const OPTION_COMMENT: u16 = 1;
/// The option that holds the unit of an interface's timestamps.
pub(super) const OPTION_RESOLUTION: u16 = 9;

/// A pcap-ng file, read block by block.
#[derive(Clone, Debug)]
pub(super) struct NextGeneration<'a> {
    rest: Reader<'a>,
    order: ByteOrder,
    interfaces: Vec<Interface>,
}

/// What a section says about one of its interfaces.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: LinkType,
    ticks_per_second: u64,
    snapshot_len: u32,
}

impl<'a> NextGeneration<'a> {
    /// The bytes around a block's body: type, length, and the length again.
    const FRAMING: usize = 12;

    pub(super) fn recognizes(file: &[u8]) -> bool {
        file.starts_with(&SECTION_HEADER.to_be_bytes())
    }

    pub(super) const fn new(file: &'a [u8]) -> Self {
        Self { rest: Reader::new(file), order: ByteOrder::Little, interfaces: Vec::new() }
    }

    /// Reads on to the next frame.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame<'a>>, CaptureError> {
        while !self.rest.is_empty() {
            let (kind, body) = self.next_block()?;
            let frame = match kind {
                SECTION_HEADER => {
                    self.interfaces.clear();
                    None
                }
                INTERFACE_DESCRIPTION => {
                    self.interfaces.push(Interface::parse(self.order, body)?);
                    None
                }
                ENHANCED_PACKET => Some(self.enhanced_packet(body)?),
                SIMPLE_PACKET => Some(self.simple_packet(body)?),
                _ => None,
            };
            if frame.is_some() {
                return Ok(frame);
            }
        }
        Ok(None)
    }

    /// Takes a block; a section header also settles the byte order, its own included.
    fn next_block(&mut self) -> Result<(u32, Reader<'a>), CaptureError> {
        let mut r = self.rest;
        let kind = self.order.u32(&mut r)?;
        if kind == SECTION_HEADER {
            let mut magic = r;
            magic.take(4)?;
            self.order = match magic.u32_be()? {
                BYTE_ORDER_MAGIC => ByteOrder::Big,
                mark if mark.swap_bytes() == BYTE_ORDER_MAGIC => ByteOrder::Little,
                _ => return Err(CaptureError::BadByteOrder),
            };
        }
        let total_len = self.order.u32(&mut r)?;
        let bad = CaptureError::BadBlockLength(total_len);
        let body_len =
            usize::try_from(total_len).ok().and_then(|len| len.checked_sub(Self::FRAMING)).ok_or(bad)?;
        if body_len % 4 != 0 {
            return Err(bad);
        }
        let body = r.take(body_len)?;
        if self.order.u32(&mut r)? != total_len {
            return Err(bad);
        }
        self.rest = r;
        Ok((kind, Reader::new(body)))
    }

    fn enhanced_packet(&self, mut r: Reader<'a>) -> Result<Frame<'a>, CaptureError> {
        let order = self.order;
        let interface = self.interface(order.u32(&mut r)?)?;
        let ticks = u64::from(order.u32(&mut r)?) << 32 | u64::from(order.u32(&mut r)?);
        let captured_len = order.len(&mut r)?;
        let original_len = order.len(&mut r)?;
        let data = r.take(captured_len)?;
        r.take(padding(captured_len))?;
        let comment = Options { order, rest: r }.find(OPTION_COMMENT).map(String::from_utf8_lossy);
        Ok(Frame {
            at: Some(interface.time(ticks)),
            link_type: interface.link_type,
            data,
            original_len,
            comment,
        })
    }

    fn simple_packet(&self, mut r: Reader<'a>) -> Result<Frame<'a>, CaptureError> {
        let interface = self.interface(0)?;
        let original_len = self.order.len(&mut r)?;
        let limit = match interface.snapshot_len {
            0 => original_len,
            limit => original_len.min(usize::try_from(limit).unwrap_or(usize::MAX)),
        };
        let data = r.take(limit)?;
        Ok(Frame {
            at: None,
            link_type: interface.link_type,
            data,
            original_len,
            comment: None::<Cow<'_, str>>,
        })
    }

    fn interface(&self, number: u32) -> Result<Interface, CaptureError> {
        let index = usize::try_from(number).ok();
        index
            .and_then(|index| self.interfaces.get(index))
            .copied()
            .ok_or(CaptureError::UnknownInterface(number))
    }
}

impl Interface {
    const MICROS_PER_SECOND: u64 = 1_000_000;

    fn parse(order: ByteOrder, mut r: Reader<'_>) -> Result<Self, Truncated> {
        let link_type = order.u16(&mut r)?.into();
        r.take(2)?;
        let snapshot_len = order.u32(&mut r)?;
        let resolution = Options { order, rest: r }.find(OPTION_RESOLUTION).and_then(<[u8]>::first);
        let ticks_per_second = resolution.map_or(Self::MICROS_PER_SECOND, |&unit| ticks_per_second(unit));
        Ok(Self { link_type, ticks_per_second, snapshot_len })
    }

    fn time(&self, ticks: u64) -> Duration {
        let seconds = ticks / self.ticks_per_second;
        let rest = u128::from(ticks % self.ticks_per_second);
        let nanos = rest * 1_000_000_000 / u128::from(self.ticks_per_second);
        Duration::new(seconds, u32::try_from(nanos).unwrap_or(0))
    }
}

/// The options at the end of a block.
struct Options<'a> {
    order: ByteOrder,
    rest: Reader<'a>,
}

impl<'a> Options<'a> {
    /// Returns the value of the first option with a code. Damaged options end the search, not the file.
    fn find(mut self, code: u16) -> Option<&'a [u8]> {
        loop {
            let found = self.order.u16(&mut self.rest).ok()?;
            let len = usize::from(self.order.u16(&mut self.rest).ok()?);
            let value = self.rest.take(len).ok()?;
            self.rest.take(padding(len)).ok()?;
            const END: u16 = 0;
            match found {
                END => return None,
                found if found == code => return Some(value),
                _ => {}
            }
        }
    }
}

/// Returns the number of bytes that fill up to a multiple of four.
pub(super) const fn padding(len: usize) -> usize {
    len.wrapping_neg() % 4
}

/// Reads the unit of timestamps: a negative power of ten, or of two where the highest bit is set. Units too small
/// for 64 bits, which no program writes, count as the smallest that fits.
fn ticks_per_second(unit: u8) -> u64 {
    let power = u32::from(unit & 0x7f);
    let base: u64 = if unit & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(power).unwrap_or(1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let len = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
        [&kind.to_be_bytes(), &len[..], body, &len].concat()
    }

    fn section() -> Vec<u8> {
        let unknown_len = [0xff; 8];
        block(SECTION_HEADER, &[&BYTE_ORDER_MAGIC.to_be_bytes()[..], &[0, 1, 0, 0], &unknown_len].concat())
    }

    fn interface(unit: u8) -> Vec<u8> {
        let options = [0, 9, 0, 1, unit, 0, 0, 0, 0, 0, 0, 0];
        block(INTERFACE_DESCRIPTION, &[&[0, 1, 0, 0, 0, 0, 0, 2][..], &options].concat())
    }

    #[test]
    fn a_big_endian_section_with_its_own_clock_is_read() {
        let packet = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 9, 42, 0, 0, 0];
        // The unit 0x82 is a quarter of a second.
        let file = [section(), interface(0x82), block(99, &[1; 8]), block(ENHANCED_PACKET, &packet)].concat();
        let frame = NextGeneration::new(&file).next_frame().unwrap().unwrap();
        assert_eq!(frame.at, Some(Duration::from_millis(1500)));
        assert_eq!((frame.data, frame.original_len), (&[42][..], 9));
        assert_eq!(frame.link_type, LinkType::Ethernet);
    }

    #[test]
    fn a_simple_packet_is_cut_at_the_snapshot_length() {
        let file = [section(), interface(6), block(SIMPLE_PACKET, &[0, 0, 0, 9, 1, 2, 0, 0])].concat();
        let frame = NextGeneration::new(&file).next_frame().unwrap().unwrap();
        assert_eq!((frame.data, frame.original_len, frame.at), (&[1, 2][..], 9, None));
    }

    #[test]
    fn a_new_section_forgets_the_interfaces() {
        let file = [section(), interface(6), section(), block(SIMPLE_PACKET, &[0, 0, 0, 0])].concat();
        assert_eq!(NextGeneration::new(&file).next_frame(), Err(CaptureError::UnknownInterface(0)));
    }

    #[test]
    fn impossible_lengths_and_byte_orders_are_errors() {
        let mut file = section();
        file[7] = 3;
        assert_eq!(NextGeneration::new(&file).next_frame(), Err(CaptureError::BadBlockLength(3)));
        let mut file = section();
        file[8] = 0;
        assert_eq!(NextGeneration::new(&file).next_frame(), Err(CaptureError::BadByteOrder));
    }

    #[test]
    fn every_unit_of_time_is_safe() {
        for unit in 0..=u8::MAX {
            let interface = Interface {
                link_type: LinkType::Raw,
                ticks_per_second: ticks_per_second(unit),
                snapshot_len: 0,
            };
            interface.time(u64::MAX);
        }
        assert_eq!(ticks_per_second(9), 1_000_000_000);
    }
}
