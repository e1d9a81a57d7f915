//! Datagrams of a session: frames and acknowledgements.

use proto_core::Reader;
use proto_raknet::wire::{AckRecords, DataHeader, Frame, MessageId, NumberRange};

use super::{Dissection, connected};
use crate::{commands::dissect::node::Node, raknet::names};

/// Decodes a datagram of frames.
pub(super) fn decode_data(payload: &[u8]) -> Dissection {
    let mut r = Reader::new(payload);
    let at = |r: &Reader<'_>| payload.len() - r.remaining();
    let header = match DataHeader::parse(&mut r) {
        Ok(header) => header,
        Err(reason) => {
            return Dissection::Damaged {
                node: Node::new("Data"),
                offset: at(&r),
                reason: reason.to_string(),
            };
        }
    };
    let mut node = Node::new("Data")
        .brief("number", header.number.0.get())
        .field("continuous send", header.continuous_send);
    while !r.is_empty() {
        match Frame::parse(&mut r) {
            Ok(frame) => node = node.part(of_frame(&frame)),
            Err(reason) => return Dissection::Damaged { node, offset: at(&r), reason: reason.to_string() },
        }
    }
    Dissection::Whole(node)
}

/// Decodes the records of an ACK or NACK.
pub(super) fn decode_acknowledgement(name: &str, payload: &[u8], bandwidth: bool) -> Dissection {
    let head = AckRecords::HEAD_LEN + if bandwidth { BANDWIDTH_LEN } else { 0 };
    let (mut ranges, mut offset) = (Vec::new(), head);
    let node = |ranges: &[String]| Node::new(name).brief("numbers", ranges.join(","));
    let records = match AckRecords::parse(&mut Reader::new(payload)) {
        Ok((_, records)) => records,
        Err(reason) => {
            return Dissection::Damaged {
                node: Node::new(name),
                offset: payload.len(),
                reason: reason.to_string(),
            };
        }
    };
    for record in records {
        match record {
            Ok(range) => ranges.push(of_range(range)),
            Err(reason) => {
                return Dissection::Damaged { node: node(&ranges), offset, reason: reason.to_string() };
            }
        }
        let is_single = payload.get(offset).is_some_and(|&single| single != 0);
        offset += if is_single { AckRecords::SINGLE_LEN } else { AckRecords::RANGE_LEN };
    }
    Dissection::Whole(node(&ranges))
}

fn of_range(NumberRange { first, last }: NumberRange) -> String {
    if first == last { first.get().to_string() } else { format!("{}-{}", first.get(), last.get()) }
}

fn of_frame(frame: &Frame<'_>) -> Node {
    let mut node = Node::new(names::reliability(frame.reliability));
    if frame.reliability.is_reliable() {
        node = node.brief("reliable", frame.reliable.0.get());
    }
    if frame.reliability.is_sequenced() {
        node = node.brief("sequence", frame.sequencing.0.get());
    }
    if frame.reliability.has_channel() {
        node = node.brief("order", frame.order.index.0.get()).brief("channel", frame.order.channel.get());
    }
    match frame.split {
        Some(part) => node
            .brief("split", part.id.0)
            .brief("part", format!("{}/{}", u64::from(part.index) + 1, part.count))
            .brief("bytes", frame.payload.len())
            .data(frame.payload),
        None => node.part(of_message(frame.payload)),
    }
}

/// Decodes a whole message.
fn of_message(payload: &[u8]) -> Node {
    if let Some(message) = connected::decode(payload) {
        return message;
    }
    let name = match payload.first() {
        Some(&first) => MessageId::try_from(first)
            .map_or_else(|_| format!("Message {first:#04x}"), |id| format!("{id:?}")),
        None => "Empty".into(),
    };
    Node::new(name).brief("bytes", payload.len()).data(payload)
}

/// The float in front of the records of an ACK with bandwidth information.
const BANDWIDTH_LEN: usize = 4;
