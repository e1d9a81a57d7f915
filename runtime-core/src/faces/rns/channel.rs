//! The channel of a link: messages and streams that arrive whole and in order.

use super::{
    error::{ChannelFailed, LinkClosed},
    link::Link,
    link_seat::LinkSeat,
};
use crate::Runtime;
use bytes::Bytes;
use proto_rns::{
    link::{ChannelError, StreamRead},
    wire::{MessageType, StreamId},
};
use std::{
    future::poll_fn,
    task::{Context, Poll, ready},
};

impl<R: Runtime> Link<R> {
    /// Takes the peer's channel messages from now on; before, they are neither taken nor proved. Sending opens the
    /// channel, too.
    ///
    /// # Errors
    /// The link is closed.
    pub fn open_channel(&self) -> Result<(), LinkClosed> {
        self.command(Err(ChannelError::NotEstablished), |link, _, _| link.open_channel())
            .map_err(|_| self.why_closed())
    }

    /// Sends a message on the channel, once there is room for it. Cancel-safe: it was sent or it was not.
    ///
    /// # Errors
    /// The link is closed, the message is too long, or its type is reserved.
    pub async fn send_message(&self, message_type: MessageType, data: &[u8]) -> Result<(), ChannelFailed> {
        poll_fn(|cx| self.poll_channel(cx, |link, env, out| link.channel_send(env, message_type, data, out)))
            .await
    }

    /// Waits for the next message of the channel. Cancel-safe.
    ///
    /// # Errors
    /// The link is closed and all messages were taken.
    pub async fn next_message(&self) -> Result<(MessageType, Bytes), LinkClosed> {
        self.take(LinkSeat::next_message).await
    }

    /// Returns one direction each of the stream with this number.
    pub fn stream(&self, stream: StreamId) -> (LinkReader<R>, LinkWriter<R>) {
        // A peer that writes first finds the channel open; on a closed link reading tells.
        let _ = self.open_channel();
        let reader = LinkReader { link: self.clone(), stream, rest: Bytes::new(), ended: false };
        (reader, LinkWriter { link: self.clone(), stream })
    }

    /// Gives the channel something, or waits until it takes more.
    fn poll_channel<T>(
        &self,
        cx: &Context<'_>,
        command: impl FnOnce(
            &mut proto_rns::link::Link,
            &mut proto_rns::Env<'_>,
            &mut dyn proto_rns::link::PacketSink,
        ) -> Result<T, ChannelError>,
    ) -> Poll<Result<T, ChannelFailed>> {
        match self.command(Err(ChannelError::NotEstablished), command) {
            Ok(done) => Poll::Ready(Ok(done)),
            Err(ChannelError::Full) => {
                // The window may have opened since; looking again is left to the next wake-up.
                ready!(self.poll(cx, |_| None::<()>))?;
                Poll::Pending
            }
            Err(ChannelError::NotEstablished) => Poll::Ready(Err(self.why_closed().into())),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// What a peer writes to a stream of a link.
#[derive(Debug)]
pub struct LinkReader<R: Runtime> {
    link: Link<R>,
    stream: StreamId,
    rest: Bytes,
    ended: bool,
}

impl<R: Runtime> LinkReader<R> {
    /// Returns the stream's number.
    pub const fn id(&self) -> StreamId {
        self.stream
    }

    /// Waits for the next bytes; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// The link is closed before the stream's end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, LinkClosed> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Fills `buffer` from the front with what there is, and returns how much that was; 0 at the end.
    ///
    /// # Errors
    /// The link is closed before the stream's end.
    pub fn poll_read(&mut self, cx: &Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize, LinkClosed>> {
        if self.rest.is_empty()
            && let Some(bytes) = ready!(self.poll_next(cx))?
        {
            self.rest = bytes;
        }
        let len = buffer.len().min(self.rest.len());
        buffer.iter_mut().zip(self.rest.split_to(len)).for_each(|(to, from)| *to = from);
        Poll::Ready(Ok(len))
    }

    fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Bytes>, LinkClosed>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Ok(Some(std::mem::take(&mut self.rest))));
        }
        if self.ended {
            return Poll::Ready(Ok(None));
        }
        let stream = self.stream;
        match self.link.command(StreamRead::Empty, |link, _, _| link.stream_read(stream)) {
            StreamRead::Data(data) => Poll::Ready(Ok(Some(data))),
            StreamRead::End => {
                self.ended = true;
                Poll::Ready(Ok(None))
            }
            StreamRead::Empty => {
                ready!(self.link.poll(cx, |_| None::<()>))?;
                Poll::Pending
            }
        }
    }
}

/// What this end writes to a stream of a link.
#[derive(Debug)]
pub struct LinkWriter<R: Runtime> {
    link: Link<R>,
    stream: StreamId,
}

impl<R: Runtime> LinkWriter<R> {
    /// Returns the stream's number.
    pub const fn id(&self) -> StreamId {
        self.stream
    }

    /// Writes all of `data`, as fast as the peer proves it. Dropping the future leaves a part written.
    ///
    /// # Errors
    /// The link is closed.
    pub async fn write_all(&mut self, data: &[u8]) -> Result<(), ChannelFailed> {
        let mut rest = data;
        while !rest.is_empty() {
            let written = poll_fn(|cx| self.poll_write(cx, rest)).await?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes as much of `data` as the channel takes now, and returns how much that was.
    ///
    /// # Errors
    /// The link is closed.
    pub fn poll_write(&mut self, cx: &Context<'_>, data: &[u8]) -> Poll<Result<usize, ChannelFailed>> {
        self.link.poll_channel(cx, |link, env, out| link.stream_write(env, self.stream, data, out))
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// The link is closed.
    pub async fn finish(&mut self) -> Result<(), ChannelFailed> {
        poll_fn(|cx| self.poll_finish(cx)).await
    }

    /// Ends the stream, once there is room to say so.
    ///
    /// # Errors
    /// The link is closed.
    pub fn poll_finish(&mut self, cx: &Context<'_>) -> Poll<Result<(), ChannelFailed>> {
        self.link.poll_channel(cx, |link, env, out| link.stream_close(env, self.stream, out))
    }
}
