//! How sessions live on, and how they end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{ClockJump, Conditions, scenario};
use proto_core::{DownReason, LinkEvent};
use proto_raknet::{CloseReason, Config, ConnectOptions, Event, SOCKET, SendError};
use std::time::Duration;
use tests::raknet::{Net, Pair, Party, add_endpoint, ms, numbered, numbers, secs};

fn with_timeout(timeout: Duration) -> (Config, Config) {
    let (mut server, mut client) = (Config::default(), Config::client());
    server.session.timeout = timeout;
    client.session.timeout = timeout;
    (server, client)
}

fn is_idle(net: &Net, pair: &Pair) -> bool {
    [pair.client.node, pair.server.node].iter().all(|&node| net.node(node).machine.is_idle())
}

#[test]
fn a_graceful_close_delivers_all_that_was_sent_before() {
    scenario("a_graceful_close_delivers_all_that_was_sent_before", 0..12, |net| {
        net.set_paths(&Conditions::lossy(ms(30), 0.15));
        let (mut server, mut client) = with_timeout(secs(30));
        server.session.close_timeout = secs(30);
        client.session.close_timeout = secs(30);
        let mut pair = Pair::connected_with(net, server, client);
        pair.client_sends(net, (0..200).map(|n| numbered(n, 1_000)));
        pair.client.disconnect(net, pair.to_server());
        assert!(pair.run_until(net, secs(60), |pair| !pair.server.closes().is_empty()
            && !pair.client.closes().is_empty()));
        assert_eq!(pair.server.closes(), [CloseReason::PeerClose]);
        assert_eq!(pair.client.closes(), [CloseReason::LocalClose]);
        assert_eq!(numbers(pair.server.messages()), (0..200).collect::<Vec<_>>());
        pair.run_for(net, secs(3));
        assert!(is_idle(net, &pair));
    });
}

#[test]
fn messages_that_were_not_read_come_with_the_end() {
    scenario("messages_that_were_not_read_come_with_the_end", 0..4, |net| {
        let mut pair = Pair::connected(net);
        pair.server.reads = false;
        pair.client_sends(net, (0..50).map(|n| numbered(n, 100)));
        pair.client.disconnect(net, pair.to_server());
        assert!(pair.run_until(net, secs(5), |pair| !pair.server.closes().is_empty()));
        assert_eq!(numbers(pair.server.messages()), (0..50).collect::<Vec<_>>());
    });
}

#[test]
fn both_sides_may_close_at_the_same_time() {
    scenario("both_sides_may_close_at_the_same_time", 0..8, |net| {
        net.set_paths(&Conditions::lossy(ms(30), 0.1));
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(1));
        pair.client.disconnect(net, pair.to_server());
        pair.server.disconnect(net, pair.to_client());
        pair.run_for(net, secs(20));
        for party in [&pair.client, &pair.server] {
            let closes = party.closes();
            assert!(closes == [CloseReason::LocalClose], "{closes:?}");
        }
        assert!(is_idle(net, &pair));
    });
}

#[test]
fn a_close_that_nobody_acknowledges_ends_in_time() {
    scenario("a_close_that_nobody_acknowledges_ends_in_time", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(1));
        net.partition_all();
        let before = net.now();
        pair.client.disconnect(net, pair.to_server());
        assert!(pair.run_until(net, secs(30), |pair| !pair.client.closes().is_empty()));
        assert_eq!(pair.client.closes(), [CloseReason::LocalCloseUnacknowledged]);
        let took = net.now().saturating_since(before);
        assert!((secs(5)..=secs(6)).contains(&took), "{took:?}");
        pair.run_for(net, secs(20));
        assert_eq!(pair.server.closes(), [CloseReason::Timeout]);
        assert!(is_idle(net, &pair));
    });
}

#[test]
fn an_abort_is_silent_and_the_peer_times_out() {
    scenario("an_abort_is_silent_and_the_peer_times_out", 0..4, |net| {
        let mut pair = Pair::connected(net);
        let to_server = pair.to_server();
        net.command(pair.client.node, |client, now| client.abort(now, to_server));
        let before = net.now();
        assert!(pair.run_until(net, secs(30), |pair| !pair.server.closes().is_empty()));
        assert_eq!(
            (pair.client.closes(), pair.server.closes()),
            (vec![CloseReason::Aborted], vec![CloseReason::Timeout])
        );
        let took = net.now().saturating_since(before);
        assert!((secs(9)..=secs(11)).contains(&took), "{took:?}");
    });
}

