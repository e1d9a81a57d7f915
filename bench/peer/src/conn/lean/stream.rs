//! A TCP connection, with or without TLS.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;

use super::tls::TlsStream;

/// A connection that carries messages.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream>),
}

impl Stream {
    /// Reads what has arrived, at least one byte.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Plain(socket) => socket.read(into)?,
            Self::Secure(stream) => stream.read(into)?,
        };
        if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }

    /// Sends a message that consists of a head and a body.
    ///
    /// In plain text it is one gathering send, as often as the kernel takes only a part of it. TLS cuts it into pieces, the
    /// first of which has the head.
    pub(super) fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => write_both(socket, head, body),
            Self::Secure(stream) => stream.send(head, body),
        }
    }
}

fn write_both(socket: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut slices = [IoSlice::new(head), IoSlice::new(body)];
    let mut rest = &mut slices[..];
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        let sent = socket.write_vectored(rest)?;
        IoSlice::advance_slices(&mut rest, sent);
    }
    Ok(())
}

/// How many bytes leave in one send where a message has to be copied anyway: below 64 KiB with whatever is added, as sends
/// that go a few bytes over it cost up to twice as much.
pub(super) const PIECE: usize = 60_000;
