//! Values that several commands have.

use proto_rns::ParseHashError;
use std::{str::FromStr, time::Duration};

/// Reads a hash of 32 hexadecimal digits, which may stand in the angle brackets that the reference prints.
pub(crate) fn hash<H: FromStr<Err = ParseHashError>>(text: &str) -> Result<H, String> {
    let bare = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(text);
    bare.parse().map_err(|_| "a hash has 32 hexadecimal digits".into())
}

/// Reads whole seconds, up to a year.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds @ 0..=31_536_000) => Ok(Duration::from_secs(seconds)),
        Ok(_) | Err(_) => Err("write a number of seconds, 0 to 31536000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_rns::IdentityHash;

    #[test]
    fn a_hash_may_stand_in_angle_brackets() {
        let bare = "00112233445566778899aabbccddeeff";
        let plain = hash::<IdentityHash>(bare);
        assert!(plain.is_ok());
        assert_eq!(hash::<IdentityHash>(&format!("<{bare}>")), plain);
        for wrong in
            ["", "<>", "0011", "<00112233445566778899aabbccddeeff", "zz112233445566778899aabbccddeeff"]
        {
            assert!(hash::<IdentityHash>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_interval_is_whole_seconds() {
        assert_eq!(interval("0"), Ok(Duration::ZERO));
        assert_eq!(interval("90"), Ok(Duration::from_secs(90)));
        for wrong in ["", "-1", "1.5", "x", "99999999999"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
