//! Frame headers (RFC 6455 §5.2).

use alloc::vec::Vec;

use super::failure::Failure;

/// What stands in front of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The last frame of its message.
    pub(super) fin: bool,
    /// The message is compressed (RFC 7692 §6): the only reserved bit with a meaning.
    pub(super) rsv1: bool,
    pub(super) opcode: Opcode,
    /// The key by which the payload is masked.
    pub(super) mask: Option<[u8; 4]>,
    /// The payload's length.
    pub(super) len: u64,
}

/// What a frame is (RFC 6455 §11.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    /// Says whether such frames stand for themselves and may come between those of a message (RFC 6455 §5.5).
    pub(super) const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }

    const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Self::Continuation),
            1 => Some(Self::Text),
            2 => Some(Self::Binary),
            8 => Some(Self::Close),
            9 => Some(Self::Ping),
            10 => Some(Self::Pong),
            _ => None,
        }
    }
}

impl Header {
    /// The longest header: with a length of 8 bytes and a key.
    pub(super) const MAX_LEN: usize = 14;

    /// Reads the header at the start of `bytes`, and says how long it is. `None` if more bytes are needed.
    ///
    /// What is wrong is found at the first byte that makes it so, whatever follows.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Failure> {
        let [first, rest @ ..] = bytes else { return Ok(None) };
        if first & (RSV2 | RSV3) != 0 {
            return Err(Failure::protocol("a reserved bit is set (RFC 6455 §5.2)"));
        }
        let opcode = Opcode::from_bits(first & OPCODE);
        let opcode = opcode.ok_or(Failure::protocol("a reserved opcode (RFC 6455 §5.2)"))?;
        let (fin, rsv1) = (first & FIN != 0, first & RSV1 != 0);
        if opcode.is_control() && !fin {
            return Err(Failure::protocol("a control frame is fragmented (RFC 6455 §5.5)"));
        }
        let [second, rest @ ..] = rest else { return Ok(None) };
        let short = second & LEN;
        if opcode.is_control() && short > MAX_SHORT {
            return Err(Failure::protocol("a control frame is longer than 125 bytes (RFC 6455 §5.5)"));
        }
        let (len, rest) = match (short, rest) {
            (LEN_16, &[a, b, ref rest @ ..]) => (u64::from(u16::from_be_bytes([a, b])), rest),
            (LEN_64, &[a, b, c, d, e, f, g, h, ref rest @ ..]) => {
                (u64::from_be_bytes([a, b, c, d, e, f, g, h]), rest)
            }
            (LEN_16 | LEN_64, _) => return Ok(None),
            (short, rest) => (u64::from(short), rest),
        };
        if len >> 63 != 0 {
            return Err(Failure::protocol("a length with its highest bit set (RFC 6455 §5.2)"));
        }
        if (short == LEN_16 && len <= u64::from(MAX_SHORT)) || (short == LEN_64 && len <= u64::from(u16::MAX))
        {
            return Err(Failure::protocol("a length in more bytes than it needs (RFC 6455 §5.2)"));
        }
        let (mask, rest) = match rest {
            _ if second & MASK == 0 => (None, rest),
            &[a, b, c, d, ref rest @ ..] => (Some([a, b, c, d]), rest),
            _ => return Ok(None),
        };
        Ok(Some((Self { fin, rsv1, opcode, mask, len }, bytes.len() - rest.len())))
    }

    /// Appends the header.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "each length is compared with what its field can hold"
    )]
    pub(super) fn emit(&self, buf: &mut Vec<u8>) {
        let flags = if self.fin { FIN } else { 0 } | if self.rsv1 { RSV1 } else { 0 };
        buf.push(flags | self.opcode as u8);
        let masked = if self.mask.is_some() { MASK } else { 0 };
        if self.len <= u64::from(MAX_SHORT) {
            buf.push(masked | self.len as u8);
        } else if self.len <= u64::from(u16::MAX) {
            buf.push(masked | LEN_16);
            buf.extend_from_slice(&(self.len as u16).to_be_bytes());
        } else {
            buf.push(masked | LEN_64);
            buf.extend_from_slice(&self.len.to_be_bytes());
        }
        buf.extend_from_slice(self.mask.as_ref().map_or(&[], |key| key));
    }
}

/// The longest payload of a control frame (RFC 6455 §5.5).
pub(super) const MAX_CONTROL: usize = MAX_SHORT as usize;

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const RSV2: u8 = 0x20;
const RSV3: u8 = 0x10;
const OPCODE: u8 = 0x0f;
const MASK: u8 = 0x80;
const LEN: u8 = 0x7f;
const MAX_SHORT: u8 = 125;
const LEN_16: u8 = 126;
const LEN_64: u8 = 127;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn any_header() -> impl Strategy<Value = Header> {
        let opcodes = prop_oneof![
            Just(Opcode::Continuation),
            Just(Opcode::Text),
            Just(Opcode::Binary),
            Just(Opcode::Close),
            Just(Opcode::Ping),
            Just(Opcode::Pong),
        ];
        let lens = prop_oneof![0..130_u64, 65_530..65_540_u64, any::<u64>().prop_map(|len| len >> 1)];
        (any::<bool>(), any::<bool>(), opcodes, any::<Option<[u8; 4]>>(), lens).prop_map(
            |(fin, rsv1, opcode, mask, len)| {
                let control = opcode.is_control();
                let len = if control { len.min(125) } else { len };
                Header { fin: fin || control, rsv1, opcode, mask, len }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed_and_no_part_of_it_is(header in any_header()) {
            let mut bytes = vec![];
            header.emit(&mut bytes);
            prop_assert!(bytes.len() <= Header::MAX_LEN);
            for end in 0..bytes.len() {
                prop_assert_eq!(Header::parse(&bytes[..end]), Ok(None));
            }
            let len = bytes.len();
            bytes.extend([0xff; 3]);
            prop_assert_eq!(Header::parse(&bytes), Ok(Some((header, len))));
        }

        #[test]
        fn a_fault_stays_the_same_whatever_follows(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let whole = Header::parse(&bytes);
            if let Some(first) = (0..bytes.len()).map(|end| Header::parse(&bytes[..end])).find(|r| *r != Ok(None)) {
                prop_assert_eq!(first, whole);
            }
        }
    }

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        let header = |bytes: &[u8]| Header::parse(bytes).unwrap().unwrap();
        let (hello, len) = header(&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f]);
        assert_eq!(
            (hello.fin, hello.opcode, hello.mask, hello.len, len),
            (true, Opcode::Text, Some([0x37, 0xfa, 0x21, 0x3d]), 5, 6)
        );
        assert_eq!(header(&[0x82, 0x7e, 1, 0]).0.len, 256);
        assert_eq!(header(&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]).0.len, 65_536);
    }

    #[test]
    fn lengths_in_too_many_bytes_are_refused() {
        for bytes in [
            &[0x82, 126, 0, 125][..],
            &[0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
            &[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert!(Header::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn control_frames_are_whole_and_short() {
        assert!(Header::parse(&[0x09]).is_err());
        assert!(Header::parse(&[0x89, 126]).is_err());
        assert!(Header::parse(&[0x89, 125]).is_ok());
    }
}
