//! Reading MessagePack.

/// Walks MessagePack from front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// What comes next in a message; arrays and maps are followed by their elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<'a> {
    /// Nil.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// A floating point number of either width.
    Float(f64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
    /// An array of so many elements.
    Array(usize),
    /// A map of so many pairs.
    Map(usize),
}

/// Bytes that are not the MessagePack expected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The bytes end in the middle of a value.
    #[error("the message ends in the middle of a value")]
    Truncated,
    /// A value of another kind than the message needs at this place.
    #[error("a value of the wrong kind")]
    WrongKind,
    /// Text that is not UTF-8, or a kind of value that the protocol does not use.
    #[error("a value that the protocol does not use")]
    Unsupported,
    /// Arrays in arrays deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested too deeply")]
    TooDeep,
}

impl<'a> Reader<'a> {
    /// Starts at the front of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns what has not been read.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads the next value, or the head of the next array or map.
    ///
    /// # Errors
    /// The bytes end, or the value is of a kind that the protocol does not use.
    pub fn shape(&mut self) -> Result<Shape<'a>, ShapeError> {
        let [head] = self.array::<1>()?;
        Ok(match head {
            0x00..=0x7f => Shape::Unsigned(u64::from(head)),
            0x80..=0x8f => Shape::Map(usize::from(head & 0x0f)),
            0x90..=0x9f => Shape::Array(usize::from(head & 0x0f)),
            0xa0..=0xbf => self.text(usize::from(head & 0x1f))?,
            0xc0 => Shape::Nil,
            0xc2 | 0xc3 => Shape::Bool(head == 0xc3),
            0xc4..=0xc6 => {
                let len = self.len(head - 0xc4)?;
                Shape::Bytes(self.take(len)?)
            }
            0xca => Shape::Float(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => Shape::Float(f64::from_be_bytes(self.array()?)),
            0xcc => Shape::Unsigned(u64::from(u8::from_be_bytes(self.array()?))),
            0xcd => Shape::Unsigned(u64::from(u16::from_be_bytes(self.array()?))),
            0xce => Shape::Unsigned(u64::from(u32::from_be_bytes(self.array()?))),
            0xcf => Shape::Unsigned(u64::from_be_bytes(self.array()?)),
            0xd0 => signed(i64::from(i8::from_be_bytes(self.array()?))),
            0xd1 => signed(i64::from(i16::from_be_bytes(self.array()?))),
            0xd2 => signed(i64::from(i32::from_be_bytes(self.array()?))),
            0xd3 => signed(i64::from_be_bytes(self.array()?)),
            0xd9..=0xdb => {
                let len = self.len(head - 0xd9)?;
                self.text(len)?
            }
            0xdc | 0xdd => Shape::Array(self.len(head - 0xdc + 1)?),
            0xde | 0xdf => Shape::Map(self.len(head - 0xde + 1)?),
            0xe0..=0xff => Shape::Negative(i64::from(i8::from_be_bytes([head]))),
            // Extension types and the one byte that MessagePack never uses.
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return Err(ShapeError::Unsupported),
        })
    }

    /// Reads the head of an array and returns its length.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn array_len(&mut self) -> Result<usize, ShapeError> {
        if let Shape::Array(len) = self.shape()? { Ok(len) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads the head of a map and returns its number of pairs.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn map_len(&mut self) -> Result<usize, ShapeError> {
        if let Shape::Map(len) = self.shape()? { Ok(len) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn bytes(&mut self) -> Result<&'a [u8], ShapeError> {
        if let Shape::Bytes(bytes) = self.shape()? { Ok(bytes) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads text.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn str(&mut self) -> Result<&'a str, ShapeError> {
        if let Shape::Text(text) = self.shape()? { Ok(text) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads an integer that is not negative.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn unsigned(&mut self) -> Result<u64, ShapeError> {
        if let Shape::Unsigned(number) = self.shape()? { Ok(number) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads a truth value.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn bool(&mut self) -> Result<bool, ShapeError> {
        if let Shape::Bool(value) = self.shape()? { Ok(value) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads a number of any kind, as the reference writes times.
    ///
    /// # Errors
    /// Something else comes next.
    #[allow(clippy::cast_precision_loss, reason = "times and durations need no more than a double has")]
    pub fn number(&mut self) -> Result<f64, ShapeError> {
        match self.shape()? {
            Shape::Float(number) => Ok(number),
            Shape::Unsigned(number) => Ok(number as f64),
            Shape::Negative(number) => Ok(number as f64),
            Shape::Nil
            | Shape::Bool(_)
            | Shape::Bytes(_)
            | Shape::Text(_)
            | Shape::Array(_)
            | Shape::Map(_) => Err(ShapeError::WrongKind),
        }
    }

    /// Reads nil or bytes.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn optional_bytes(&mut self) -> Result<Option<&'a [u8]>, ShapeError> {
        match self.shape()? {
            Shape::Nil => Ok(None),
            Shape::Bytes(bytes) => Ok(Some(bytes)),
            Shape::Bool(_)
            | Shape::Unsigned(_)
            | Shape::Negative(_)
            | Shape::Float(_)
            | Shape::Text(_)
            | Shape::Array(_)
            | Shape::Map(_) => Err(ShapeError::WrongKind),
        }
    }

    /// Reads a whole value, elements included, and returns its encoding.
    ///
    /// # Errors
    /// The value is cut off or contains a kind that the protocol does not use.
    pub fn value(&mut self) -> Result<&'a [u8], ShapeError> {
        let all = self.rest;
        let mut open = 1_u64;
        while let Some(left) = open.checked_sub(1) {
            open = left.saturating_add(match self.shape()? {
                Shape::Array(len) => to_u64(len),
                Shape::Map(len) => to_u64(len).saturating_mul(2),
                Shape::Nil
                | Shape::Bool(_)
                | Shape::Unsigned(_)
                | Shape::Negative(_)
                | Shape::Float(_)
                | Shape::Bytes(_)
                | Shape::Text(_) => 0,
            });
        }
        all.get(..all.len() - self.rest.len()).ok_or(ShapeError::Truncated)
    }

    /// Makes sure that nothing follows.
    ///
    /// # Errors
    /// Something does.
    pub const fn end(&self) -> Result<(), ShapeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(ShapeError::WrongKind) }
    }

    /// Reads a length of `1 << width` bytes.
    fn len(&mut self, width: u8) -> Result<usize, ShapeError> {
        let len = match width {
            0 => u32::from(u8::from_be_bytes(self.array()?)),
            1 => u32::from(u16::from_be_bytes(self.array()?)),
            _ => u32::from_be_bytes(self.array()?),
        };
        usize::try_from(len).map_err(|_| ShapeError::Truncated)
    }

    fn text(&mut self, len: usize) -> Result<Shape<'a>, ShapeError> {
        core::str::from_utf8(self.take(len)?).map(Shape::Text).map_err(|_| ShapeError::Unsupported)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], ShapeError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(ShapeError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ShapeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(ShapeError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

fn signed<'a>(number: i64) -> Shape<'a> {
    u64::try_from(number).map_or(Shape::Negative(number), Shape::Unsigned)
}

fn to_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
