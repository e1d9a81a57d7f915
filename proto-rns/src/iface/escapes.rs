//! Escapes: how a frame's contents say what would else begin or end it.

use alloc::vec::Vec;

/// Appends `bytes`. In the place of each `flag` and each `escape` come an escape and what `code` makes of the byte.
pub(super) fn append(bytes: &[u8], flag: u8, escape: u8, code: impl Fn(u8) -> u8, out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(place) = memchr::memchr2(flag, escape, rest) {
        let (clean, special) = rest.split_at(place);
        out.extend_from_slice(clean);
        if let Some((&byte, after)) = special.split_first() {
            out.extend_from_slice(&[escape, code(byte)]);
            rest = after;
        }
    }
    out.extend_from_slice(rest);
}

/// Takes the escapes out where they stand: replaces each `escape` and the byte after it by what `meaning` makes of that
/// byte. Returns the new length. An escape at the very end stands for nothing.
pub(super) fn remove(bytes: &mut [u8], escape: u8, meaning: impl Fn(u8) -> u8) -> usize {
    let Some(first) = memchr::memchr(escape, bytes) else { return bytes.len() };
    let (mut from, mut to) = (first, first);
    while from < bytes.len() {
        // `from` is at an escape.
        let Some(escaped) = bytes.get(from + 1).copied() else { break };
        if let Some(place) = bytes.get_mut(to) {
            *place = meaning(escaped);
        }
        from += 2;
        to += 1;
        let clean =
            bytes.get(from..).and_then(|rest| memchr::memchr(escape, rest)).unwrap_or(bytes.len() - from);
        bytes.copy_within(from..from + clean, to);
        from += clean;
        to += clean;
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_byte_by_byte_loop_does(bytes in prop::collection::vec(0..4_u8, 0..60)) {
            let mut expected = Vec::new();
            let mut iter = bytes.iter();
            while let Some(&byte) = iter.next() {
                match byte {
                    3 => expected.extend(iter.next().map(|byte| byte + 10)),
                    other => expected.push(other),
                }
            }
            let mut changed = bytes;
            let len = remove(&mut changed, 3, |byte| byte + 10);
            prop_assert_eq!(&changed[..len], &expected[..]);
        }
    }
}
