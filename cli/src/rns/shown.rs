//! Sizes, speeds and times as the reference's utilities write them.

use jiff::{Timestamp, tz::TimeZone};
use proto_rns::wire::msgpack;
use serde_json::{Value as Json, json};
use std::time::{Duration, SystemTime};

/// Returns the UNIX time.
pub(crate) fn unix_now() -> f64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_epoch.unwrap_or(Duration::ZERO).as_secs_f64()
}

/// Writes a UNIX time as date and time of day where the user is.
pub(crate) fn date(unix: f64) -> String {
    let since_epoch = Duration::try_from_secs_f64(unix).unwrap_or_default();
    let at = Timestamp::try_from(SystemTime::UNIX_EPOCH + since_epoch).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Writes a size in bytes: `195 B`, `16.78 MB`.
pub(crate) fn size(bytes: f64) -> String {
    scaled(bytes, ["B", "KB", "MB", "GB", "TB", "PB"], 0)
}

/// Writes a speed in bits a second: `0 bps`, `10.00 Mbps`.
pub(crate) fn speed(bits: f64) -> String {
    scaled(bits, ["bps", "Kbps", "Mbps", "Gbps", "Tbps", "Pbps"], 0)
}

/// Writes a time: `6.97s`, `1h, 59m and 58.69s`.
pub(crate) fn period(seconds: f64) -> String {
    let (whole, fraction) = (seconds.max(0.0).floor(), seconds.max(0.0).fract());
    let parts = [("d", 86_400.0), ("h", 3_600.0), ("m", 60.0)];
    let mut rest = whole;
    let mut shown = Vec::new();
    for (unit, length) in parts {
        let count = (rest / length).floor();
        rest -= count * length;
        if count > 0.0 {
            shown.push(format!("{count}{unit}"));
        }
    }
    let last = ((rest + fraction) * 100.0).round() / 100.0;
    if last > 0.0 || shown.is_empty() {
        shown.push(format!("{last}s"));
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Writes how many hops it is.
pub(crate) fn hops(hops: u64) -> String {
    format!("{hops} hop{}", if hops == 1 { "" } else { "s" })
}

/// Turns a value into JSON; bytes become hexadecimal digits, as in the reference's JSON.
pub(crate) fn json(value: &msgpack::Value) -> Json {
    match value {
        msgpack::Value::Nil => Json::Null,
        msgpack::Value::Bool(value) => json!(value),
        msgpack::Value::Unsigned(number) => json!(number),
        msgpack::Value::Negative(number) => json!(number),
        msgpack::Value::Float(number) => json!(number),
        msgpack::Value::Bytes(bytes) => json!(hex(bytes)),
        msgpack::Value::Text(text) => json!(text),
        msgpack::Value::Array(items) => Json::Array(items.iter().map(json).collect()),
        msgpack::Value::Map(pairs) => {
            Json::Object(pairs.iter().map(|(key, value)| (key_text(key), json(value))).collect())
        }
    }
}

/// Writes bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key_text(key: &msgpack::Value) -> String {
    let key = json(key);
    key.as_str().map_or_else(|| key.to_string(), Into::into)
}

/// Writes a number with the unit of its thousands, two places behind the point from the second unit on.
fn scaled<const UNITS: usize>(number: f64, units: [&str; UNITS], places: usize) -> String {
    let mut value = number;
    for (at, unit) in units.iter().enumerate() {
        if value.abs() < 1_000.0 || at + 1 == UNITS {
            let places = if at == 0 { places } else { 2 };
            return format!("{value:.places$} {unit}");
        }
        value /= 1_000.0;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_speeds_are_the_references() {
        assert_eq!(size(195.0), "195 B");
        assert_eq!(size(8_360.0), "8.36 KB");
        assert_eq!(size(16_777_216.0), "16.78 MB");
        assert_eq!(speed(0.0), "0 bps");
        assert_eq!(speed(1e7), "10.00 Mbps");
        assert_eq!(speed(1e9), "1.00 Gbps");
    }

    #[test]
    fn periods_are_the_references() {
        assert_eq!(period(6.97), "6.97s");
        assert_eq!(period(7_198.69), "1h, 59m and 58.69s");
        assert_eq!(period(120.0), "2m");
        assert_eq!(period(0.0), "0s");
        assert_eq!(period(90_061.0), "1d, 1h, 1m and 1s");
    }

    #[test]
    fn bytes_become_digits_in_json() {
        let hash = msgpack::Value::Bytes(vec![0xab, 1]);
        let map = msgpack::Value::Map(vec![(hash.clone(), msgpack::Value::Array(vec![hash]))]);
        assert_eq!(json(&map), json!({ "ab01": ["ab01"] }));
    }
}
