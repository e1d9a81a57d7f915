//! Compressed messages (RFC 7692): its examples, samples of the Autobahn groups 12 and 13 against another
//! implementation of DEFLATE, and bombs.
#![cfg(feature = "deflate")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use proto_conn::{
    Code, Flags, Message, Talk as _,
    ws::{Config, Deflate, Event, Receive, Role, handshake::Agreed},
};
use proto_core::Instant;
use ws_support::{
    BINARY, FEEDS, FIN, Feed, Outcome, RSV1, TEXT, agreed_deflate, config, drained, frame_to, frames, listen,
    sample, session,
};

const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

fn pack(context: &mut Compress, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(bytes.len() * 2 + 1_000);
    context.compress_vec(bytes, &mut packed, FlushCompress::Sync).unwrap();
    match packed.strip_suffix(&TAIL) {
        Some(rest) => packed.truncate(rest.len()),
        // Nothing to pack: an empty block.
        None => packed.push(0),
    }
    packed
}

fn unpack(context: &mut Decompress, packed: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 1_000);
    let input = [packed, &TAIL].concat();
    context.decompress_vec(&input, &mut bytes, FlushDecompress::Sync).unwrap();
    bytes
}

fn bodies(outcome: &Outcome) -> Vec<Vec<u8>> {
    outcome
        .events
        .iter()
        .map(|event| match event {
            Event::Message(message) => message.body.to_vec(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn the_examples_of_the_rfc_are_read() {
    let hello: &[u8] = &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let again: &[u8] = &[0xf2, 0x00, 0x11, 0x00, 0x00];
    let stored: &[u8] = &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
    let last: &[u8] = &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
    let two: &[u8] = &[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
    for role in [Role::Client, Role::Server] {
        for feed in FEEDS {
            let input = [
                frame_to(role, FIN | RSV1 | TEXT, hello),
                frame_to(role, FIN | RSV1 | TEXT, again),
                frame_to(role, RSV1 | TEXT, &hello[..3]),
                frame_to(role, FIN, &hello[3..]),
                frame_to(role, FIN | RSV1 | TEXT, stored),
                frame_to(role, FIN | RSV1 | TEXT, two),
                frame_to(role, FIN | RSV1 | TEXT, last),
                frame_to(role, FIN | TEXT, b"Hello"),
            ];
            let outcome = listen(role, &config(), &agreed_deflate(15, false), &input.concat(), feed);
            assert_eq!(bodies(&outcome), [b"Hello"; 7], "{role:?} {feed:?}");
            let flags = outcome.events.iter().map(|event| match event {
                Event::Message(message) => message.flags.has(Flags::COMPRESSED),
                other => panic!("{other:?}"),
            });
            assert_eq!(flags.collect::<Vec<_>>(), [true, true, true, true, true, true, false]);
        }
    }
}

#[test]
fn another_implementation_and_ours_understand_each_other_groups_12_and_13() {
    for (window_bits, forgets) in [(15, false), (15, true), (9, false), (9, true), (12, false)] {
        let agreed = agreed_deflate(window_bits, forgets);
        for role in [Role::Client, Role::Server] {
            for len in [0, 16, 64, 256, 1_024, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072] {
                let compress = || Compress::new_with_window_bits(Compression::new(6), false, window_bits);
                let decompress = || Decompress::new_with_window_bits(false, window_bits);
                let (mut packer, mut unpacker) = (compress(), decompress());
                let mut session = session(role, &config(), &agreed);
                for n in 0..5 {
                    if forgets {
                        (packer, unpacker) = (compress(), decompress());
                    }
                    let message = sample(n, len);
                    let input = frame_to(role, FIN | RSV1 | BINARY, &pack(&mut packer, &message));
                    let outcome = ws_support::run(&mut session, &input, Feed::Random(n), true);
                    assert!(bodies(&outcome) == [message.clone()], "{role:?} {window_bits} {len}");
                    let [echo] = &outcome.sent[..] else { panic!("{:?}", outcome.sent) };
                    if len < 64 {
                        assert_eq!((echo.first, &echo.payload), (FIN | BINARY, &message));
                    } else {
                        assert_eq!(echo.first, FIN | RSV1 | BINARY);
                        assert!(unpack(&mut unpacker, &echo.payload, len) == message);
                    }
                }
            }
        }
    }
}

#[test]
fn compressed_fragments_are_one_message() {
    let message = sample(1, 100_000);
    let packed = pack(&mut Compress::new(Compression::new(9), false), &message);
    for role in [Role::Client, Role::Server] {
        for len in [1, 100, 4_096, 5_000] {
            let mut input = vec![];
            for (n, part) in packed.chunks(len).enumerate() {
                input.extend(frame_to(role, if n == 0 { RSV1 | BINARY } else { 0 }, part));
            }
            input.extend(frame_to(role, FIN, b""));
            let limits = Config { max_fragments: u32::MAX, ..config() };
            let outcome = listen(role, &limits, &agreed_deflate(15, false), &input, Feed::Random(3));
            assert!(bodies(&outcome) == [message.clone()], "{len}");
        }
    }
}

#[test]
fn a_final_block_ends_the_stream_and_not_the_message() {
    let bytes = sample(2, 10_000);
    let mut packer = Compress::new(Compression::new(6), false);
    let mut packed = Vec::with_capacity(20_000);
    packer.compress_vec(&bytes, &mut packed, FlushCompress::Finish).unwrap();
    for ending in [&b"\0"[..], b""] {
        let payload = [&packed[..], ending].concat();
        let input = [frame_to(Role::Client, FIN | RSV1 | BINARY, &payload)].concat().repeat(3);
        for feed in FEEDS {
            let outcome = listen(Role::Client, &config(), &agreed_deflate(15, false), &input, feed);
            assert!(bodies(&outcome) == vec![bytes.clone(); 3]);
        }
    }
}

#[track_caller]
fn fails(config: &Config, agreed: &Agreed, input: &[u8], code: Code) {
    for feed in FEEDS {
        let outcome = listen(Role::Client, config, agreed, input, feed);
        assert!(
            matches!(&outcome.events[..], [Event::Failed(error), Event::Closed { .. }] if error.code == code),
            "{feed:?}: {:?}",
            outcome.events
        );
    }
}

#[test]
fn the_bit_for_compression_is_for_first_frames_after_an_agreement() {
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let agreed = agreed_deflate(15, false);
    fails(
        &config(),
        &Agreed::default(),
        &frame_to(Role::Client, FIN | RSV1 | TEXT, &hello),
        Code::WsProtocol,
    );
    fails(&config(), &agreed, &frame_to(Role::Client, FIN | RSV1 | ws_support::PING, b""), Code::WsProtocol);
    let later =
        [frame_to(Role::Client, RSV1 | TEXT, &hello), frame_to(Role::Client, FIN | RSV1, &hello)].concat();
    fails(&config(), &agreed, &later, Code::WsProtocol);
}

#[test]
fn broken_data_and_bad_text_within_it_fail() {
    let agreed = agreed_deflate(15, false);
    fails(&config(), &agreed, &frame_to(Role::Client, FIN | RSV1 | TEXT, &[0xff; 20]), Code::WsDeflate);
    let bad = pack(&mut Compress::new(Compression::new(6), false), b"text \xff");
    fails(&config(), &agreed, &frame_to(Role::Client, FIN | RSV1 | TEXT, &bad), Code::WsUtf8);
    let cut = pack(&mut Compress::new(Compression::new(6), false), b"text \xe2\x82");
    fails(&config(), &agreed, &frame_to(Role::Client, FIN | RSV1 | TEXT, &cut), Code::WsUtf8);
}

#[test]
fn a_bomb_is_stopped_by_its_length_or_its_ratio() {
    let zeros = vec![0; 32 << 20];
    let bomb = pack(&mut Compress::new(Compression::new(9), false), &zeros);
    let input = frame_to(Role::Client, FIN | RSV1 | BINARY, &bomb);
    let agreed = agreed_deflate(15, false);
    fails(&config(), &agreed, &input, Code::WsTooBig);
    let any_ratio = Config { max_ratio: u32::MAX, ..config() };
    assert_eq!(bodies(&listen(Role::Client, &any_ratio, &agreed, &input, Feed::Whole))[0].len(), zeros.len());
    let short = Config { max_message: zeros.len() - 1, ..any_ratio.clone() };
    fails(&short, &agreed, &input, Code::WsTooBig);
    let exact = Config { max_message: zeros.len(), ..any_ratio };
    assert_eq!(bodies(&listen(Role::Client, &exact, &agreed, &input, Feed::Random(1)))[0].len(), zeros.len());
}

#[test]
fn a_bomb_that_is_taken_in_parts_waits_for_the_application() {
    let bomb = pack(&mut Compress::new(Compression::new(9), false), &vec![0; 3 << 20]);
    let receive = Receive::Streamed { part: 10_000 };
    let config = Config { receive, max_ratio: u32::MAX, ..config() };
    let mut client = session(Role::Client, &config, &agreed_deflate(15, false));
    let input = frame_to(Role::Client, FIN | RSV1 | BINARY, &bomb);
    let (now, mut rest, mut total, mut last) = (Instant::ZERO, &input[..], 0, None);
    while !rest.is_empty() {
        let taken = client.handle_input(now, rest);
        rest = &rest[taken..];
        // One event frees room for at most another: what is unpacked never runs ahead of the application.
        while let Some(Event::Message(part)) = client.poll_event() {
            assert!(part.body.len() <= 10_000);
            total += part.body.len();
            last = Some(part.flags);
        }
    }
    assert_eq!(total, 3 << 20);
    assert!(last.unwrap().has(Flags::FIN));
}

#[test]
fn memory_is_given_back_when_idle_and_the_peer_still_understands() {
    let deflate = Some(Deflate::default());
    let config = Config { deflate, ..config() };
    for forgets in [false, true] {
        let agreed = agreed_deflate(15, forgets);
        let mut client = session(Role::Client, &config, &agreed);
        let mut server = session(Role::Server, &config, &agreed);
        let mut now = Instant::ZERO;
        for n in 0..4 {
            let message = Message::binary(sample(1, 20_000));
            client.send(now, &message).unwrap();
            let sent = drained(&mut client, now);
            assert!(frames(&sent)[0].payload.len() < 20_000);
            server.handle_input(now, &sent);
            let Some(Event::Message(received)) = server.poll_event() else { panic!("{n}") };
            assert!(received.body == message.body);
            now = client.poll_timeout().unwrap();
            client.handle_timeout(now);
            server.handle_timeout(now);
            assert_eq!((client.poll_timeout(), server.poll_timeout()), (None, None));
        }
    }
}
