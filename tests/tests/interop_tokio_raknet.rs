//! tokio-raknet 0.2.0 (crates.io), both roles.
//!
//! What is peculiar to it, and how the tests take account of it:
//! - With cookies, its client announces a challenge that does not follow, and its server sets the flag of encryption
//!   without encrypting.
//! - It delivers unordered reliable messages again when they are sent again, so few of them are sent here.
//! - It has 16 ordering channels.
//! - A stream cannot be closed; dropped, it leaves the peer to its timeout. When we close, it may be gone before it
//!   acknowledges.

use proto_raknet::Reliability;
use tests::peers::{End, Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::TokioRaknet,
    roles: &[Role::Server, Role::Client],
    protocol: 11,
    cookies: true,
};

#[test]
fn messages_of_the_unsequenced_modes_arrive_both_ways() {
    let modes = [Reliability::Unreliable, Reliability::ReliableOrdered];
    PEER.in_every_way(|ours, theirs| scenario::both_ways(ours, theirs, &scenario::of_modes(&modes)));
}

#[test]
fn long_messages_arrive_whole_both_ways() {
    PEER.in_every_way(scenario::long_messages);
}

#[test]
fn each_channel_keeps_its_order() {
    PEER.in_every_way(|ours, theirs| scenario::channels(ours, theirs, &[0, 1, 7, 15]));
}

#[test]
fn our_receipts_tell_what_arrived() {
    let modes = [Reliability::UnreliableWithReceipt, Reliability::ReliableOrderedWithReceipt];
    PEER.in_every_way(|ours, theirs| scenario::receipts_for_us(ours, theirs, &modes));
}

#[test]
fn our_close_reaches_the_peer() {
    PEER.in_every_way(|ours, theirs| {
        ours.close();
        assert_eq!(theirs.disconnected(), End::Unknown);
    });
}
