//! Whatever the pieces in which bytes arrive, the same comes of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail as tests do"
)]

mod ws_support;

use proptest::prelude::*;
use proto_conn::ws::{Config, Deflate, Receive, Role, handshake::Agreed};
use ws_support::{
    BINARY, CLOSE, FIN, Feed, PING, PONG, RSV1, TEXT, agreed_deflate, frame_to, listen, sample,
};

/// A frame to send: mostly one that obeys the rules.
#[derive(Clone, Debug)]
struct Sent {
    first: u8,
    payload: Vec<u8>,
}

fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => "[a-z\u{e9}\u{20ac}\u{1f600}]{0,40}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..130),
        2 => (0..40_000_usize).prop_map(|len| vec![b'x'; len]),
    ]
}

fn any_frame() -> impl Strategy<Value = Sent> {
    let first = prop_oneof![
        6 => Just(FIN | TEXT),
        6 => Just(FIN | BINARY),
        3 => Just(TEXT),
        3 => Just(BINARY),
        3 => Just(0),
        5 => Just(FIN),
        4 => Just(FIN | PING),
        2 => Just(FIN | PONG),
        1 => Just(FIN | CLOSE),
        2 => Just(FIN | RSV1 | TEXT),
        1 => any::<u8>(),
    ];
    (first, any_payload()).prop_map(|(first, mut payload)| {
        if first & 0x08 != 0 {
            payload.truncate(125);
        }
        Sent { first, payload }
    })
}

fn any_config() -> impl Strategy<Value = Config> {
    let receive = prop_oneof![
        2 => Just(Receive::Whole),
        1 => (1..70_000_usize).prop_map(|part| Receive::Streamed { part }),
    ];
    let limits =
        (prop_oneof![Just(64 << 20), 1..50_000_usize], prop_oneof![Just(4_096), 1..5_u32], 125..60_000_u64);
    (receive, limits, any::<bool>()).prop_map(
        |(receive, (max_message, max_fragments, max_frame), control)| Config {
            receive,
            max_message,
            max_fragments,
            max_frame,
            deliver_control: control,
            ..ws_support::config()
        },
    )
}

#[track_caller]
fn same_in_any_pieces(config: &Config, agreed: &Agreed, input: &[u8], role: Role, seed: u64) {
    let whole = listen(role, config, agreed, input, Feed::Whole);
    for feed in [Feed::Bytes(1), Feed::Random(seed), Feed::Lent(seed)] {
        let pieces = listen(role, config, agreed, input, feed);
        assert!(whole == pieces, "{feed:?} {role:?}: {whole:?} or {pieces:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn frames_good_and_bad(
        frames in prop::collection::vec(any_frame(), 1..12),
        config in any_config(),
        cut in 0..20_usize,
        server: bool,
        seed: u64,
    ) {
        let role = if server { Role::Server } else { Role::Client };
        let mut input: Vec<u8> = frames.iter().flat_map(|frame| frame_to(role, frame.first, &frame.payload)).collect();
        input.truncate(input.len() - cut.min(input.len()));
        same_in_any_pieces(&config, &Agreed::default(), &input, role, seed);
    }

    #[test]
    fn any_bytes_at_all(input in prop::collection::vec(any::<u8>(), 0..300), server: bool, seed: u64) {
        let role = if server { Role::Server } else { Role::Client };
        same_in_any_pieces(&ws_support::config(), &Agreed::default(), &input, role, seed);
    }
}

#[cfg(feature = "deflate")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn compressed_messages_good_and_bad(
        lens in prop::collection::vec(0..60_000_usize, 1..5),
        fragment in 1..9_000_usize,
        config in any_config(),
        fault in prop::option::of((0..5_000_usize, any::<u8>())),
        forgets: bool,
        server: bool,
        seed: u64,
    ) {
        let role = if server { Role::Server } else { Role::Client };
        let agreed = agreed_deflate(15, forgets);
        let sender = Config {
            deflate: Some(Deflate::default()),
            fragment_above: Some(fragment),
            ..ws_support::config()
        };
        let mut input = ws_support::sent_by_peer_of(role, &sender, &agreed, lens.iter().map(|&len| sample(seed, len)));
        if let Some((at, flip)) = fault {
            let at = at % input.len();
            input[at] ^= flip;
        }
        same_in_any_pieces(&config, &agreed, &input, role, seed);
    }
}
