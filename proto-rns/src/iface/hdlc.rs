//! The HDLC-like framing: flags and escapes, no checksum (spec 1.17).

use super::escapes;
use alloc::vec::Vec;

/// Begins and ends a frame.
pub(super) const FLAG: u8 = 0x7e;
const ESCAPE: u8 = 0x7d;
const TOGGLE: u8 = 0x20;

/// Appends a frame made of `parts`.
pub(super) fn frame(parts: &[&[u8]], out: &mut Vec<u8>) {
    out.reserve(parts.iter().map(|part| part.len()).sum::<usize>() + 2);
    out.push(FLAG);
    parts.iter().for_each(|part| escapes::append(part, FLAG, ESCAPE, |byte| byte ^ TOGGLE, out));
    out.push(FLAG);
}

/// Takes the escapes out in place. An escape at the very end stands for nothing.
pub(super) fn unescape(escaped: &mut [u8]) -> Option<&mut [u8]> {
    let len = escapes::remove(escaped, ESCAPE, |byte| byte ^ TOGGLE);
    escaped.get_mut(..len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_frames_alike() {
        let payload = [
            0x00, 0x7e, 0x7d, 0x5e, 0x5d, 0xc0, 0xdb, 0xdc, 0xdd, 0xff, 0x00, 0x7e, 0x7d, 0x5e, 0x5d, 0xc0,
            0xdb, 0xdc, 0xdd, 0xff,
        ];
        let mut out = Vec::new();
        frame(&[&payload], &mut out);
        let expected = [
            0x7e, 0x00, 0x7d, 0x5e, 0x7d, 0x5d, 0x5e, 0x5d, 0xc0, 0xdb, 0xdc, 0xdd, 0xff, 0x00, 0x7d, 0x5e,
            0x7d, 0x5d, 0x5e, 0x5d, 0xc0, 0xdb, 0xdc, 0xdd, 0xff, 0x7e,
        ];
        assert_eq!(out, expected);
        let inner = out.len() - 1;
        assert_eq!(unescape(&mut out[1..inner]), Some(&mut payload.to_vec()[..]));
    }
}
