//! Writing MessagePack, each value in its shortest form as the reference does.

use alloc::vec::Vec;

/// Appends MessagePack to a buffer.
#[derive(Debug)]
pub struct Writer<'a>(&'a mut Vec<u8>);

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self(out)
    }

    /// Appends nil.
    pub fn nil(&mut self) -> &mut Self {
        self.byte(0xc0)
    }

    /// Appends a truth value.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.byte(if value { 0xc3 } else { 0xc2 })
    }

    /// Appends an integer that is not negative.
    pub fn unsigned(&mut self, number: u64) -> &mut Self {
        if let Ok(small) = u8::try_from(number) {
            if small < 0x80 { self.byte(small) } else { self.byte(0xcc).byte(small) }
        } else if let Ok(number) = u16::try_from(number) {
            self.byte(0xcd).raw(&number.to_be_bytes())
        } else if let Ok(number) = u32::try_from(number) {
            self.byte(0xce).raw(&number.to_be_bytes())
        } else {
            self.byte(0xcf).raw(&number.to_be_bytes())
        }
    }

    /// Appends an integer.
    pub fn integer(&mut self, number: i64) -> &mut Self {
        if let Ok(number) = u64::try_from(number) {
            self.unsigned(number)
        } else if let Ok(small) = i8::try_from(number) {
            if small >= -32 {
                self.raw(&small.to_be_bytes())
            } else {
                self.byte(0xd0).raw(&small.to_be_bytes())
            }
        } else if let Ok(number) = i16::try_from(number) {
            self.byte(0xd1).raw(&number.to_be_bytes())
        } else if let Ok(number) = i32::try_from(number) {
            self.byte(0xd2).raw(&number.to_be_bytes())
        } else {
            self.byte(0xd3).raw(&number.to_be_bytes())
        }
    }

    /// Appends a floating point number, 64 bits wide.
    pub fn float(&mut self, number: f64) -> &mut Self {
        self.byte(0xcb).raw(&number.to_be_bytes())
    }

    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.len([0xc4, 0xc5, 0xc6], bytes.len()).raw(bytes)
    }

    /// Appends bytes, or nil where there are none.
    pub fn optional_bytes(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        match bytes {
            Some(bytes) => self.bytes(bytes),
            None => self.nil(),
        }
    }

    /// Appends text.
    pub fn str(&mut self, text: &str) -> &mut Self {
        match u8::try_from(text.len()) {
            Ok(len) if len < 32 => self.byte(0xa0 | len),
            _ => self.len([0xd9, 0xda, 0xdb], text.len()),
        };
        self.raw(text.as_bytes())
    }

    /// Appends the head of an array; its `len` elements must follow.
    pub fn array(&mut self, len: usize) -> &mut Self {
        self.collection(0x90, [0xdc, 0xdd], len)
    }

    /// Appends the head of a map; its `len` pairs must follow.
    pub fn map(&mut self, len: usize) -> &mut Self {
        self.collection(0x80, [0xde, 0xdf], len)
    }

    /// Appends a value that is MessagePack already.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    fn collection(&mut self, short: u8, [medium, long]: [u8; 2], len: usize) -> &mut Self {
        match u8::try_from(len) {
            Ok(len) if len < 16 => self.byte(short | len),
            _ => match u16::try_from(len) {
                Ok(len) => self.byte(medium).raw(&len.to_be_bytes()),
                Err(_) => self.byte(long).raw(&saturating_u32(len).to_be_bytes()),
            },
        }
    }

    fn len(&mut self, [short, medium, long]: [u8; 3], len: usize) -> &mut Self {
        if let Ok(len) = u8::try_from(len) {
            self.byte(short).byte(len)
        } else if let Ok(len) = u16::try_from(len) {
            self.byte(medium).raw(&len.to_be_bytes())
        } else {
            self.byte(long).raw(&saturating_u32(len).to_be_bytes())
        }
    }
}

/// MessagePack has no longer lengths, and nothing in the protocol comes near.
fn saturating_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
