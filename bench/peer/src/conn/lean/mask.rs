//! The mask of WebSocket clients (RFC 6455 §5.3).

/// Masks or unmasks the part of a payload that begins at `at`.
pub(super) fn apply(key: [u8; 4], at: usize, bytes: &mut [u8]) {
    let mut key = key;
    key.rotate_left(at % 4);
    let half = u64::from(u32::from_le_bytes(key));
    let wide = half << 32 | half;
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        if let Ok(word) = <&mut [u8; 8]>::try_from(word) {
            *word = (u64::from_le_bytes(*word) ^ wide).to_le_bytes();
        }
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(wide.to_le_bytes()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_masked_as_its_place_asks_for() {
        let key = [0x12, 0x34, 0x56, 0x78];
        let plain: Vec<u8> = (0..100).collect();
        let expected: Vec<_> =
            plain.iter().zip(key.into_iter().cycle()).map(|(byte, key)| byte ^ key).collect();
        for cut in 0..plain.len() {
            let mut bytes = plain.clone();
            let (start, end) = bytes.split_at_mut(cut);
            apply(key, 0, start);
            apply(key, cut, end);
            assert_eq!(bytes, expected, "{cut}");
        }
    }
}
