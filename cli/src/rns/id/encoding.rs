//! Bytes as text.

use data_encoding::{BASE32, BASE32_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};

/// How bytes are written as text, as the reference writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Hexadecimal digits.
    Hex,
    /// RFC 4648 base32.
    Base32,
    /// RFC 4648 base64 for URLs.
    Base64,
}

impl Encoding {
    const ALL: [Self; 3] = [Self::Hex, Self::Base32, Self::Base64];
    /// How long a line of an armour is.
    const COLUMNS: usize = 64;

    /// Writes bytes.
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => HEXLOWER.encode(bytes),
            Self::Base32 => BASE32.encode(bytes),
            Self::Base64 => BASE64URL.encode(bytes),
        }
    }

    /// Reads `len` bytes in whichever encoding they are written.
    pub(super) fn decode_any(text: &str, len: usize) -> Option<Vec<u8>> {
        Self::ALL.iter().find_map(|encoding| encoding.decode(text).filter(|bytes| bytes.len() == len))
    }

    /// Writes a file's contents between two lines that say what it is.
    pub(super) fn armour(self, kind: &str, bytes: &[u8]) -> String {
        let text = self.encode(bytes);
        let mut armour = format!("\n{:#<1$}\n", format!("#### Start of {kind} data "), Self::COLUMNS);
        let lines = text.as_bytes().chunks(Self::COLUMNS).map(String::from_utf8_lossy);
        for line in lines {
            armour += &format!("{line:=<width$}\n", width = Self::COLUMNS);
        }
        armour + &format!("{:#>1$}\n", format!(" End of {kind} data ####"), Self::COLUMNS)
    }

    /// Reads what [`armour`](Self::armour) wrote, in whichever encoding. `None` where it is none.
    pub(super) fn open_armour(text: &str) -> Option<Vec<u8>> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.next().filter(|first| first.starts_with("####"))?;
        let body: String = lines.take_while(|line| !line.starts_with("####")).collect();
        Self::ALL.iter().find_map(|encoding| encoding.decode(&body))
    }

    fn decode(self, text: &str) -> Option<Vec<u8>> {
        let text = text.trim().trim_end_matches('=').as_bytes();
        match self {
            Self::Hex => HEXLOWER_PERMISSIVE.decode(text),
            Self::Base32 => BASE32_NOPAD.decode(text),
            Self::Base64 => BASE64URL_NOPAD.decode(text),
        }
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_every_encoding_as_they_were_written() {
        let keys: Vec<u8> = (0..64).collect();
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::decode_any(&encoding.encode(&keys), 64), Some(keys.clone()));
        }
        assert_eq!(Encoding::decode_any("00", 64), None);
        assert_eq!(Encoding::decode_any("!", 64), None);
    }

    #[test]
    fn an_armour_has_lines_of_64_columns_and_is_read_back() {
        let bytes: Vec<u8> = (0..224).collect();
        for encoding in Encoding::ALL {
            let armour = encoding.armour("rsg", &bytes);
            assert!(armour.trim().lines().all(|line| line.len() == 64), "{armour}");
            assert_eq!(Encoding::open_armour(&armour), Some(bytes.clone()));
        }
        assert_eq!(Encoding::open_armour("no armour"), None);
    }
}
