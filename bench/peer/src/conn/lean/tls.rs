//! TLS on a blocking socket, with reads and writes of the sizes that suit the kernel.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use rustls::Connection;

/// One connection.
#[derive(Debug)]
pub(super) struct TlsStream {
    socket: TcpStream,
    session: Connection,
    /// What was read from the socket and not yet given to the session, which by itself reads 4 KiB at a time.
    ahead: Vec<u8>,
    taken: usize,
    filled: usize,
    piece: usize,
    staging: Vec<u8>,
}

impl TlsStream {
    /// Shakes hands; from then on plain text leaves in sends of up to `piece` bytes.
    pub(super) fn open(
        mut socket: TcpStream,
        session: impl Into<Connection>,
        piece: Option<usize>,
    ) -> io::Result<Self> {
        let mut session = session.into();
        session.set_buffer_limit(None);
        session.complete_io(&mut socket)?;
        let piece = piece.unwrap_or(PIECE);
        Ok(Self {
            socket,
            session,
            ahead: vec![0; READ_AHEAD],
            taken: 0,
            filled: 0,
            piece,
            staging: Vec::new(),
        })
    }

    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.advance()?,
                read => return read,
            }
        }
    }

    pub(super) fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let (first, rest) =
            body.split_at_checked(self.piece.saturating_sub(head.len())).unwrap_or((body, &[]));
        self.staging.clear();
        self.staging.extend_from_slice(head);
        self.staging.extend_from_slice(first);
        self.session.writer().write_all(&self.staging)?;
        self.flush()?;
        for piece in rest.chunks(self.piece) {
            self.session.writer().write_all(piece)?;
            self.flush()?;
        }
        Ok(())
    }

    /// Gives the session more of what the peer sent.
    fn advance(&mut self) -> io::Result<()> {
        if self.taken == self.filled {
            self.taken = 0;
            self.filled = self.socket.read(&mut self.ahead)?;
        }
        let mut unread = self.ahead.get(self.taken..self.filled).unwrap_or_default();
        self.taken += self.session.read_tls(&mut unread)?;
        self.session
            .process_new_packets()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        if self.session.wants_write() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.socket)?;
        }
        Ok(())
    }
}

const READ_AHEAD: usize = 64 * 1024;
/// Three full records; their headers and tags come on top.
const PIECE: usize = 3 * 16_384;
