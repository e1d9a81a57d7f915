//! Bytes that may or may not be messages.

use proto_rns::{
    iface::{Deframer, Framing},
    wire::{
        Announce, Envelope, HashmapUpdate, LinkIdentify, LinkProof, LinkRequest, Packet, PathRequest, Proof,
        Request, ResourceAdvertisement, ResourceProof, ResourceRequest, Response, StreamData,
        TunnelSynthesis,
        msgpack::{Reader, Value},
    },
};

/// Parses a packet and whatever its data may be; what parses as a packet is emitted as it came.
pub fn packet(data: &[u8]) {
    if let Ok(packet) = Packet::parse(data) {
        let mut emitted = packet.to_vec();
        // The flag of an access code is the interface's, not the packet's.
        emitted[0] |= data[0] & 0x80;
        assert_eq!(emitted, data);
        let _ = packet.hash();
        let _ = Announce::parse(&packet);
    }
    let _ = Envelope::parse(data);
    let _ = HashmapUpdate::parse(data);
    let _ = LinkIdentify::parse(data);
    let _ = LinkProof::parse(data);
    let _ = LinkRequest::parse(data);
    let _ = PathRequest::parse(data);
    let _ = Proof::parse(data);
    let _ = Request::parse(data);
    let _ = Response::parse(data);
    let _ = ResourceAdvertisement::parse(data);
    let _ = ResourceProof::parse(data);
    let _ = ResourceRequest::parse(data);
    let _ = StreamData::parse(data);
    let _ = TunnelSynthesis::parse(data);
}

/// Takes a stream apart, once whole and once in pieces whose lengths the first bytes give.
pub fn deframe(data: &[u8]) {
    let (cuts, stream) = data.split_at(data.len().min(16));
    for framing in [Framing::Hdlc, Framing::Kiss] {
        let whole = frames(framing, stream, &[]);
        assert_eq!(whole, frames(framing, stream, cuts));
        for frame in whole {
            let mut framed = Vec::new();
            framing.frame(&[&frame], &mut framed);
            assert_eq!(frames(framing, &framed, &[]), [frame]);
        }
    }
}

fn frames(framing: Framing, stream: &[u8], cuts: &[u8]) -> Vec<Vec<u8>> {
    let mut deframer = Deframer::new(framing, 200);
    let mut frames = Vec::new();
    let mut rest = stream;
    for cut in cuts.iter().map(|cut| usize::from(*cut)).chain([usize::MAX]) {
        let (piece, after) = rest.split_at(cut.min(rest.len()));
        deframer.feed(&mut piece.to_vec(), |frame| frames.push(frame.to_vec()));
        rest = after;
    }
    frames
}

/// Reads a MessagePack value; what reads is written so that it reads alike.
pub fn msgpack(data: &[u8]) {
    let _ = Reader::new(data).value();
    if let Ok(value) = Value::parse(data) {
        let again = Value::parse(&value.to_vec()).expect("what was written can be read");
        // Numbers that are none are not equal to themselves.
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
    }
}
