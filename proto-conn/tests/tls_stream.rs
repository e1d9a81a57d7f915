//! Bytes through TLS, however they are cut.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "test code"
)]
#![cfg(all(feature = "tls", any(feature = "ring", feature = "aws-lc-rs")))]

mod tls_support;

use proptest::prelude::*;
use proto_conn::{
    Outgoing, Payload, StreamEnd,
    tls::{KeyLog, TlsClient, TlsConfig, TlsServer, TlsServerConfig, TlsVersion, WRITE_LIMIT},
};
use std::sync::{Arc, LazyLock, Mutex};
use tls_support::*;

/// Prepared once: keys take time.
static PREPARED: LazyLock<(TlsClient, TlsServer)> = LazyLock::new(|| {
    let (client, server) = configs();
    (TlsClient::new(client, &today()).unwrap(), TlsServer::new(server, &today()).unwrap())
});

fn open() -> (Side, Side) {
    let (mut client, mut server) = fresh();
    exchange(&mut client, &mut server);
    assert!(!client.layer.is_handshaking() && !server.layer.is_handshaking());
    (client, server)
}

fn fresh() -> (Side, Side) {
    sides(&PREPARED.0, &PREPARED.1, &host())
}

/// The lengths of the records in a piece of ciphertext, without their heads.
fn records(mut bytes: &[u8]) -> Vec<usize> {
    let mut lengths = Vec::new();
    while let [_, _, _, high, low, rest @ ..] = bytes {
        let len = usize::from(u16::from_be_bytes([*high, *low]));
        lengths.push(len);
        bytes = &rest[len..];
    }
    lengths
}

fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn any_chunking_carries_the_same_bytes() {
    let (up, down) = (noise(70_000), noise(40_000));
    for chunk in [1, 2, 3, 5, 16, 100, 16_384, 36 << 10, usize::MAX] {
        for newest in [TlsVersion::V1_2, TlsVersion::V1_3] {
            let (client, server) = configs();
            let (mut client, mut server) = pair(TlsConfig { newest, ..client }, server);
            client.say(&up);
            server.outgoing.push(Payload::from(down.clone()));
            client.layer.send_close_notify();
            server.layer.send_close_notify();
            exchange_in(&mut client, &mut server, chunk);
            assert!(client.got == down && server.got == up, "{chunk}");
            assert_eq!((client.error.clone(), server.error.clone()), (None, None));
            assert_eq!(client.layer.handle_eof(), StreamEnd::Closed);
            assert_eq!(server.layer.handle_eof(), StreamEnd::Closed);
        }
    }
}

#[test]
fn ciphertext_that_was_read_elsewhere_is_taken_as_well() {
    let (mut client, mut server) = open();
    let bytes = noise(200_000);
    client.say(&bytes);
    let ciphertext = client.sent();
    let mut got = Vec::new();
    let mut plain = |plain: &[u8]| {
        got.extend_from_slice(plain);
        plain.len()
    };
    assert_eq!(server.layer.handle_ciphertext(&ciphertext, &mut plain).unwrap(), ciphertext.len());
    assert!(got == bytes);
}

#[test]
fn a_short_head_and_body_leave_in_one_record() {
    let (mut client, _) = open();
    client.say(b"POST / HTTP/1.1\r\nContent-Length: 64\r\n\r\n");
    client.outgoing.push(Payload::from(vec![7; 64]));
    assert_eq!(records(&client.sent()).len(), 1);
    client.say(&[1; 384]);
    client.outgoing.push(Payload::from(vec![7; 16_000]));
    assert_eq!(records(&client.sent()).len(), 1);
}

#[test]
fn the_first_message_leaves_with_the_end_of_the_handshake() {
    let (mut client, mut server) = fresh();
    client.say(b"hello");
    let hello = client.sent();
    server.take(&hello);
    let flight = server.sent();
    client.take(&flight);
    let rest = client.sent();
    server.take(&rest);
    assert_eq!(server.got, b"hello");
}

