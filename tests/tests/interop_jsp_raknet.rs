//! jsp-raknet 2.2.0 (npm): JavaScript, both roles, protocol version 10, no cookies.
//!
//! What it cannot do, and how the tests take account of it:
//! - It delivers reliable messages in the order of their reliable numbers and ignores channels and sequences, so
//!   ordered messages on several channels do arrive, and in order.
//! - It takes four datagrams every 10 ms, and acknowledges those that its window of 256 datagrams has to drop.
//! - It sends without any window and never resends by itself, only what is asked for by a NACK, and that once. A split
//!   message longer than what our socket buffers at once may be lost for good, so the long ones from it are short.
//! - Its client begins to read 1.5 seconds after it connected.
//! - Its client closes with an unreliable notification, which anybody could forge: we believe it once it does not
//!   answer any more. Its server closes the socket before the notification is out.

use proto_raknet::{CloseReason, Reliability};
use tests::peers::{Implementation, Pairing, Role, scenario};

const PEER: Pairing = Pairing {
    implementation: Implementation::JspRaknet,
    roles: &[Role::Server, Role::Client],
    protocol: 10,
    cookies: false,
};

#[test]
fn messages_of_the_modes_it_knows_arrive_both_ways() {
    let modes = [Reliability::Unreliable, Reliability::Reliable, Reliability::ReliableOrdered];
    PEER.in_every_way(|ours, theirs| scenario::both_ways(ours, theirs, &scenario::of_modes(&modes)));
}

#[test]
fn long_messages_arrive_whole_both_ways() {
    PEER.in_every_way(|ours, theirs| {
        scenario::to_peer(ours, theirs, &scenario::of_lengths(&scenario::LENGTHS));
        scenario::from_peer(ours, theirs, &scenario::of_lengths(&[800, 4_096, 30_000, 4_096, 6]));
    });
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
    PEER.in_every_way(scenario::our_close);
}

#[test]
fn the_clients_close_is_believed_once_it_does_not_answer_any_more() {
    PEER.as_roles(&[Role::Client], |ours, theirs| {
        theirs.close();
        assert_eq!(ours.closed(), CloseReason::PeerVanished);
    });
}

#[test]
fn a_server_that_falls_silent_is_noticed() {
    PEER.as_roles(&[Role::Server], |ours, theirs| {
        theirs.close();
        assert_eq!(ours.closed(), CloseReason::Timeout);
    });
}
