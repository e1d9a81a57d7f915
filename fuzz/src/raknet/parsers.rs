//! The parsers: whatever is understood is written back to something that is understood in the same way.

use proto_core::Reader;
use proto_raknet::{
    Motd,
    wire::{AckRecords, Connected, DataHeader, Frame, Offline, emit_records},
};

/// Offline messages.
pub fn offline(data: &[u8]) {
    for with_cookie in [false, true] {
        let Some(Ok(message)) = Offline::classify(data, with_cookie) else { continue };
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(written.len(), message.encoded_len());
        assert_eq!(Offline::classify(&written, with_cookie), Some(Ok(message)));
    }
}

/// Data datagrams and their frames.
pub fn datagram(data: &[u8]) {
    let mut r = Reader::new(data);
    let Ok(header) = DataHeader::parse(&mut r) else { return };
    let mut written = Vec::new();
    header.emit(&mut written);
    assert_eq!(DataHeader::parse(&mut Reader::new(&written)), Ok(header));
    while !r.is_empty() {
        let Ok(frame) = Frame::parse(&mut r) else { return };
        written.clear();
        frame.emit(&mut written);
        assert_eq!(Frame::parse(&mut Reader::new(&written)), Ok(frame));
    }
}

/// ACK and NACK.
pub fn ack(data: &[u8]) {
    let Ok((kind, records)) = AckRecords::parse(&mut Reader::new(data)) else { return };
    let ranges: Vec<_> = records.map_while(Result::ok).collect();
    let mut written = Vec::new();
    if emit_records(kind, ranges.iter().copied(), usize::MAX, &mut written) > 0 {
        let (again, records) = AckRecords::parse(&mut Reader::new(&written)).unwrap();
        assert_eq!((again, records.map(Result::unwrap).collect::<Vec<_>>()), (kind, ranges));
    }
}

/// Messages that run a session.
pub fn connected(data: &[u8]) {
    let Some(Ok(message)) = Connected::classify(data) else { return };
    let mut written = Vec::new();
    message.emit(&mut written);
    assert_eq!(written.len(), message.encoded_len());
    assert_eq!(Connected::classify(&written), Some(Ok(message)));
}

/// What a pong carries. Empty fields at its end are not written, so it is the text that must come back.
pub fn motd(data: &[u8]) {
    let Ok(motd) = Motd::parse(data) else { return };
    let Ok(written) = motd.to_pong_data() else { return };
    let again = Motd::parse(&written).expect("our own text is sound");
    assert_eq!(again.to_pong_data(), Ok(written));
}