#[test]
fn long_messages_leave_in_whole_records_within_the_limit() {
    let (mut client, mut server) = open();
    let body = noise(1 << 20);
    client.say(b"head");
    client.outgoing.push(Payload::from(body.clone()));
    let (mut writes, mut got) = (0, Vec::new());
    while !client.outgoing.is_empty() {
        let mut buf = Vec::new();
        client.layer.encrypt(&mut client.outgoing, WRITE_LIMIT, &mut buf).unwrap();
        assert!(buf.len() <= WRITE_LIMIT);
        if !client.outgoing.is_empty() {
            assert_eq!(records(&buf), [16_401; 3]);
        }
        writes += 1;
        server.take(&buf);
        got.append(&mut server.got);
    }
    assert_eq!(writes, ((1 << 20) + 4_usize).div_ceil(3 << 14));
    assert!(got[..4] == *b"head" && got[4..] == body);
}

#[test]
fn what_is_not_taken_is_kept_and_nothing_more_is_decrypted() {
    let (mut client, mut server) = open();
    let bytes = noise(100_000);
    server.say(&bytes);
    let ciphertext = server.sent();
    client.room = 10;
    let lent = client.layer.spare().len();
    client.layer.spare()[..lent].copy_from_slice(&ciphertext[..lent]);
    let mut rest = &ciphertext[lent..];
    let mut got = Vec::new();
    let mut taking = |plain: &[u8], limit: usize| {
        let len = plain.len().min(limit);
        got.extend_from_slice(&plain[..len]);
        len
    };
    let mut once = 10;
    client.layer.advance(lent, &mut |plain| taking(plain, core::mem::take(&mut once))).unwrap();
    assert!(!client.layer.wants_input());
    // The other direction goes on meanwhile.
    client.say(b"still here");
    let up = client.sent();
    server.take(&up);
    assert_eq!(server.got, b"still here");
    // Nothing is taken, nothing is lost.
    client.layer.resume(&mut |_| 0).unwrap();
    assert!(!client.layer.wants_input() && client.layer.has_ended().is_none());
    client.layer.resume(&mut |plain| taking(plain, 100)).unwrap();
    assert!(client.layer.wants_input());
    while !rest.is_empty() {
        let spare = client.layer.spare();
        let len = spare.len().min(rest.len()).min(7_000);
        spare[..len].copy_from_slice(&rest[..len]);
        rest = &rest[len..];
        client.layer.advance(len, &mut |plain| taking(plain, 1_000)).unwrap();
    }
    assert!(got == bytes);
}

#[test]
fn the_end_comes_behind_what_is_kept() {
    let (mut client, mut server) = open();
    server.say(b"last words");
    server.layer.send_close_notify();
    let ciphertext = server.sent();
    client.layer.handle_ciphertext(&ciphertext, &mut |_| 0).unwrap();
    assert_eq!(client.layer.has_ended(), None);
    client.layer.resume(&mut |plain| plain.len()).unwrap();
    assert_eq!(client.layer.has_ended(), Some(StreamEnd::Closed));
}

#[test]
fn small_records_cost_no_work_on_the_whole_buffer() {
    let (mut client, mut server) = open();
    let lent = server.layer.spare().as_ptr_range();
    for _ in 0..1_000 {
        client.say(b"tick");
        let ciphertext = client.sent();
        server.take(&ciphertext);
        // The same memory from its beginning: nothing was moved, grown or allocated anew.
        assert_eq!(server.layer.spare().as_ptr_range(), lent);
    }
    assert_eq!(server.got.len(), 4_000);
}

#[test]
fn an_end_without_goodbye_is_a_truncation() {
    let (mut client, mut server) = open();
    server.say(b"half a mess");
    exchange(&mut client, &mut server);
    assert_eq!(client.got, b"half a mess");
    assert_eq!(client.layer.handle_eof(), StreamEnd::Truncated);
    let (mut client, _) = fresh();
    assert_eq!(client.layer.handle_eof(), StreamEnd::Truncated);
}