#[test]
fn a_socket_that_goes_down_ends_everything_and_a_new_one_works() {
    scenario("a_socket_that_goes_down_ends_everything_and_a_new_one_works", 0..4, |net| {
        let mut pair = Pair::connected(net);
        let address = net.address(pair.client.node);
        net.close_link(pair.client.node, SOCKET, DownReason::Io);
        pair.run_for(net, ms(10));
        assert_eq!(pair.client.closes(), [CloseReason::LinkDown]);
        net.add_udp(pair.client.node, SOCKET, address);
        pair.run_for(net, secs(15));
        pair.establish(net, ConnectOptions::default());
    });
}

#[test]
fn idle_peers_stay_together_for_five_minutes_at_little_cost() {
    scenario("idle_peers_stay_together_for_five_minutes_at_little_cost", 0..4, |net| {
        net.set_paths(&Conditions::lossy(ms(50), 0.02));
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(5));
        let before = net.total_stats().sent.datagrams;
        let mut wakes = 0;
        net.run_until(
            |net| {
                wakes += 1;
                pair.client.serve(net);
                pair.server.serve(net);
                false
            },
            secs(300),
        );
        assert!(wakes < 3_000, "the machines were woken {wakes} times in 5 minutes");
        assert!(pair.is_established(), "{:?} {:?}", pair.client.events, pair.server.events);
        let sent = net.total_stats().sent.datagrams - before;
        assert!((150..1_500).contains(&sent), "{sent} datagrams in 5 minutes");
        pair.client_sends(net, [numbered(1, 10)]);
        assert!(pair.run_until(net, secs(5), |pair| pair.server.received.len() == 1));
    });
}

#[test]
fn one_way_traffic_of_unreliable_messages_keeps_a_session() {
    scenario("one_way_traffic_of_unreliable_messages_keeps_a_session", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(50)));
        let mut pair = Pair::connected(net);
        for n in 0..600 {
            pair.client_sends(net, [numbered(n, 50).reliability(proto_raknet::Reliability::Unreliable)]);
            pair.run_for(net, ms(100));
        }
        assert!(pair.is_established());
        assert_eq!(pair.server.received.len(), 600);
    });
}

#[test]
fn a_partition_shorter_than_the_timeout_is_survived() {
    scenario("a_partition_shorter_than_the_timeout_is_survived", 0..8, |net| {
        net.set_paths(&Conditions::delayed(ms(30)));
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(1));
        net.partition_all();
        let sent = (0..300).map(|n| numbered(n, 500));
        pair.client_sends(net, sent.clone());
        pair.server_sends(net, sent);
        pair.run_for(net, secs(7));
        net.heal_all();
        let all = |pair: &Pair| pair.client.received.len() == 300 && pair.server.received.len() == 300;
        assert!(pair.run_until(net, secs(6), all), "{:?} {:?}", pair.client.events, pair.server.events);
        for party in [&pair.client, &pair.server] {
            assert_eq!(numbers(party.messages()), (0..300).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_partition_longer_than_the_timeout_ends_both_sides_and_they_can_join_again() {
    scenario("a_partition_longer_than_the_timeout_ends_both_sides_and_they_can_join_again", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(30)));
        let mut pair = Pair::connected(net);
        pair.client_sends(net, [numbered(1, 100_000)]);
        net.partition_all();
        pair.run_for(net, secs(15));
        assert_eq!(
            (pair.client.closes(), pair.server.closes()),
            (vec![CloseReason::Timeout], vec![CloseReason::Timeout])
        );
        assert!(is_idle(net, &pair));
        net.heal_all();
        pair.establish(net, ConnectOptions::default());
    });
}

#[test]
fn a_clock_that_jumps_a_little_does_not_harm_a_session() {
    for jump in [ClockJump::Forward(secs(3)), ClockJump::Backward(secs(3)), ClockJump::Backward(ms(1))] {
        scenario("a_clock_that_jumps_a_little_does_not_harm_a_session", 0..4, |net| {
            net.set_paths(&Conditions::delayed(ms(30)));
            let mut pair = Pair::connected(net);
            pair.run_for(net, secs(1));
            for (round, node) in [pair.client.node, pair.server.node].into_iter().enumerate() {
                pair.client_sends(net, (0..50).map(|n| numbered(n, 500)));
                pair.run_for(net, ms(10));
                net.jump_clock(node, jump);
                let count = 50 * (round + 1);
                assert!(pair.run_until(net, secs(9), |pair| pair.server.received.len() == count), "{jump:?}");
            }
            pair.run_for(net, secs(20));
            assert!(pair.is_established(), "{jump:?}: {:?} {:?}", pair.client.events, pair.server.events);
        });
    }
}

#[test]
fn a_machine_that_slept_for_an_hour_ends_its_session_and_joins_again() {
    scenario("a_machine_that_slept_for_an_hour_ends_its_session_and_joins_again", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(30)));
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(1));
        net.jump_clock(pair.client.node, ClockJump::Forward(secs(3_600)));
        pair.run_for(net, secs(30));
        assert_eq!(pair.client.closes(), [CloseReason::Timeout]);
        assert_eq!(pair.server.closes().len(), 1);
        pair.establish(net, ConnectOptions::default());
    });
}

