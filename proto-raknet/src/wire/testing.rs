//! What the tests of several messages share.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::net::SocketAddr;

use proptest::prelude::*;
use proto_core::Reader;

use super::{MAGIC, MessageId, ParseError};
use crate::guid::Guid;

/// Any address that the wire can carry whole: IPv6 without flow information and scope.
pub(super) fn any_address() -> impl Strategy<Value = SocketAddr> {
    prop_oneof![
        any::<([u8; 4], u16)>().prop_map(SocketAddr::from),
        any::<([u8; 16], u16)>().prop_map(SocketAddr::from),
    ]
}

/// Any GUID.
pub(super) fn any_guid() -> impl Strategy<Value = Guid> {
    any::<u64>().prop_map(Guid)
}

/// Any bytes up to a small length.
pub(super) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..64)
}

/// Checks the id and the announced length of an emitted message, and returns what stands behind the id.
pub(super) fn body(message: &[u8], id: MessageId, encoded_len: usize) -> &[u8] {
    assert_eq!(message.len(), encoded_len, "the announced length");
    let (first, body) = message.split_first().expect("an id");
    assert_eq!(*first, id.byte());
    body
}

/// Checks that no strict prefix of `body` parses.
pub(super) fn refuses_every_truncation<'a, T: Debug>(
    body: &'a [u8],
    parse: impl Fn(&mut Reader<'a>) -> Result<T, ParseError>,
) {
    for len in 0..body.len() {
        let parsed = parse(&mut Reader::new(&body[..len]));
        assert_eq!(parsed.err(), Some(ParseError::Truncated), "the first {len} bytes");
    }
}

/// Joins the parts of a known vector, which are slices of different lengths.
pub(super) fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// The marker as a slice, so that it sits well among the other parts of a known vector.
pub(super) const MARK: &[u8] = &MAGIC;
