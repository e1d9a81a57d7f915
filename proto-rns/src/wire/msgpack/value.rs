//! Values whose shape only the application knows.

use super::{Reader, Shape, ShapeError, Writer};
use alloc::{string::String, vec::Vec};

/// How deep arrays and maps may nest in a [`Value`].
pub const MAX_DEPTH: usize = 32;

/// A MessagePack value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nil.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// A floating point number.
    Float(f64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Text.
    Text(String),
    /// Values in a row.
    Array(Vec<Self>),
    /// Pairs of key and value, in their order on the wire.
    Map(Vec<(Self, Self)>),
}

impl Value {
    /// Parses a message that is one value. What it builds is at most a few ten times as large as `bytes`.
    ///
    /// # Errors
    /// The bytes are cut off, followed by others, nested too deeply, or of a kind that the protocol does not use.
    pub fn parse(bytes: &[u8]) -> Result<Self, ShapeError> {
        let mut reader = Reader::new(bytes);
        let value = Self::read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, ShapeError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let mut value = match reader.shape()? {
                Shape::Nil => Self::Nil,
                Shape::Bool(value) => Self::Bool(value),
                Shape::Unsigned(number) => Self::Unsigned(number),
                Shape::Negative(number) => Self::Negative(number),
                Shape::Float(number) => Self::Float(number),
                Shape::Bytes(bytes) => Self::Bytes(bytes.into()),
                Shape::Text(text) => Self::Text(text.into()),
                Shape::Array(0) => Self::Array(Vec::new()),
                Shape::Map(0) => Self::Map(Vec::new()),
                Shape::Array(missing) => {
                    open.push(Open::Array { missing, items: Vec::new() });
                    if open.len() > MAX_DEPTH {
                        return Err(ShapeError::TooDeep);
                    }
                    continue;
                }
                Shape::Map(missing) => {
                    open.push(Open::Map { missing, key: None, pairs: Vec::new() });
                    if open.len() > MAX_DEPTH {
                        return Err(ShapeError::TooDeep);
                    }
                    continue;
                }
            };
            loop {
                let Some(top) = open.pop() else { return Ok(value) };
                match top.put(value) {
                    Put::Open(top) => {
                        open.push(top);
                        break;
                    }
                    Put::Whole(whole) => value = whole,
                }
            }
        }
    }

    /// Appends the value's encoding.
    pub fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Nil => _ = writer.nil(),
            Self::Bool(value) => _ = writer.bool(*value),
            Self::Unsigned(number) => _ = writer.unsigned(*number),
            Self::Negative(number) => _ = writer.integer(*number),
            Self::Float(number) => _ = writer.float(*number),
            Self::Bytes(bytes) => _ = writer.bytes(bytes),
            Self::Text(text) => _ = writer.str(text),
            Self::Array(items) => {
                writer.array(items.len());
                items.iter().for_each(|item| item.write(writer));
            }
            Self::Map(pairs) => {
                writer.map(pairs.len());
                for (key, value) in pairs {
                    key.write(writer);
                    value.write(writer);
                }
            }
        }
    }

    /// Returns the value's encoding.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut Writer::new(&mut out));
        out
    }

    /// Returns the value under a text key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| matches!(name, Self::Text(name) if name == key)).map(|(_, value)| value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

/// An array or map whose elements are still coming.
enum Open {
    Array { missing: usize, items: Vec<Value> },
    Map { missing: usize, key: Option<Value>, pairs: Vec<(Value, Value)> },
}

/// What putting an element made of a collection.
enum Put {
    Open(Open),
    Whole(Value),
}

impl Open {
    fn put(self, value: Value) -> Put {
        match self {
            Self::Array { missing, mut items } => {
                items.push(value);
                if missing > 1 {
                    Put::Open(Self::Array { missing: missing - 1, items })
                } else {
                    Put::Whole(Value::Array(items))
                }
            }
            Self::Map { missing, key: None, pairs } => {
                Put::Open(Self::Map { missing, key: Some(value), pairs })
            }
            Self::Map { missing, key: Some(key), mut pairs } => {
                pairs.push((key, value));
                if missing > 1 {
                    Put::Open(Self::Map { missing: missing - 1, key: None, pairs })
                } else {
                    Put::Whole(Value::Map(pairs))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::Bool),
            any::<u64>().prop_map(Value::Unsigned),
            (i64::MIN..0).prop_map(Value::Negative),
            (-1e9..1e9).prop_map(Value::Float),
            any::<Vec<u8>>().prop_map(Value::Bytes),
            ".{0,40}".prop_map(Value::Text),
        ];
        leaf.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::Array),
                prop::collection::vec((inner.clone(), inner), 0..20).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_read_as_it_was_written(value in values()) {
            let bytes = value.to_vec();
            prop_assert_eq!(Value::parse(&bytes), Ok(value));
            prop_assert_eq!(Reader::new(&bytes).value(), Ok(&bytes[..]));
            for len in 0..bytes.len() {
                prop_assert!(Value::parse(&bytes[..len]).is_err());
                prop_assert!(Reader::new(&bytes[..len]).value().is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = Value::parse(&bytes);
            let _ = Reader::new(&bytes).value();
        }
    }

    #[test]
    fn values_take_their_shortest_form() {
        let bytes = |value: Value| value.to_vec();
        assert_eq!(bytes(Value::Unsigned(127)), [0x7f]);
        assert_eq!(bytes(Value::Unsigned(128)), [0xcc, 128]);
        assert_eq!(bytes(Value::Unsigned(65_536)), [0xce, 0, 1, 0, 0]);
        assert_eq!(bytes(Value::Negative(-32)), [0xe0]);
        assert_eq!(bytes(Value::Negative(-33)), [0xd0, 0xdf]);
        assert_eq!(bytes(Value::Bytes(vec![1])), [0xc4, 1, 1]);
        assert_eq!(bytes("t".into()), [0xa1, b't']);
    }

    #[test]
    fn deep_nesting_is_refused_and_skipped_without_recursion() {
        let mut deep = vec![0x91; 100_000];
        deep.push(0xc0);
        assert_eq!(Value::parse(&deep), Err(ShapeError::TooDeep));
        assert_eq!(Reader::new(&deep).value(), Ok(&deep[..]));
        let mut allowed = vec![0x91; MAX_DEPTH];
        allowed.push(0xc0);
        assert!(Value::parse(&allowed).is_ok());
    }

    #[test]
    fn a_length_far_beyond_the_bytes_allocates_nothing() {
        assert_eq!(Value::parse(&[0xdd, 0xff, 0xff, 0xff, 0xff]), Err(ShapeError::Truncated));
        assert_eq!(Value::parse(&[0xc6, 0xff, 0xff, 0xff, 0xff]), Err(ShapeError::Truncated));
    }
}
