//! rust-raknet 1.4.0 (crates.io), both roles.
//!
//! What it cannot do, and how the tests take account of it:
//! - Messages must begin with 0xfe, and only reliable ordered ones may be split.
//! - Its client cannot answer a cookie: our server has them off.
//! - It closes with a framed notification, if that still gets out, and ten raw one-byte datagrams, which anybody could
//!   forge. With the frame its close is [`CloseReason::PeerClose`]; without, we check whether it is still there before
//!   we believe it, and about a second later it is [`CloseReason::PeerVanished`].
//! - When we close, it may be gone before it acknowledges.

use proto_raknet::CloseReason;
use tests::peers::{End, Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::RustRaknet,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: false,
};

#[test]
fn messages_of_every_mode_arrive_both_ways() {
    PEER.in_every_way(scenario::every_mode);
}

#[test]
fn long_messages_arrive_whole_both_ways() {
    PEER.in_every_way(scenario::long_messages);
}

#[test]
fn each_channel_keeps_its_order() {
    PEER.in_every_way(|ours, theirs| scenario::channels(ours, theirs, &[0, 1, 7, 31]));
}

#[test]
fn our_receipts_tell_what_arrived() {
    PEER.in_every_way(|ours, theirs| scenario::receipts_for_us(ours, theirs, &scenario::RECEIPT_MODES));
}

#[test]
fn our_close_reaches_the_peer() {
    PEER.in_every_way(|ours, theirs| {
        let ways = [CloseReason::LocalClose, CloseReason::LocalCloseUnacknowledged];
        assert!(ways.contains(&ours.close()));
        assert_eq!(theirs.disconnected(), End::Unknown);
    });
}

#[test]
fn the_peers_close_reaches_us() {
    PEER.in_every_way(|ours, theirs| {
        theirs.close();
        assert!([CloseReason::PeerClose, CloseReason::PeerVanished].contains(&ours.closed()));
    });
}
