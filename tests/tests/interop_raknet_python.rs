//! PyPI raknet 0.3.0: C++ RakNet 4.081, both roles, with receipts and priorities.

use proto_raknet::Priority;
use tests::peers::{Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::PythonRaknet,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: true,
};

#[test]
fn messages_of_every_mode_arrive_both_ways() {
    PEER.in_every_way(scenario::every_mode);
}

#[test]
fn messages_of_every_priority_arrive_both_ways() {
    PEER.in_every_way(|ours, theirs| {
        for (channel, priority) in (0..).zip(Priority::ALL) {
            let messages = scenario::across_channels(&[channel], 5, 200);
            let messages: Vec<_> = messages.into_iter().map(|message| message.priority(priority)).collect();
            scenario::both_ways(ours, theirs, &messages);
        }
    });
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
fn stock_raknet_with_ten_internal_addresses_works_too() {
    let stock = Pairing { protocol: 6, ..PEER };
    stock.in_every_way(|ours, theirs| {
        assert_eq!(ours.info().protocol_version.0, 6);
        scenario::both_ways(ours, theirs, &scenario::of_lengths(&[100, 4_096]));
    });
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
