//! Values of the options: header fields, pins, receive modes, interfaces, bytes of files.

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use proto_conn::Headers;
use proto_core::Interface;
use runtime_blocking::ReceiveMode;
use std::{convert::Infallible, fs, io::Read as _, num::NonZeroU32, path::Path, time::Duration};

use crate::{args::values::time, failure::Failure};

/// A header field as it is written: `Name: value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
}

/// Reads `Name: value`.
pub(super) fn field(text: &str) -> Result<Field, String> {
    let (name, value) = text.split_once(':').ok_or("write NAME: VALUE")?;
    let field = Field { name: name.trim().into(), value: value.trim().into() };
    Headers::new().append(&field.name, &field.value).map_err(|error| error.to_string())?;
    Ok(field)
}

/// Reads the SHA-256 of a key: 64 hexadecimal digits, or Base64 as curl writes it.
pub(super) fn pin(text: &str) -> Result<[u8; 32], String> {
    let text = text.strip_prefix("sha256//").unwrap_or(text);
    let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).or_else(|_| BASE64.decode(text.as_bytes()));
    let wrong =
        "write the SHA-256 of the key as 64 hexadecimal digits or as sha256//BASE64; -v shows a server's";
    bytes.ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| wrong.into())
}

/// Reads `park`, `poll` or `spin:TIME`, such as `spin:50us`.
pub(super) fn receive_mode(text: &str) -> Result<ReceiveMode, String> {
    match text.split_once(':') {
        None if text == "park" => Ok(ReceiveMode::Park),
        None if text == "poll" => Ok(ReceiveMode::Poll),
        Some(("spin", budget)) => Ok(ReceiveMode::Spin(short_time(budget)?)),
        _ => Err("write park, poll, or spin with a budget such as spin:50us".into()),
    }
}

/// Reads a time that may be a matter of microseconds.
fn short_time(text: &str) -> Result<Duration, String> {
    let Some(micros) = text.strip_suffix("us") else { return time(text) };
    let micros = micros.parse().ok().filter(|micros| (1..=1_000_000).contains(micros));
    micros.map(Duration::from_micros).ok_or_else(|| "write a budget such as 50us or 1ms".into())
}

/// Reads an interface's name or index.
#[allow(clippy::unnecessary_wraps, reason = "clap wants a result")]
pub(super) fn interface(text: &str) -> Result<Interface, Infallible> {
    Ok(match text.parse::<NonZeroU32>() {
        Ok(index) => Interface::Index(index),
        Err(_) => Interface::Name(text.into()),
    })
}

/// Takes data as it is given: the text itself, or with `@` the contents of a file, `@-` being standard input.
///
/// # Errors
/// The file cannot be read.
pub(super) fn data(text: &str) -> Result<Vec<u8>, Failure> {
    match text.strip_prefix('@') {
        None => Ok(text.into()),
        Some("-") => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| Failure::file(format_args!("cannot read standard input: {error}")))?;
            Ok(bytes)
        }
        Some(path) => file(Path::new(path)),
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub(super) fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(format_args!("cannot read {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_name_and_a_value_that_can_be_sent() {
        let read = field("X-Robot:  left arm ").unwrap();
        assert_eq!((read.name.as_str(), read.value.as_str()), ("X-Robot", "left arm"));
        for wrong in ["no colon", ": nameless", "two words: x", "x: a\r\nb: c"] {
            assert!(field(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_pin_is_hexadecimal_or_as_curl_writes_it() {
        assert_eq!(pin(&"0f".repeat(32)), Ok([0x0f; 32]));
        assert_eq!(pin(&format!("sha256//{}", BASE64.encode(&[7; 32]))), Ok([7; 32]));
        for wrong in ["", "0f", "sha256//", &"0g".repeat(32)] {
            assert!(pin(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn receive_modes_have_a_budget_where_they_spin() {
        assert_eq!(receive_mode("park"), Ok(ReceiveMode::Park));
        assert_eq!(receive_mode("spin:50us"), Ok(ReceiveMode::Spin(Duration::from_micros(50))));
        assert_eq!(receive_mode("spin:2ms"), Ok(ReceiveMode::Spin(Duration::from_millis(2))));
        for wrong in ["", "spin", "spin:", "spin:0us", "park:1s", "dance"] {
            assert!(receive_mode(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn an_interface_is_an_index_or_a_name() {
        assert_eq!(interface("3"), Ok(Interface::Index(NonZeroU32::new(3).unwrap())));
        assert_eq!(interface("eth0"), Ok(Interface::Name("eth0".into())));
    }
}
