//! rak-rs 0.3.3 (crates.io), both roles.

use proto_raknet::{CloseReason, Reliability};
use tests::peers::{End, Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::RakRs,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: false,
};

#[test]
fn small_messages_arrive_both_ways() {
    PEER.in_every_way(|ours, theirs| {
        scenario::both_ways(ours, theirs, &scenario::across_channels(&[0], 20, 64));
    });
}

#[test]
fn long_messages_arrive_whole_both_ways() {
    PEER.in_every_way(|ours, theirs| {
        scenario::both_ways(ours, theirs, &scenario::of_lengths(&[800, 4_096, 1 << 20, 4_096, 6]));
    });
}

#[test]
fn each_channel_keeps_its_order() {
    PEER.in_every_way(|ours, theirs| {
        scenario::to_peer(ours, theirs, &scenario::across_channels(&[0, 1, 7, 31], 20, 600));
    });
}

#[test]
fn our_receipts_tell_what_arrived() {
    PEER.in_every_way(|ours, theirs| scenario::receipts_for_us(ours, theirs));
}

#[test]
fn our_close_reaches_the_peer() {
    PEER.in_every_way(|ours, theirs| {
        assert_eq!(ours.close(), CloseReason::LocalClose);
        assert_eq!(theirs.disconnected(), End::Unknown);
    });
}

#[test]
fn the_peers_close_reaches_us() {
    PEER.in_every_way(|ours, theirs| {
        theirs.close();
        assert_eq!(ours.closed(), CloseReason::PeerClose);
    });
}
