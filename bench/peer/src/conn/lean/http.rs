//! POST of a message and a response with the same body.

use std::io::{self, Write as _};

use super::input::Input;
use super::stream::Stream;
use crate::Fault;
use crate::conn::command::LARGEST_MESSAGE;

/// The head of a request with a body of `length` bytes.
pub(super) fn write_request(head: &mut Vec<u8>, length: usize) -> io::Result<()> {
    head.clear();
    write!(head, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n")
}

/// The head of a response with a body of `length` bytes.
pub(super) fn write_response(head: &mut Vec<u8>, length: usize) -> io::Result<()> {
    head.clear();
    write!(
        head,
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Reads a message whose first line must begin with `start` and whose body has a length; returns the body.
pub(super) fn read<'body>(
    stream: &mut Stream,
    input: &mut Input,
    start: &str,
    body: &'body mut Vec<u8>,
) -> Result<&'body mut Vec<u8>, Fault> {
    let length = read_head(stream, input, |head| {
        if !head.starts_with(start) {
            return Err(format!("`{}` does not begin with {start}", head.lines().next().unwrap_or("")).into());
        }
        if field(head, "transfer-encoding").is_some() || field(head, "expect").is_some() {
            return Err("only bodies with a length are known here".into());
        }
        Ok(field(head, "content-length").ok_or("no Content-Length")?.parse::<usize>()?)
    })?;
    if length > LARGEST_MESSAGE {
        return Err("a body is too long".into());
    }
    body.resize(length, 0);
    input.read_body(stream, body, |_, _| {})?;
    Ok(body)
}

/// Reads a head and lets `understand` take from it what it needs.
pub(super) fn read_head<T>(
    stream: &mut Stream,
    input: &mut Input,
    understand: impl FnOnce(&str) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let end = loop {
        let unread = input.unread();
        if let Some(at) = unread.windows(END.len()).position(|bytes| bytes == END) {
            break at + END.len();
        }
        input.fill(stream)?;
    };
    let head = input.unread().get(..end).unwrap_or_default();
    let understood = understand(std::str::from_utf8(head)?)?;
    input.advance(end);
    Ok(understood)
}

/// The value of a header field.
pub(super) fn field<'head>(head: &'head str, name: &str) -> Option<&'head str> {
    head.split("\r\n").skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

const END: &[u8] = b"\r\n\r\n";
