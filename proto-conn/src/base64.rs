//! Base64 (RFC 4648 §4) with padding.

use alloc::{string::String, vec::Vec};

/// Returns `bytes` in base64.
#[allow(clippy::indexing_slicing, reason = "six bits are less than the alphabet has letters")]
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for group in bytes.chunks(3) {
        let byte = |n: usize| u32::from(group.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * n) & 0x3f) as usize];
            text.push(char::from(if n <= group.len() { letter } else { PADDING }));
        }
    }
    text
}

/// Returns the bytes that `text` stands for. `None` unless it is exactly what [`encode`] makes of them: padded, without
/// blanks, and with zeros for the bits that no byte needs (RFC 4648 §3.5).
pub(crate) fn decode_exact(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut groups = text.chunks(4).peekable();
    while let Some(group) = groups.next() {
        let letters = match group {
            [_, _, PADDING, PADDING] if groups.peek().is_none() => 2,
            [_, _, _, PADDING] if groups.peek().is_none() => 3,
            [_, _, _, _] => 4,
            _ => return None,
        };
        let mut bits = 0;
        for &letter in group.iter().take(letters) {
            bits = bits << 6 | value_of(letter)?;
        }
        let unused = (4 - letters) * 6;
        let [_, whole @ ..] = (bits << unused).to_be_bytes();
        if whole.iter().skip(letters - 1).any(|&left| left != 0) {
            return None;
        }
        bytes.extend(whole.iter().take(letters - 1));
    }
    Some(bytes)
}

fn value_of(letter: u8) -> Option<u32> {
    let (first, value) = match letter {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(letter - first) + value)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING: u8 = b'=';

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_4648_section_10_hold() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, encoded) in examples {
            assert_eq!(encode(plain.as_bytes()), encoded);
            assert_eq!(decode_exact(encoded.as_bytes()).unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn what_encoding_never_makes_is_refused() {
        for text in ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9", "Zm9v\n", "Zm_v"] {
            assert_eq!(decode_exact(text.as_bytes()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(bytes: Vec<u8>) {
            prop_assert_eq!(decode_exact(encode(&bytes).as_bytes()), Some(bytes));
        }
    }
}
