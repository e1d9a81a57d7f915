//! The little of X.509 that is asked for here.

/// Says whether a certificate names itself as its issuer (RFC 5280 §4.1).
pub(super) fn is_self_issued(certificate: &[u8]) -> bool {
    names(certificate).is_some_and(|(issuer, subject)| issuer == subject)
}

fn names(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    let (tag, _, after_version) = element(rest)?;
    if tag == VERSION {
        rest = after_version;
    }
    let (_, _serial, rest) = element(rest)?;
    let (_, _algorithm, rest) = element(rest)?;
    let (_, issuer, rest) = element(rest)?;
    let (_, _validity, rest) = element(rest)?;
    let (_, subject, _) = element(rest)?;
    Some((issuer, subject))
}

/// Splits an element in tag and content off the front of what follows it (X.690 §8.1).
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81 => rest.split_first().map(|(len, rest)| (usize::from(*len), rest))?,
        0x82 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_be_bytes(*len)), rest))?,
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

/// The optional version in front of the serial number.
const VERSION: u8 = 0xa0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_short_and_long_lengths() {
        assert_eq!(element(&[4, 2, 7, 8, 9]), Some((4, &[7, 8][..], &[9][..])));
        assert_eq!(element(&[4, 0x81, 1, 7]), Some((4, &[7][..], &[][..])));
        assert_eq!(element(&[4, 0x82, 0, 1, 7]), Some((4, &[7][..], &[][..])));
        for broken in [&[][..], &[4], &[4, 2, 7], &[4, 0x81], &[4, 0x82, 0], &[4, 0x83, 0, 0, 0], &[4, 0x80]]
        {
            assert_eq!(element(broken), None, "{broken:?}");
        }
    }
}
