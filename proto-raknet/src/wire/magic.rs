//! The 16 bytes that tell offline messages from everything else.

use proto_core::Reader;

use super::ParseError;

/// The marker that every offline message carries at an offset fixed by its id.
pub const MAGIC: [u8; 16] =
    [0x00, 0xff, 0xff, 0x00, 0xfe, 0xfe, 0xfe, 0xfe, 0xfd, 0xfd, 0xfd, 0xfd, 0x12, 0x34, 0x56, 0x78];

/// Takes the marker.
///
/// # Errors
/// [`ParseError::Magic`] when other bytes are there, [`ParseError::Truncated`] when too few are.
pub fn expect(r: &mut Reader<'_>) -> Result<(), ParseError> {
    if r.array()? == MAGIC { Ok(()) } else { Err(ParseError::Magic) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_marker_is_taken() {
        assert_eq!(expect(&mut Reader::new(&MAGIC)), Ok(()));
        assert_eq!(expect(&mut Reader::new(&MAGIC[..15])), Err(ParseError::Truncated));
        for position in 0..MAGIC.len() {
            let mut spoiled = MAGIC;
            spoiled[position] ^= 1;
            assert_eq!(expect(&mut Reader::new(&spoiled)), Err(ParseError::Magic));
        }
    }
}
