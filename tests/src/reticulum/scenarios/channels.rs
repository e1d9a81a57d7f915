//! Channels and buffers.

use proto_rns::LinkHash;

use super::{linked, payload};
use crate::reticulum::{BufferStreams, Content, ReticulumPeer, Waiting as _};

/// Messages arrive both ways, in order.
pub fn carry_messages(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = with_channel(initiator, responder);
    carries(initiator, responder, link);
    carries(responder, initiator, link);
}

/// Bytes arrive both ways through a buffer, and so does its end.
pub fn carry_buffers(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = with_channel(initiator, responder);
    let streams = BufferStreams { receive: 7, send: 9 };
    initiator.open_buffer(link, streams);
    responder.open_buffer(link, streams.reversed());
    for content in [Content::random(1, 1), Content::random(2, 20_000), Content::compressible(3, 20_000)] {
        initiator.write_buffer(link, content);
        assert!(responder.buffered(link, streams.send, content.len) == content.bytes(), "{content:?}");
        responder.write_buffer(link, content);
        assert!(initiator.buffered(link, streams.receive, content.len) == content.bytes(), "{content:?}");
    }
    initiator.close_buffer(link);
    responder.buffer_ended(link, streams.send);
}

fn with_channel(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) -> LinkHash {
    let link = linked(initiator, responder, |spec| spec);
    initiator.open_channel(link);
    responder.open_channel(link);
    link
}

fn carries(from: &mut dyn ReticulumPeer, to: &mut dyn ReticulumPeer, link: LinkHash) {
    let lengths = LENGTHS.iter().cycle().take(60);
    let messages: Vec<_> = (0..).zip(lengths).map(|(seed, len)| payload(seed, *len)).collect();
    for message in &messages {
        from.send_message(link, message);
    }
    for (number, message) in messages.iter().enumerate() {
        assert_eq!(&to.message_on(link).payload, message, "message {number}");
    }
}

/// Lengths of messages: the last is the longest that fits into a link's packet at the smallest frame (spec 1.13).
const LENGTHS: [usize; 4] = [1, 60, 200, 425];
