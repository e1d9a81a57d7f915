//! Bytes of a stream, read straight into the place where they belong.

use std::io;

use super::stream::Stream;

/// The receiving half of a connection: what was read of heads and not used yet.
#[derive(Debug)]
pub(super) struct Input {
    buffer: Vec<u8>,
    used: usize,
    filled: usize,
}

impl Input {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; HEAD], used: 0, filled: 0 }
    }

    /// The bytes at hand.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.used..self.filled).unwrap_or_default()
    }

    /// Drops the first bytes at hand, as they are understood.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.filled);
    }

    /// Reads more behind the bytes at hand.
    ///
    /// A head that fills the whole buffer is an error.
    pub(super) fn fill(&mut self, stream: &mut Stream) -> io::Result<()> {
        if self.used == self.filled {
            (self.used, self.filled) = (0, 0);
        } else if self.filled == self.buffer.len() {
            self.buffer.copy_within(self.used..self.filled, 0);
            (self.used, self.filled) = (0, self.filled - self.used);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        if room.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a head is too long"));
        }
        self.filled += stream.read(room)?;
        Ok(())
    }

    /// Fills `body`: first with the bytes at hand, then from the stream without a copy; `seen` gets each part with its
    /// place while it is still in the processor's cache.
    pub(super) fn read_body(
        &mut self,
        stream: &mut Stream,
        body: &mut [u8],
        mut seen: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<()> {
        let mut at = self.unread().len().min(body.len());
        if let (Some(start), Some(unread)) = (body.get_mut(..at), self.unread().get(..at)) {
            start.copy_from_slice(unread);
            seen(0, start);
        }
        self.advance(at);
        while let Some(room) = body.get_mut(at..).filter(|room| !room.is_empty()) {
            let read = stream.read(room)?;
            seen(at, room.get_mut(..read).unwrap_or_default());
            at += read;
        }
        Ok(())
    }
}

const HEAD: usize = 16 * 1024;
