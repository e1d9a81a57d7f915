//! What goes over the wire: names, metadata, requests and their answers.

use proto_rns::{
    dest::DestinationName,
    link::LinkConfig,
    resource::{Deliver, ResourceConfig, Strategy},
    wire::msgpack::{Reader, Shape, Writer},
};
use runtime_tokio::rns::Progress;
use std::{
    ffi::{OsStr, OsString},
    path::{Component, Path},
};

/// The name of the utility, for its files.
pub(super) const UTILITY: &str = "rncp";

/// The path of requests for files.
pub(super) const FETCH: &str = "fetch_file";

/// The answer to a request for a file that may not be fetched.
const NOT_ALLOWED: u64 = 0xf0;

/// Returns the name of the destination that files go to.
pub(super) fn name() -> DestinationName {
    DestinationName::new("rncp", &["receive"]).unwrap_or_else(|_| unreachable!("the name has no dots"))
}

/// Returns how links behave that files come over: every offer is looked at, and files of any length take the memory of
/// one piece.
pub(super) fn link_config() -> LinkConfig {
    let resources = ResourceConfig {
        strategy: Strategy::App,
        deliver: Deliver::Segments,
        max_incoming_size: u64::MAX,
        ..ResourceConfig::default()
    };
    LinkConfig { resources, ..LinkConfig::default() }
}

/// Writes what goes with a file.
pub(super) fn metadata(name: &OsStr) -> Vec<u8> {
    let mut metadata = Vec::new();
    Writer::new(&mut metadata).map(1).str("name").bytes(name.as_encoded_bytes());
    metadata
}

/// Reads the name of a file, without any directories that stand before it. `None` where there is none.
pub(super) fn name_in(metadata: &[u8]) -> Option<OsString> {
    let mut reader = Reader::new(metadata);
    for _ in 0..reader.map_len().ok()? {
        let key = reader.str().ok()?;
        if key == "name" {
            let name = match reader.shape().ok()? {
                Shape::Bytes(bytes) => bytes,
                Shape::Text(text) => text.as_bytes(),
                Shape::Nil
                | Shape::Bool(_)
                | Shape::Unsigned(_)
                | Shape::Negative(_)
                | Shape::Float(_)
                | Shape::Array(_)
                | Shape::Map(_) => return None,
            };
            return last_part(name);
        }
        reader.value().ok()?;
    }
    None
}

/// Returns how many of a file's `len` bytes are through. What goes over the link may be compressed.
pub(super) fn of_file(done: Progress, len: u64) -> u64 {
    let share = u128::from(len) * u128::from(done.done) / u128::from(done.total.max(1));
    u64::try_from(share).unwrap_or(len).min(len)
}

/// Writes the request for a file.
pub(super) fn request(path: &str) -> Vec<u8> {
    let mut request = Vec::new();
    Writer::new(&mut request).str(path);
    request
}

/// Reads the path in a request for a file.
pub(super) fn requested(request: &[u8]) -> Option<&str> {
    let mut reader = Reader::new(request);
    let mut as_bytes = reader.clone();
    reader.str().ok().or_else(|| std::str::from_utf8(as_bytes.bytes().ok()?).ok())
}

/// What a request for a file is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The file follows as a resource.
    Follows,
    /// There is no such file.
    Missing,
    /// It may not be fetched.
    NotAllowed,
    /// Something else is wrong.
    Failed,
}

impl Answer {
    /// Writes it.
    pub(super) fn to_vec(self) -> Vec<u8> {
        let mut answer = Vec::new();
        let mut writer = Writer::new(&mut answer);
        match self {
            Self::Follows => writer.bool(true),
            Self::Missing => writer.bool(false),
            Self::NotAllowed => writer.unsigned(NOT_ALLOWED),
            Self::Failed => writer.nil(),
        };
        answer
    }

    /// Reads it.
    pub(super) fn parse(answer: &[u8]) -> Self {
        match Reader::new(answer).shape() {
            Ok(Shape::Bool(true)) => Self::Follows,
            Ok(Shape::Bool(false)) => Self::Missing,
            Ok(Shape::Unsigned(NOT_ALLOWED)) => Self::NotAllowed,
            Ok(_) | Err(_) => Self::Failed,
        }
    }
}

/// Returns what a peer's path ends with, if that is the name of a file in any directory.
fn last_part(path: &[u8]) -> Option<OsString> {
    let separators: &[u8] = if cfg!(windows) { b"/\\:" } else { b"/" };
    let last = path.rsplit(|byte| separators.contains(byte)).next()?;
    let name = os_string(last)?;
    let mut parts = Path::new(&name).components();
    let is_name = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
    (is_name && !last.contains(&0)).then_some(name)
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(OsStr::from_bytes(bytes).to_owned())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    std::str::from_utf8(bytes).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &[u8]) -> Option<OsString> {
        let mut metadata = Vec::new();
        Writer::new(&mut metadata).map(2).str("other").unsigned(1).str("name").bytes(name);
        name_in(&metadata)
    }

    #[test]
    fn a_name_never_leads_out_of_the_directory() {
        assert_eq!(named(b"a file.txt"), Some("a file.txt".into()));
        assert_eq!(named(b"/etc/passwd"), Some("passwd".into()));
        assert_eq!(named(b"../../x"), Some("x".into()));
        for wrong in [&b""[..], b".", b"..", b"../", b"a/..", b"a\0b"] {
            assert_eq!(named(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn metadata_without_a_name_have_none() {
        assert_eq!(name_in(&metadata(OsStr::new("x"))), Some("x".into()));
        assert_eq!(name_in(b""), None);
        assert_eq!(name_in(&[0x80]), None);
        assert_eq!(name_in(&[0x81, 0xa4, b'n', b'a', b'm', b'e', 1]), None);
    }

    #[test]
    fn requests_and_answers_read_back_as_they_were_written() {
        assert_eq!(requested(&request("a/b")), Some("a/b"));
        assert_eq!(requested(&[0xc4, 1, b'x']), Some("x"));
        assert_eq!(requested(&[7]), None);
        for answer in [Answer::Follows, Answer::Missing, Answer::NotAllowed, Answer::Failed] {
            assert_eq!(Answer::parse(&answer.to_vec()), answer);
        }
    }
}