#[test]
fn one_side_can_end_while_the_other_goes_on() {
    let (mut client, mut server) = open();
    client.say(b"that was all");
    client.layer.send_close_notify();
    assert!(client.layer.wants_output());
    let up = client.sent();
    assert!(!client.layer.wants_output());
    server.take(&up);
    assert_eq!(
        (server.got.as_slice(), server.layer.has_ended()),
        (&b"that was all"[..], Some(StreamEnd::Closed))
    );
    client.say(b"too late");
    assert!(client.sent().is_empty());
    server.say(b"then listen");
    exchange(&mut client, &mut server);
    assert_eq!(client.got, b"then listen");
    // Bytes behind the goodbye are nobody's.
    server.take(&[0xff; 100_000]);
    assert_eq!(server.error, None);
}

#[test]
fn sessions_are_taken_up_again_by_the_configuration_that_began_them() {
    for newest in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let (client, server) = configs();
        let client = TlsConfig { newest, ..client };
        let first = TlsClient::new(client.clone(), &today()).unwrap();
        let other = TlsClient::new(client, &today()).unwrap();
        let server = TlsServer::new(server, &today()).unwrap();
        for (config, resumed) in [(&first, false), (&first, true), (&other, false), (&first, true)] {
            let (mut client, mut server) = sides(config, &server, &host());
            client.say(b"hello");
            exchange(&mut client, &mut server);
            assert_eq!(server.got, b"hello");
            let info = client.layer.info().unwrap();
            assert_eq!((info.resumed, info.version, info.peer_chain.len()), (resumed, newest, 1));
        }
    }
}

#[test]
fn sessions_are_forgotten_when_they_should_be() {
    for (ours, theirs) in [(0, 256), (256, 0)] {
        let (client, server) = configs();
        let client = TlsClient::new(TlsConfig { sessions: ours, ..client }, &today()).unwrap();
        let server = TlsServer::new(TlsServerConfig { sessions: theirs, ..server }, &today()).unwrap();
        for _ in 0..2 {
            let (mut client, mut server) = sides(&client, &server, &host());
            exchange(&mut client, &mut server);
            assert!(!client.layer.info().unwrap().resumed);
        }
    }
}

#[test]
fn keys_are_told_on_request() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let (client, server) = configs();
    let log = KeyLog::new({
        let lines = Arc::clone(&lines);
        move |line: &str| lines.lock().unwrap().push(line.to_owned())
    });
    let (mut client, mut server) = pair(TlsConfig { key_log: Some(log), ..client }, server);
    exchange(&mut client, &mut server);
    let lines = lines.lock().unwrap();
    let line = lines.iter().find(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")).unwrap();
    let lengths: Vec<_> = line.split(' ').map(str::len).collect();
    assert_eq!(lengths[1], 64);
}

#[test]
fn what_was_agreed_on_is_told() {
    let (client, server) = open();
    let info = client.layer.info().unwrap();
    assert_eq!((info.version, info.alpn.as_deref()), (TlsVersion::V1_3, Some(&b"http/1.1"[..])));
    if cfg!(target_arch = "x86_64") {
        assert_eq!(info.cipher, "TLS13_AES_128_GCM_SHA256");
    }
    assert!(server.layer.info().unwrap().peer_chain.is_empty());
}

#[test]
fn an_error_stays_and_its_alert_leaves() {
    let (mut client, mut server) = open();
    client.say(b"hello");
    let mut ciphertext = client.sent();
    *ciphertext.last_mut().unwrap() ^= 1;
    server.take(&ciphertext);
    let error = server.error.take().unwrap();
    assert!(server.layer.wants_output());
    let alert = server.sent();
    client.take(&alert);
    // bad_record_mac, RFC 8446 section 6.2.
    assert_eq!(client.error.unwrap().alert, Some(20));
    server.take(&ciphertext);
    assert_eq!(server.error, Some(error));
    assert!(server.got.is_empty());
}

