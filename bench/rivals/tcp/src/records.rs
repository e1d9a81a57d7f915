//! Length-prefixed records over one TCP stream, read and written without ever waiting for only one of both.

use std::io::{self, ErrorKind};
use std::ops::Range;

use bench_peer::{Fault, Load};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// How queued records leave.
#[derive(Clone, Copy)]
pub(crate) enum Writes {
    /// One system call a record.
    PerRecord,
    /// One system call for all that are queued.
    PerBatch,
}

/// A stream of records of one fixed message size.
pub(crate) struct Records {
    stream: TcpStream,
    writes: Writes,
    record: usize,
    input: Vec<u8>,
    unread: Range<usize>,
    output: Vec<u8>,
    written: usize,
}

impl Records {
    pub(crate) fn new(stream: TcpStream, writes: Writes, load: &Load) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let record = PREFIX + load.size;
        let window = record * load.window as usize;
        let input = vec![0; window.clamp(record, LARGEST_READ.max(record))];
        Ok(Self { stream, writes, record, input, unread: 0..0, output: Vec::new(), written: 0 })
    }

    /// Queues one record; `append` writes its message.
    pub(crate) fn queue(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        let message = self.record - PREFIX;
        self.output.extend_from_slice(&(message as u32).to_le_bytes());
        append(&mut self.output);
    }

    /// Writes what is queued and waits for more input, whichever the socket is ready for first; returns once
    /// something was read.
    pub(crate) async fn exchange_bytes(&mut self) -> Result<(), Fault> {
        loop {
            self.write_queued()?;
            if self.read_more()? {
                return Ok(());
            }
            let interest = if self.output.is_empty() {
                Interest::READABLE
            } else {
                Interest::READABLE | Interest::WRITABLE
            };
            self.stream.ready(interest).await?;
        }
    }

    /// The next complete message that was read.
    pub(crate) fn next_record(&mut self) -> Result<Option<&[u8]>, Fault> {
        let range = self.next_range()?;
        Ok(range.map(|range| &self.input[range.start + PREFIX..range.end]))
    }

    /// Queues the next complete record that was read for its way back.
    pub(crate) fn echo_one(&mut self) -> Result<bool, Fault> {
        let Some(range) = self.next_range()? else { return Ok(false) };
        self.output.extend_from_slice(&self.input[range]);
        Ok(true)
    }

    fn next_range(&mut self) -> Result<Option<Range<usize>>, Fault> {
        if self.unread.len() < self.record {
            return Ok(None);
        }
        let range = self.unread.start..self.unread.start + self.record;
        let prefix = &self.input[range.start..range.start + PREFIX];
        if prefix != (self.record as u32 - PREFIX as u32).to_le_bytes() {
            return Err("a record of another length arrived".into());
        }
        self.unread.start = range.end;
        Ok(Some(range))
    }

    fn write_queued(&mut self) -> io::Result<()> {
        while self.written < self.output.len() {
            let end = match self.writes {
                Writes::PerRecord => (self.written / self.record + 1) * self.record,
                Writes::PerBatch => self.output.len(),
            };
            match self.stream.try_write(&self.output[self.written..end]) {
                Ok(sent) => self.written += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.written = 0;
        Ok(())
    }

    fn read_more(&mut self) -> io::Result<bool> {
        self.input.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        match self.stream.try_read(&mut self.input[self.unread.end..]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                self.unread.end += read;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}

const PREFIX: usize = 4;
const LARGEST_READ: usize = 64 * 1024;
