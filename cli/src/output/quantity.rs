//! Sizes, rates and times as people read them.

use std::time::Duration;

/// Writes bytes with a binary unit: `640 B`, `1.0 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = approximate(count);
    if count < 1_024 {
        return format!("{count} B");
    }
    for unit in ["KiB", "MiB", "GiB"] {
        value /= 1_024.0;
        if value < 1_024.0 {
            return format!("{value:.1} {unit}");
        }
    }
    format!("{:.1} TiB", value / 1_024.0)
}

/// Writes bytes a second.
pub(crate) fn rate(bytes_a_second: u64) -> String {
    format!("{}/s", bytes(bytes_a_second))
}

/// Writes the bytes a second of `count` bytes in `time`.
pub(crate) fn throughput(count: u64, time: Duration) -> String {
    rate(per_second(count, time))
}

/// Returns how many of `count` came in each second of `time`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is never negative, and the cast saturates"
)]
pub(crate) fn per_second(count: u64, time: Duration) -> u64 {
    (approximate(count) / time.as_secs_f64().max(1e-9)) as u64
}

/// Writes a time with three digits or so: `85 µs`, `1.24 ms`, `2.5 s`.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1e3 => format!("{micros:.0} µs"),
        ..1e4 => format!("{:.2} ms", micros / 1e3),
        ..1e6 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// Writes a count with thousands apart: `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a share between 0 and 1 in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns `part` of `whole` between 0 and 1; 0 of nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { approximate(part) / approximate(whole) }
}

/// Returns a time in milliseconds, as JSON has it, to the microsecond.
pub(crate) fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[allow(clippy::cast_precision_loss, reason = "what is shown has four digits at most")]
fn approximate(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_change_their_unit_at_powers_of_1024() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1_023), "1023 B");
        assert_eq!(bytes(1_024), "1.0 KiB");
        assert_eq!(bytes(5 << 40), "5.0 TiB");
    }

    #[test]
    fn times_keep_about_three_digits() {
        assert_eq!(time(Duration::from_micros(85)), "85 µs");
        assert_eq!(time(Duration::from_micros(1_240)), "1.24 ms");
        assert_eq!(time(Duration::from_millis(12)), "12.0 ms");
        assert_eq!(time(Duration::from_millis(2_500)), "2.50 s");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!(percent(share(0, 0)), "0.0 %");
        assert_eq!(percent(share(1, 8)), "12.5 %");
    }
}