#[test]
fn a_chain_that_is_longer_than_the_receive_buffer_fits() {
    let authority = Authority::new("authority");
    let issuers = [&authority; 120];
    let server = TlsServerConfig::new(authority.issue("robot.test").identity_with(&issuers));
    let client = TlsConfig { roots: authority.roots(), ..TlsConfig::default() };
    for (newest, chunk) in [(TlsVersion::V1_2, 1_000), (TlsVersion::V1_3, usize::MAX)] {
        let (mut client, mut server) = pair(TlsConfig { newest, ..client.clone() }, server.clone());
        client.say(b"hello");
        exchange_in(&mut client, &mut server, chunk);
        assert_eq!((client.error.as_ref(), server.got.as_slice()), (None, &b"hello"[..]));
        let chain = &client.layer.info().unwrap().peer_chain;
        assert!(chain.iter().map(Vec::len).sum::<usize>() > 40 << 10);
    }
}

#[test]
fn an_endless_handshake_message_is_refused_in_bounded_memory() {
    let (mut client, mut server) = fresh();
    client.sent();
    let mut bytes = vec![22, 3, 3, 0x40, 0, 1, 0, 0xff, 0xfe];
    bytes.resize(5 + (16 << 10), 0);
    for side in [&mut client, &mut server] {
        side.take(&bytes);
        for _ in 0..100 {
            let mut more = vec![22, 3, 3, 0, 1, 0];
            more = more.repeat(1_000);
            side.take(&more);
        }
        assert!(side.error.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bytes_never_panic(
        noise in prop::collection::vec(any::<u8>(), 0..600),
        kind in 20_u8..25,
        chunk in 1_usize..700,
    ) {
        let (mut client, mut server) = fresh();
        let mut record = vec![kind, 3, 3];
        record.extend((noise.len() as u16).to_be_bytes());
        record.extend(&noise);
        for bytes in [&noise, &record] {
            client.sent();
            bytes.chunks(chunk).for_each(|piece| client.take(piece));
            bytes.chunks(chunk).for_each(|piece| server.take(piece));
        }
        client.sent();
        server.sent();
    }

    #[test]
    fn a_changed_byte_anywhere_is_never_a_changed_message(
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
        upwards: bool,
        chunk in 1_usize..3_000,
    ) {
        let (mut client, mut server) = fresh();
        client.say(b"up");
        server.say(b"down");
        // The flights of the handshake and the messages behind it, one of them changed.
        let target = at.index(4_000);
        let mut seen = 0;
        for _ in 0..6 {
            let (mut up, mut down) = (client.sent(), server.sent());
            let bytes = if upwards { &mut up } else { &mut down };
            if let Some(byte) = target.checked_sub(seen).and_then(|at| bytes.get_mut(at)) {
                *byte ^= flip;
            }
            seen += bytes.len();
            up.chunks(chunk).for_each(|piece| server.take(piece));
            down.chunks(chunk).for_each(|piece| client.take(piece));
        }
        prop_assert!(b"up".starts_with(&server.got));
        prop_assert!(b"down".starts_with(&client.got));
    }

    #[test]
    fn any_mixture_of_room_and_pieces_carries_the_same_bytes(
        steps in prop::collection::vec((1_usize..40_000, 0_usize..20_000), 1..60),
    ) {
        let (mut client, mut server) = open();
        let bytes = noise(150_000);
        let mut outgoing = Outgoing::default();
        outgoing.push(Payload::from(bytes.clone()));
        client.outgoing = outgoing;
        let ciphertext = client.sent();
        let (mut rest, mut got) = (ciphertext.as_slice(), Vec::new());
        for (piece, room) in steps.into_iter().chain([(usize::MAX, usize::MAX)]) {
            let mut left = room;
            let mut plain = |plain: &[u8]| {
                let len = plain.len().min(left);
                left -= len;
                got.extend_from_slice(&plain[..len]);
                len
            };
            server.layer.resume(&mut plain).unwrap();
            let piece = &rest[..piece.min(rest.len())];
            let taken = server.layer.handle_ciphertext(piece, &mut plain).unwrap();
            rest = &rest[taken..];
            server.say(b"meanwhile");
            prop_assert!(!server.sent().is_empty());
        }
        prop_assert!(rest.is_empty() && got == bytes);
    }
}
