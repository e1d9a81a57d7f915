//! Reticulum on tokio: nodes, destinations, links.

use crate::Tokio;
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use runtime_core::rns::*;

/// A Reticulum node.
pub type RnsNode = runtime_core::rns::RnsNode<Tokio>;

/// A destination of a node.
pub type Destination = runtime_core::rns::Destination<Tokio>;

/// A link between two nodes.
pub type Link = runtime_core::rns::Link<Tokio>;

/// A resource that is being sent.
pub type Transfer = runtime_core::rns::Transfer<Tokio>;

/// The announces that a node hears.
pub type Announces = runtime_core::rns::Announces<Tokio>;

/// The two directions of a link's stream as one [`AsyncRead`] and [`AsyncWrite`].
#[derive(Debug)]
pub struct LinkStream {
    reader: LinkReader<Tokio>,
    writer: LinkWriter<Tokio>,
}

impl LinkStream {
    /// Joins the directions that [`Link::stream`](runtime_core::rns::Link::stream) returned.
    pub fn new((reader, writer): (LinkReader<Tokio>, LinkWriter<Tokio>)) -> Self {
        Self { reader, writer }
    }
}

impl AsyncRead for LinkStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.reader.poll_read(cx, buf.initialize_unfilled()));
        let len = read.map_err(|closed| io::Error::new(io::ErrorKind::ConnectionAborted, closed))?;
        buf.advance(len);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.writer.poll_write(cx, buf).map_err(|failed| io::Error::new(io::ErrorKind::BrokenPipe, failed))
    }

    /// Pieces leave as they are written.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.poll_finish(cx).map_err(|failed| io::Error::new(io::ErrorKind::BrokenPipe, failed))
    }
}