#[test]
fn commands_to_a_session_that_is_over_are_refused_and_harmless() {
    scenario("commands_to_a_session_that_is_over_are_refused_and_harmless", 0..2, |net| {
        let mut pair = Pair::connected(net);
        let old = pair.to_server();
        pair.client.disconnect(net, old);
        let closing = net.command(pair.client.node, |client, now| client.send(now, old, &b"\xfe"[..]));
        assert_eq!(closing, Err(SendError::Closing));
        pair.run_for(net, secs(3));
        pair.establish(net, ConnectOptions::default());
        net.command(pair.client.node, |client, now| {
            assert_eq!(client.send(now, old, &b"\xfe"[..]), Err(SendError::UnknownPeer));
            assert_eq!(client.recv(old), None);
            assert_eq!(client.peer(old), None);
            client.disconnect(now, old);
            client.abort(now, old);
            client.flush(now, old);
        });
        pair.run_for(net, secs(3));
        assert!(pair.is_established(), "an old name never means a new session");
    });
}

#[test]
fn a_closed_endpoint_says_goodbye_to_all_and_becomes_idle() {
    scenario("a_closed_endpoint_says_goodbye_to_all_and_becomes_idle", 0..4, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.1));
        let mut pair = Pair::connected(net);
        for _ in 0..3 {
            let other = Party::new(add_endpoint(net, Config::client()));
            other.connect(net, pair.server.node, ConnectOptions::default());
        }
        assert!(pair.run_until(net, secs(10), |pair| pair.server.sessions.len() == 4));
        net.command(pair.server.node, |server, now| server.close(now));
        pair.run_for(net, secs(10));
        assert_eq!(pair.server.closes(), [CloseReason::LocalClose; 4]);
        assert_eq!(pair.client.closes(), [CloseReason::PeerClose]);
        assert!(net.node(pair.server.node).machine.is_idle());
    });
}

#[test]
fn a_blocked_socket_delays_but_loses_nothing() {
    scenario("a_blocked_socket_delays_but_loses_nothing", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        net.report(pair.client.node, SOCKET, LinkEvent::Blocked);
        pair.client_sends(net, (0..100).map(|n| numbered(n, 500)));
        pair.run_for(net, secs(2));
        assert!(pair.server.received.is_empty());
        net.report(pair.client.node, SOCKET, LinkEvent::Writable);
        assert!(pair.run_until(net, secs(5), |pair| pair.server.received.len() == 100));
    });
}

#[test]
fn every_session_ends_with_exactly_one_event() {
    scenario("every_session_ends_with_exactly_one_event", 0..30, |net| {
        net.set_paths(&Conditions { duplication: 0.2, ..Conditions::lossy(ms(20), 0.25) });
        let mut pair = Pair::connected(net);
        let choice = net.entropy().below(4);
        let (to_server, to_client) = (pair.to_server(), pair.to_client());
        match choice {
            0 => pair.client.disconnect(net, to_server),
            1 => net.command(pair.server.node, |server, now| server.abort(now, to_client)),
            2 => {
                pair.client.disconnect(net, to_server);
                pair.server.disconnect(net, to_client);
            }
            _ => net.partition_all(),
        }
        pair.run_for(net, secs(60));
        for party in [&pair.client, &pair.server] {
            let ends =
                party.events.iter().filter(|event| matches!(event, Event::Disconnected { .. })).count();
            assert_eq!(ends, 1, "choice {choice}: {:?}", party.events);
        }
        assert!(is_idle(net, &pair));
    });
}
