//! KISS framing, as the interfaces use it for data frames (spec 1.17).

use super::escapes;
use alloc::vec::Vec;

/// Begins and ends a frame.
pub(super) const FLAG: u8 = 0xc0;
const ESCAPE: u8 = 0xdb;
const ESCAPED_FLAG: u8 = 0xdc;
const ESCAPED_ESCAPE: u8 = 0xdd;
/// The command of a data frame; the upper half is the modem's port.
const DATA: u8 = 0x00;

/// Appends a data frame made of `parts`.
pub(super) fn frame(parts: &[&[u8]], out: &mut Vec<u8>) {
    out.reserve(parts.iter().map(|part| part.len()).sum::<usize>() + 3);
    out.extend_from_slice(&[FLAG, DATA]);
    let code = |byte| if byte == FLAG { ESCAPED_FLAG } else { ESCAPED_ESCAPE };
    parts.iter().for_each(|part| escapes::append(part, FLAG, ESCAPE, code, out));
    out.push(FLAG);
}

/// Takes command and escapes out in place. `None` for frames that carry no data.
pub(super) fn unescape(escaped: &mut [u8]) -> Option<&mut [u8]> {
    let (command, data) = escaped.split_first_mut()?;
    if *command & 0x0f != DATA {
        return None;
    }
    let len = escapes::remove(data, ESCAPE, |byte| match byte {
        ESCAPED_FLAG => FLAG,
        ESCAPED_ESCAPE => ESCAPE,
        other => other,
    });
    data.get_mut(..len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_reference_frames_alike() {
        let payload = [0x00, 0x7e, 0x7d, 0xc0, 0xdb, 0xdc, 0xdd, 0xff];
        let mut out = Vec::new();
        frame(&[&payload], &mut out);
        assert_eq!(out, [0xc0, 0x00, 0x00, 0x7e, 0x7d, 0xdb, 0xdc, 0xdb, 0xdd, 0xdc, 0xdd, 0xff, 0xc0]);
        let inner = out.len() - 1;
        assert_eq!(unescape(&mut out[1..inner]), Some(&mut payload.to_vec()[..]));
    }

    #[test]
    fn frames_of_other_commands_are_no_data_and_the_port_does_not_matter() {
        assert_eq!(unescape(&mut [0x06, 1, 2]), None);
        assert_eq!(unescape(&mut []), None);
        assert_eq!(unescape(&mut [0x10, 1, 2]), Some(&mut vec![1, 2][..]));
    }
}
