//! What a datagram decodes to: names with fields and parts.

use serde_json::{Map, Value, json};

/// A message, a frame or a header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    name: String,
    fields: Vec<Field>,
    pub(super) parts: Vec<Self>,
    /// Bytes that no field stands for.
    pub(super) data: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: &'static str,
    value: Value,
    /// Whether one line has room for it.
    brief: bool,
}

impl Node {
    /// Creates a node without fields.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), fields: Vec::new(), parts: Vec::new(), data: Vec::new() }
    }

    /// Adds a field that one line shows.
    #[must_use]
    pub(super) fn brief(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.with(name, value.into(), true)
    }

    /// Adds a field that only the long form and JSON show.
    #[must_use]
    pub(super) fn field(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.with(name, value.into(), false)
    }

    /// Adds the bytes that no field stands for.
    #[must_use]
    pub(super) fn data(self, data: &[u8]) -> Self {
        Self { data: data.to_vec(), ..self }
    }

    /// Adds a part.
    #[must_use]
    pub(super) fn part(mut self, part: Self) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns name and brief fields, those of the parts included.
    pub(super) fn line(&self) -> String {
        let fields = self.fields.iter().filter(|field| field.brief && field.is_there()).map(Field::text);
        let parts = self.parts.iter().take(MAX_PARTS_IN_LINE).map(|part| format!("[{}]", part.line()));
        let more = self.parts.len().saturating_sub(MAX_PARTS_IN_LINE);
        let more = (more > 0).then(|| format!("+{more} more"));
        let words: Vec<String> =
            [self.name.clone()].into_iter().chain(fields).chain(parts).chain(more).collect();
        words.join(" ")
    }

    /// Returns everything, a line each, indented by `depth` steps.
    pub(super) fn lines(&self, depth: usize) -> Vec<String> {
        let indent = "  ".repeat(depth);
        let fields: Vec<String> =
            self.fields.iter().filter(|field| field.is_there()).map(Field::text).collect();
        let mut lines = vec![format!("{indent}{}  {}", self.name, fields.join(", ")).trim_end().to_owned()];
        lines.extend(self.data.chunks(16).enumerate().map(|(row, bytes)| dump(&indent, row, bytes)));
        lines.extend(self.parts.iter().flat_map(|part| part.lines(depth + 1)));
        lines
    }

    /// Returns everything as JSON.
    pub(super) fn json(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("kind".into(), self.name.clone().into());
        map.extend(self.fields.iter().map(|field| (field.name.replace(' ', "_"), field.value.clone())));
        if !self.data.is_empty() {
            map.insert("data".into(), hex(&self.data).into());
        }
        if !self.parts.is_empty() {
            map.insert("parts".into(), self.parts.iter().map(|part| json!(part.json())).collect());
        }
        map
    }

    fn with(mut self, name: &'static str, value: Value, brief: bool) -> Self {
        self.fields.push(Field { name, value, brief });
        self
    }
}

impl Field {
    fn is_there(&self) -> bool {
        !self.value.is_null()
    }

    fn text(&self) -> String {
        match self.value.as_str() {
            Some(text) => format!("{}={text}", self.name),
            None => format!("{}={}", self.name, self.value),
        }
    }
}

/// Returns bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn dump(indent: &str, row: usize, bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let letters: String = bytes
        .iter()
        .map(|&byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' })
        .collect();
    format!("{indent}    {:04x}  {:<47}  {letters}", row * 16, digits.join(" "))
}

/// Parts that one line shows.
const MAX_PARTS_IN_LINE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        Node::new("Outer")
            .brief("a", 1)
            .brief("not there", Value::Null)
            .field("long name", "x")
            .part(Node::new("Inner").data(b"hi\n"))
    }

    #[test]
    fn one_line_leaves_out_what_is_long() {
        assert_eq!(node().line(), "Outer a=1 [Inner]");
        let many = (0..8).fold(Node::new("Many"), |many, _| many.part(Node::new("p")));
        assert_eq!(many.line(), "Many [p] [p] [p] [p] [p] [p] +2 more");
    }

    #[test]
    fn the_long_form_leaves_out_nothing() {
        let lines = node().lines(0);
        assert_eq!(lines[0], "Outer  a=1, long name=x");
        assert_eq!(lines[1], "  Inner");
        assert!(lines[2].trim_start().starts_with("0000  68 69 0a ") && lines[2].ends_with("  hi."));
    }

    #[test]
    fn json_has_the_same_tree() {
        let expected = json!({ "kind": "Outer", "a": 1, "not_there": null, "long_name": "x", "parts": [{ "kind": "Inner", "data": "68690a" }] });
        assert_eq!(json!(node().json()), expected);
    }
}
