//! Fields of the maps that a shared instance answers with.

use proto_rns::wire::msgpack::Value;

use super::shown;

/// Returns a number of any kind; 0 where there is none.
pub(crate) fn amount(of: &Value, key: &str) -> f64 {
    of.get(key).map_or(0.0, number)
}

/// Returns a value as number; 0 where it is none.
#[allow(clippy::cast_precision_loss, reason = "what is shown and sorted by has four digits at most")]
pub(crate) const fn number(value: &Value) -> f64 {
    match value {
        Value::Unsigned(number) => *number as f64,
        Value::Negative(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Nil | Value::Bool(_) | Value::Bytes(_) | Value::Text(_) | Value::Array(_) | Value::Map(_) => {
            0.0
        }
    }
}

/// Returns a count, if there is one.
pub(crate) fn count(of: &Value, key: &str) -> Option<u64> {
    of.get(key).and_then(integer)
}

/// Returns a value as count, if it is one.
pub(crate) const fn integer(value: &Value) -> Option<u64> {
    if let Value::Unsigned(number) = value { Some(*number) } else { None }
}

/// Returns a text, if there is one.
pub(crate) fn text<'v>(of: &'v Value, key: &str) -> Option<&'v str> {
    if let Some(Value::Text(text)) = of.get(key) { Some(text) } else { None }
}

/// Returns a hash in hexadecimal digits, if there is one.
pub(crate) fn hash(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(digits)
}

/// Returns bytes in hexadecimal digits, if they are bytes.
pub(crate) fn digits(value: &Value) -> Option<String> {
    if let Value::Bytes(bytes) = value { Some(shown::hex(bytes)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_of_another_kind_is_nothing() {
        let map = Value::Map(vec![
            ("n".into(), Value::Unsigned(7)),
            ("f".into(), Value::Float(0.5)),
            ("t".into(), "text".into()),
            ("h".into(), Value::Bytes(vec![0xab])),
        ]);
        assert_eq!((amount(&map, "n"), amount(&map, "f"), amount(&map, "t")), (7.0, 0.5, 0.0));
        assert_eq!((count(&map, "n"), count(&map, "f"), count(&map, "x")), (Some(7), None, None));
        assert_eq!((text(&map, "t"), text(&map, "h")), (Some("text"), None));
        assert_eq!((hash(&map, "h"), hash(&map, "t")), (Some("ab".into()), None));
    }
}
