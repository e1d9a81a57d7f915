//! Requests and responses of a link (spec 1.11).
//!
//! ```text
//! request:  [time, path hash, data]      response: [request id, data]
//! ```

use super::{
    Malformed,
    msgpack::{Reader, ShapeError, Writer},
};
use crate::{PathHash, RequestId, truncated_hash};
use alloc::vec::Vec;

/// A request to a path of the link's destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// When it was made, in UNIX seconds by the requester's clock.
    pub time: f64,
    /// The path that it asks for.
    pub path: PathHash,
    /// One MessagePack value of the application.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Parses a request's plaintext.
    ///
    /// # Errors
    /// It is not an array of a number, a hash and one value.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = array(plaintext, 3)?;
        let time = reader.number()?;
        let path = PathHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
        let data = reader.value()?;
        reader.end()?;
        Ok(Self { time, path, data })
    }

    /// Appends the plaintext; empty data become nil.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        Writer::new(out).array(3).float(self.time).bytes(self.path.as_bytes()).raw(value(self.data));
    }

    /// Returns the length of the plaintext.
    pub const fn encoded_len(&self) -> usize {
        28 + value(self.data).len()
    }

    /// Returns the id of a request that was sent as a resource; one in a packet has the packet's truncated hash.
    pub fn id_of_contents(plaintext: &[u8]) -> RequestId {
        RequestId::new(truncated_hash(&[plaintext]))
    }
}

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The request.
    pub request: RequestId,
    /// One MessagePack value of the application.
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    /// Parses a response's plaintext.
    ///
    /// # Errors
    /// It is not an array of a hash and one value.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = array(plaintext, 2)?;
        let request = RequestId::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
        let data = reader.value()?;
        reader.end()?;
        Ok(Self { request, data })
    }

    /// Appends the plaintext; empty data become nil.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        Writer::new(out).array(2).bytes(self.request.as_bytes()).raw(value(self.data));
    }

    /// Returns the length of the plaintext.
    pub const fn encoded_len(&self) -> usize {
        19 + value(self.data).len()
    }
}

impl PathHash {
    /// Returns the hash of a request path such as `/status`.
    pub fn of(path: &str) -> Self {
        Self::new(truncated_hash(&[path.as_bytes()]))
    }
}

fn array(plaintext: &[u8], len: usize) -> Result<Reader<'_>, ShapeError> {
    let mut reader = Reader::new(plaintext);
    if reader.array_len()? == len { Ok(reader) } else { Err(ShapeError::WrongKind) }
}

/// Stands in for data that are not there.
const fn value(data: &[u8]) -> &[u8] {
    if data.is_empty() { &NIL } else { data }
}

const NIL: [u8; 1] = [0xc0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::msgpack::Value;
    use alloc::string::ToString;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_are_parsed_as_they_were_emitted(time in 0.0..4e9, hash: [u8; 16], contents: Vec<u8>) {
            let data = Value::Bytes(contents).to_vec();
            let request = Request { time, path: PathHash::new(hash), data: &data };
            let response = Response { request: RequestId::new(hash), data: &data };
            let (mut first, mut second) = (Vec::new(), Vec::new());
            request.emit(&mut first);
            response.emit(&mut second);
            prop_assert_eq!(first.len(), request.encoded_len());
            prop_assert_eq!(second.len(), response.encoded_len());
            prop_assert_eq!(Request::parse(&first), Ok(request));
            prop_assert_eq!(Response::parse(&second), Ok(response));
            for len in 0..first.len() {
                prop_assert!(Request::parse(&first[..len]).is_err());
            }
            for len in 0..second.len() {
                prop_assert!(Response::parse(&second[..len]).is_err());
            }
            first.push(0);
            prop_assert!(Request::parse(&first).is_err());
        }
    }

    #[test]
    fn the_recorded_request_is_reproduced() {
        let data = Value::Bytes(b"payload".to_vec()).to_vec();
        let path = PathHash::of("/echo");
        assert_eq!(path.to_string(), "cb9c1f54d8102d68b7a40c2376e1f0e8");
        let mut out = Vec::new();
        Request { time: 1_700_000_000.0, path, data: &data }.emit(&mut out);
        let mut expected = alloc::vec![0x93, 0xcb, 0x41, 0xd9, 0x54, 0xfc, 0x40, 0, 0, 0, 0xc4, 0x10];
        expected.extend_from_slice(path.as_bytes());
        expected.extend_from_slice(b"\xc4\x07payload");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_request_without_data_carries_nil() {
        let mut out = Vec::new();
        Request { time: 0.0, path: PathHash::new([0; 16]), data: &[] }.emit(&mut out);
        assert_eq!(Request::parse(&out).map(|request| request.data), Ok(&[0xc0][..]));
    }
}
