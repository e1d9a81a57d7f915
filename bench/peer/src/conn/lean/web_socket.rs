//! Binary messages of RFC 6455, and the handshake before them.

use std::io::{self, Write as _};

use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::http::{field, read_head};
use super::input::Input;
use super::mask;
use super::stream::{PIECE, Stream};
use crate::Fault;
use crate::conn::command::LARGEST_MESSAGE;

/// Asks a peer for a WebSocket connection.
pub(super) fn ask(stream: &mut Stream, input: &mut Input) -> Result<(), Fault> {
    let mut request = Vec::new();
    write!(
        request,
        "GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {KEY}\r\n\r\n"
    )?;
    stream.send(&request, &[])?;
    read_head(stream, input, |head| {
        if !head.starts_with("HTTP/1.1 101 ") {
            return Err("the peer did not switch to WebSocket".into());
        }
        let right = field(head, "sec-websocket-accept") == Some(&accept_value(KEY));
        if right { Ok(()) } else { Err("the peer accepted another key".into()) }
    })
}

/// Grants a client a WebSocket connection.
pub(super) fn grant(stream: &mut Stream, input: &mut Input) -> Result<(), Fault> {
    let accept = read_head(stream, input, |head| {
        if !head.starts_with("GET ") || field(head, "sec-websocket-version") != Some("13") {
            return Err("this is no WebSocket handshake".into());
        }
        Ok(accept_value(field(head, "sec-websocket-key").ok_or("no Sec-WebSocket-Key")?))
    })?;
    let mut response = Vec::new();
    write!(
        response,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )?;
    Ok(stream.send(&response, &[])?)
}

/// Sends a message as a client does: masked while it is copied, piece by piece.
#[derive(Debug)]
pub(super) struct MaskedSender {
    piece: usize,
    staging: Vec<u8>,
    key: u32,
}

impl MaskedSender {
    pub(super) fn new(piece: Option<usize>) -> Self {
        Self { piece: piece.unwrap_or(PIECE), staging: Vec::new(), key: 0x9E37_79B9 }
    }

    pub(super) fn send(&mut self, stream: &mut Stream, message: &[u8]) -> io::Result<()> {
        // A new key for each message; that nobody can foresee it matters only to proxies.
        self.key = self.key.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
        let key = self.key.to_le_bytes();
        self.staging.clear();
        push_header(&mut self.staging, message.len(), Some(key));
        let (mut at, mut rest) = (0, message);
        loop {
            let room = self.piece.saturating_sub(self.staging.len()).max(1);
            let (now, later) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            let start = self.staging.len();
            self.staging.extend_from_slice(now);
            mask::apply(key, at, self.staging.get_mut(start..).unwrap_or_default());
            stream.send(&self.staging, &[])?;
            self.staging.clear();
            (at, rest) = (at + now.len(), later);
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Sends a message as a server does.
pub(super) fn send(stream: &mut Stream, head: &mut Vec<u8>, message: &[u8]) -> io::Result<()> {
    head.clear();
    push_header(head, message.len(), None);
    stream.send(head, message)
}

/// Reads one message into `message`, from as many fragments as it has; false when the other side closes instead.
pub(super) fn read(
    stream: &mut Stream,
    input: &mut Input,
    masked: bool,
    message: &mut Vec<u8>,
) -> Result<bool, Fault> {
    let mut length = 0;
    loop {
        let frame = read_header(stream, input)?;
        if frame.key.is_some() != masked {
            return Err("a frame is masked from the wrong side".into());
        }
        match frame.opcode {
            BINARY if length == 0 => {}
            CONTINUATION => {}
            CLOSE => return Ok(false),
            opcode => return Err(format!("opcode {opcode} is not expected here").into()),
        }
        let end = length + frame.length;
        if end > LARGEST_MESSAGE {
            return Err("a message is too long".into());
        }
        // What the last message left there is overwritten; only what is new has to be cleared.
        if message.len() < end || frame.is_final {
            message.resize(end, 0);
        }
        let payload = message.get_mut(length..end).unwrap_or_default();
        input.read_body(stream, payload, |at, part| {
            if let Some(key) = frame.key {
                mask::apply(key, at, part);
            }
        })?;
        length = end;
        if frame.is_final {
            return Ok(true);
        }
    }
}

struct Frame {
    is_final: bool,
    opcode: u8,
    key: Option<[u8; 4]>,
    length: usize,
}

fn read_header(stream: &mut Stream, input: &mut Input) -> Result<Frame, Fault> {
    loop {
        if let Some((frame, size)) = parse_header(input.unread()) {
            input.advance(size);
            return Ok(frame);
        }
        input.fill(stream)?;
    }
}

/// The header at the start of `bytes` and its size, once it is complete.
fn parse_header(bytes: &[u8]) -> Option<(Frame, usize)> {
    let &[first, second, ref rest @ ..] = bytes else { return None };
    let (length, rest) = match second & 0x7F {
        126 => {
            rest.split_first_chunk().map(|(length, rest)| (u64::from(u16::from_be_bytes(*length)), rest))?
        }
        127 => rest.split_first_chunk().map(|(length, rest)| (u64::from_be_bytes(*length), rest))?,
        short => (u64::from(short), rest),
    };
    let (key, rest) = if second & MASKED == 0 {
        (None, rest)
    } else {
        rest.split_first_chunk().map(|(key, rest)| (Some(*key), rest))?
    };
    let frame = Frame {
        is_final: first & FINAL != 0,
        opcode: first & 0x0F,
        key,
        length: usize::try_from(length).unwrap_or(usize::MAX / 2),
    };
    Some((frame, bytes.len() - rest.len()))
}

fn push_header(out: &mut Vec<u8>, length: usize, key: Option<[u8; 4]>) {
    let masked = if key.is_some() { MASKED } else { 0 };
    out.push(FINAL | BINARY);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length @ ..126), _) => out.push(masked | length),
        (_, Ok(length)) => {
            out.push(masked | 126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            out.push(masked | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend(key.into_iter().flatten());
}

fn accept_value(key: &str) -> String {
    let mut hash = sha1_smol::Sha1::from(key);
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    BASE64_STANDARD.encode(hash.digest().bytes())
}

/// Sixteen bytes in base 64; a fresh one for each connection would tell a cache in between from a server, and none is here.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
const CONTINUATION: u8 = 0;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_standard_is_accepted_as_the_standard_says() {
        assert_eq!(accept_value(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn headers_of_every_length_are_read_as_they_were_written_and_no_sooner() {
        for length in [0, 125, 126, 65_535, 65_536, LARGEST_MESSAGE] {
            for key in [None, Some([1, 2, 3, 4])] {
                let mut bytes = Vec::new();
                push_header(&mut bytes, length, key);
                let (frame, size) = parse_header(&bytes).unwrap();
                assert_eq!((frame.length, frame.key, size), (length, key, bytes.len()));
                assert!((0..size).all(|cut| parse_header(&bytes[..cut]).is_none()), "{length}");
            }
        }
    }
}
