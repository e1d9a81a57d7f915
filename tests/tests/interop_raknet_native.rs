//! raknet-native 1.2.3 (npm): C++ RakNet as Bedrock tools use it, both roles.
//!
//! Its own JavaScript classes hide receipts; its bindings do not.

use tests::peers::{Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::RaknetNative,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: true,
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
fn receipts_tell_both_sides_what_arrived() {
    PEER.in_every_way(scenario::receipts);
}

#[test]
fn the_peers_ping_gets_our_text() {
    PEER.ping_us();
}

#[test]
fn our_close_reaches_the_peer() {
    PEER.in_every_way(scenario::our_close);
}

#[test]
fn the_peers_close_reaches_us() {
    PEER.in_every_way(scenario::their_close);
}
