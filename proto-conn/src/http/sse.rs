//! Server-sent events (WHATWG HTML, §9.2): a parser over the bytes of a streamed body.

use alloc::{borrow::ToOwned as _, string::String, vec::Vec};
use core::time::Duration;

/// Makes events of a `text/event-stream` body, from pieces of any size.
///
/// It keeps at most [`max_event`](Self::new) bytes of an event, and as many of a line.
#[derive(Debug)]
pub struct SseReader {
    max_event: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    stage: Stage,
    name: String,
    data: String,
    has_data: bool,
    last_id: String,
    retry: Option<Duration>,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; `message` if the server gave none.
    pub name: String,
    /// Its data, lines joined by LF.
    pub data: String,
    /// The last id that the server gave, with this event or an earlier one. Sent as `Last-Event-ID` in another request,
    /// it asks for what came after.
    pub id: String,
}

/// An event is longer than it may be. The stream cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event is longer than allowed")]
pub struct SseTooLong;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before the first line, which may begin with a byte order mark.
    First,
    Lines,
    /// Behind a CR, which an LF may complete.
    BehindCr,
}

impl SseReader {
    /// Creates one for events of at most `max_event` bytes.
    pub const fn new(max_event: usize) -> Self {
        Self {
            max_event,
            line: Vec::new(),
            stage: Stage::First,
            name: String::new(),
            data: String::new(),
            has_data: false,
            last_id: String::new(),
            retry: None,
        }
    }

    /// Takes the next bytes from the front of `input`, as far as the end of an event. `None` if that has not arrived:
    /// `input` is empty then.
    ///
    /// # Errors
    /// The event is too long.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<SseEvent>, SseTooLong> {
        while !input.is_empty() {
            if self.stage == Stage::BehindCr {
                *input = input.strip_prefix(b"\n").unwrap_or(input);
                self.stage = Stage::Lines;
                continue;
            }
            let end = memchr::memchr2(b'\r', b'\n', input);
            let (piece, rest) = input.split_at(end.unwrap_or(input.len()));
            if self.line.len() + piece.len() > self.max_event {
                return Err(SseTooLong);
            }
            self.line.extend_from_slice(piece);
            *input = rest;
            if let [end, rest @ ..] = rest {
                *input = rest;
                let event = self.on_line()?;
                self.stage = if *end == b'\r' { Stage::BehindCr } else { Stage::Lines };
                if event.is_some() {
                    return Ok(event);
                }
            }
        }
        Ok(None)
    }

    /// Returns the last id that the server gave, for `Last-Event-ID`.
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// Returns how long the server wants to be left alone before another connection.
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn on_line(&mut self) -> Result<Option<SseEvent>, SseTooLong> {
        let line = core::mem::take(&mut self.line);
        let bytes = match (self.stage, line.as_slice()) {
            (Stage::First, [0xef, 0xbb, 0xbf, text @ ..]) => text,
            (_, text) => text,
        };
        let event = if bytes.is_empty() {
            Ok(self.dispatch())
        } else {
            self.on_field(&String::from_utf8_lossy(bytes)).map(|()| None)
        };
        self.line = line;
        self.line.clear();
        event
    }

    fn on_field(&mut self, line: &str) -> Result<(), SseTooLong> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.data.len() + value.len() > self.max_event {
                    return Err(SseTooLong);
                }
                if core::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.last_id),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry);
            }
            // A comment, whose name is empty, or a field that is not known.
            _ => {}
        }
        Ok(())
    }

    /// Makes an event of the fields before an empty line, if there was data among them.
    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = core::mem::take(&mut self.name);
        let data = core::mem::take(&mut self.data);
        core::mem::take(&mut self.has_data).then(|| SseEvent {
            name: if name.is_empty() { "message".into() } else { name },
            data,
            id: self.last_id.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};

    fn events(bytes: &[u8], size: usize) -> (Vec<SseEvent>, SseReader) {
        let (mut reader, mut events) = (SseReader::new(64), vec![]);
        for mut piece in bytes.chunks(size) {
            while let Some(event) = reader.read(&mut piece).unwrap() {
                events.push(event);
            }
        }
        (events, reader)
    }

    fn event(name: &str, data: &str, id: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into(), id: id.into() }
    }

    #[test]
    fn the_examples_of_the_standard_hold_however_they_are_cut() {
        let stream = "\u{feff}: test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n\
                      data\n\ndata\ndata\n\ndata:";
        let expected = vec![
            event("message", "first event", "1"),
            event("message", "second event", ""),
            event("message", " third event", ""),
            event("message", "", ""),
            event("message", "\n", ""),
        ];
        for ends in ["\n", "\r", "\r\n"] {
            for size in [1, 2, 3, 1_000] {
                assert_eq!(
                    events(stream.replace('\n', ends).as_bytes(), size).0,
                    expected,
                    "{ends:?} {size}"
                );
            }
        }
    }

    #[test]
    fn types_ids_and_retry_are_read() {
        let (events, reader) = events(
            b"event: add\ndata: 7\nid: a\nretry: 250\n\nid: b\0\nretry: 1x\nevent: z\n\ndata: 8\n\n",
            9,
        );
        assert_eq!(events, [event("add", "7", "a"), event("message", "8", "a")]);
        assert_eq!((reader.retry(), reader.last_event_id()), (Some(Duration::from_millis(250)), "a"));
    }

    #[test]
    fn an_event_has_a_limit() {
        let read = |text: &str| SseReader::new(64).read(&mut text.as_bytes());
        assert_eq!(read(&"x".repeat(65)), Err(SseTooLong));
        assert_eq!(read(&format!("data: {}\n", "y".repeat(50)).repeat(2)), Err(SseTooLong));
    }
}
