//! raknet-native 1.2.3 (npm): C++ RakNet as Bedrock tools use it, both roles.
//!
//! Its own JavaScript classes hide receipts; its bindings do not.

use proto_raknet::{CloseReason, Reliability};
use tests::peers::{End, Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::RaknetNative,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: true,
};

#[test]
fn messages_of_every_mode_arrive_both_ways() {
    let modes = [
        Reliability::Unreliable,
        Reliability::UnreliableSequenced,
        Reliability::Reliable,
        Reliability::ReliableOrdered,
        Reliability::ReliableSequenced,
    ];
    PEER.in_every_way(|ours, theirs| scenario::both_ways(ours, theirs, &scenario::of_modes(&modes)));
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
        scenario::both_ways(ours, theirs, &scenario::across_channels(&[0, 1, 7, 31], 20, 600));
    });
}

#[test]
fn receipts_tell_both_sides_what_arrived() {
    PEER.in_every_way(|ours, theirs| {
        scenario::receipts_for_us(ours, theirs, &scenario::RECEIPT_MODES);
        scenario::receipts_for_peer(ours, theirs);
    });
}

#[test]
fn the_peers_ping_gets_our_text() {
    PEER.ping_us();
}

#[test]
fn our_close_reaches_the_peer() {
    PEER.in_every_way(|ours, theirs| {
        assert_eq!(ours.close(), CloseReason::LocalClose);
        assert_eq!(theirs.disconnected(), End::Told);
    });
}

#[test]
fn the_peers_close_reaches_us() {
    PEER.in_every_way(|ours, theirs| {
        theirs.close();
        assert_eq!(ours.closed(), CloseReason::PeerClose);
    });
}
