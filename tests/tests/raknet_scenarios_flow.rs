//! How much leaves and when: back-pressure, pacing, congestion control, limits, many peers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{Bottleneck, Conditions, scenario};
use proto_raknet::{
    CloseReason, Config, Congestion, ConnectOptions, Event, FlushPolicy, Priority, Reliability, SendError,
};
use std::time::Duration;
use tests::raknet::{Net, Pair, Party, add_endpoint, ms, numbered, numbers, secs};

const CONTROLLERS: [Congestion; 3] =
    [Congestion::Cubic, Congestion::SlidingWindow, Congestion::Fixed(60_000)];

/// The long link of the congestion tests: 10 Mbit/s, 40 ms there and back, a queue of one bandwidth-delay product.
fn link(loss: f64) -> Conditions {
    let bottleneck = Bottleneck { bits_per_second: 10_000_000, queue_bytes: 50_000 };
    Conditions { bottleneck: Some(bottleneck), ..Conditions::lossy(ms(20), loss) }
}

fn sending_with(change: impl Fn(&mut proto_raknet::SessionConfig)) -> (Config, Config) {
    let (mut server, mut client) = (Config::default(), Config::client());
    change(&mut server.session);
    change(&mut client.session);
    (server, client)
}

/// Sends `bytes` from the client and returns how long it took until all had arrived.
fn transfer(net: &mut Net, pair: &mut Pair, bytes: usize, within: Duration) -> Duration {
    const LEN: usize = 1_000;
    let count = bytes / LEN;
    let before = net.now();
    let already = pair.server.received.len();
    pair.client_sends(net, (0..count as u32).map(|n| numbered(n, LEN)));
    let done = pair.run_until(net, within, |pair| pair.server.received.len() == already + count);
    assert!(done, "{} of {count} arrived", pair.server.received.len() - already);
    net.now().saturating_since(before)
}

#[test]
fn a_full_queue_refuses_and_tells_once_there_is_room() {
    scenario("a_full_queue_refuses_and_tells_once_there_is_room", 0..4, |net| {
        net.set_paths(&link(0.0));
        let (server, client) = sending_with(|session| session.reliable_queue_bytes = 20_000);
        let mut pair = Pair::connected_with(net, server, client);
        let to_server = pair.to_server();
        let mut taken = 0;
        while net
            .command(pair.client.node, |client, now| client.send(now, to_server, numbered(taken, 1_000)))
            .is_ok()
        {
            taken += 1;
            assert!(taken < 10_000, "no back-pressure at all");
        }
        let stats = pair.client.stats(net, to_server);
        assert!((19_000..=21_000).contains(&stats.reliable_queue_bytes), "{}", stats.reliable_queue_bytes);
        // Party::send goes on only when it is told that there is room: a lost notice would stop it for ever.
        pair.client_sends(net, (taken..taken + 500).map(|n| numbered(n, 1_000)));
        assert!(pair.run_until(net, secs(10), |pair| pair.server.received.len() as u32 == taken + 500));
        assert_eq!(numbers(pair.server.messages()), (0..taken + 500).collect::<Vec<_>>());
    });
}

#[test]
fn asking_for_room_in_vain_is_answered_when_there_is_some() {
    scenario("asking_for_room_in_vain_is_answered_when_there_is_some", 0..2, |net| {
        net.set_paths(&link(0.0));
        let (server, client) = sending_with(|session| session.reliable_queue_bytes = 20_000);
        let pair = Pair::connected_with(net, server, client);
        let (client, to_server) = (pair.client.node, pair.to_server());
        let mut taken = 0;
        while net.command(client, |client, _| client.poll_room(to_server, Reliability::ReliableOrdered)) {
            let message = numbered(taken, 1_000);
            net.command(client, |client, now| client.send(now, to_server, message)).unwrap();
            taken += 1;
            assert!(taken < 10_000, "no back-pressure at all");
        }
        assert!(net.command(client, |client, _| client.poll_room(to_server, Reliability::Unreliable)));
        net.take_events(client);
        net.run_for(secs(2));
        assert_eq!(net.take_events(client), [Event::Writable { peer: to_server }]);
        assert!(net.command(client, |client, _| client.poll_room(to_server, Reliability::ReliableOrdered)));

        // A session that is over is not full.
        net.command(client, |client, now| client.abort(now, to_server));
        assert!(net.command(client, |client, _| client.poll_room(to_server, Reliability::ReliableOrdered)));
    });
}

#[test]
fn a_full_reliable_queue_does_not_hold_back_small_unreliable_updates() {
    scenario("a_full_reliable_queue_does_not_hold_back_small_unreliable_updates", 0..4, |net| {
        net.set_paths(&link(0.01));
        let mut pair = Pair::connected(net);
        pair.client_sends(net, (0..3_000).map(|n| numbered(n, 1_000)));
        let to_server = pair.to_server();
        for n in 10_000..10_050 {
            let update = numbered(n, 30).reliability(Reliability::Unreliable).priority(Priority::Immediate);
            let before = net.now();
            net.command(pair.client.node, |client, now| client.send(now, to_server, update)).unwrap();
            let arrived = pair.run_until(net, ms(500), |pair| {
                pair.server.messages().last().is_some_and(|last| numbers([last]) == [n])
            });
            let took = net.now().saturating_since(before);
            assert!(!arrived || took < ms(150), "an update took {took:?}");
            pair.run_for(net, ms(20));
        }
        let updates = numbers(pair.server.messages()).into_iter().filter(|n| *n >= 10_000).count();
        assert!(updates > 40, "{updates} of 50 updates arrived");
    });
}

#[test]
fn a_reader_that_stops_stops_its_sender_and_nothing_is_lost_when_it_goes_on() {
    scenario("a_reader_that_stops_stops_its_sender_and_nothing_is_lost_when_it_goes_on", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let (server, client) = sending_with(|session| session.receive_queue_bytes = 50_000);
        let mut pair = Pair::connected_with(net, server, client);
        pair.server.reads = false;
        pair.client_sends(net, (0..1_000).map(|n| numbered(n, 1_000)));
        pair.run_for(net, secs(5));
        let stats = pair.server.stats(net, pair.to_client());
        assert!((50_000..100_000).contains(&stats.receive_queue_bytes), "{}", stats.receive_queue_bytes);
        assert!(stats.totals.refused_full > 0);
        let before = net.now();
        pair.server.reads = true;
        assert!(pair.run_until(net, secs(30), |pair| pair.server.received.len() == 1_000));
        let took = net.now().saturating_since(before);
        assert!(took < secs(3), "it takes up quickly: {took:?}");
        assert_eq!(numbers(pair.server.messages()), (0..1_000).collect::<Vec<_>>());
    });
}

#[test]
fn a_reader_that_stops_for_longer_than_the_timeout_keeps_its_session() {
    scenario("a_reader_that_stops_for_longer_than_the_timeout_keeps_its_session", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let (server, client) = sending_with(|session| session.receive_queue_bytes = 50_000);
        let mut pair = Pair::connected_with(net, server, client);
        pair.server.reads = false;
        pair.client_sends(net, (0..500).map(|n| numbered(n, 1_000)));
        pair.run_for(net, secs(60));
        assert!(pair.is_established(), "{:?} {:?}", pair.client.events, pair.server.events);
        pair.server.reads = true;
        assert!(pair.run_until(net, secs(10), |pair| pair.server.received.len() == 500));
    });
}

#[test]
fn one_reader_that_stops_does_not_slow_the_others() {
    scenario("one_reader_that_stops_does_not_slow_the_others", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let (server, client) = sending_with(|session| session.receive_queue_bytes = 50_000);
        let mut pair = Pair::connected_with(net, server, client.clone());
        let lazy = pair.to_client();
        pair.server.reads = false;
        pair.client_sends(net, (0..500).map(|n| numbered(n, 1_000)));
        pair.run_for(net, secs(1));
        let mut other = Party::new(add_endpoint(net, client));
        let to_server = other.connect(net, pair.server.node, ConnectOptions::default());
        net.run_for(secs(1));
        other.serve(net);
        other.send(net, to_server, (0..500).map(|n| numbered(n, 1_000)));
        let mut got = 0;
        for _ in 0..100 {
            net.run_for(ms(20));
            other.serve(net);
            pair.server.serve(net);
            let busy = pair.server.sessions.keys().copied().find(|&peer| peer != lazy).expect("two sessions");
            while net.node_mut(pair.server.node).machine.recv(busy).is_some() {
                got += 1;
            }
            net.service(pair.server.node);
        }
        assert_eq!(got, 500);
    });
}

#[test]
fn batched_messages_wait_and_share_datagrams() {
    scenario("batched_messages_wait_and_share_datagrams", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(5)));
        let (server, client) = sending_with(|session| session.flush = FlushPolicy::Batched(ms(20)));
        let mut pair = Pair::connected_with(net, server, client);
        pair.run_for(net, secs(1));
        let to_server = pair.to_server();
        let sent = |net: &Net, pair: &Pair| net.stats(pair.client.node, pair.server.node).sent.datagrams;

        let before = sent(net, &pair);
        pair.client_sends(net, (0..10).map(|n| numbered(n, 50)));
        pair.run_for(net, ms(19));
        assert_eq!(sent(net, &pair), before, "they wait");
        pair.run_for(net, ms(1));
        assert_eq!(sent(net, &pair), before + 1, "and leave together");

        pair.run_for(net, secs(1));
        let before = sent(net, &pair);
        pair.client_sends(net, [numbered(10, 50)]);
        net.command(pair.client.node, |client, now| client.flush(now, to_server));
        assert_eq!(sent(net, &pair), before + 1, "a flush does not wait");

        pair.run_for(net, secs(1));
        let before = sent(net, &pair);
        pair.client_sends(net, [numbered(11, 50).priority(Priority::Immediate)]);
        assert_eq!(sent(net, &pair), before + 1, "nor does an urgent message");

        pair.run_for(net, secs(1));
        let before = sent(net, &pair);
        pair.client_sends(net, (12..52).map(|n| numbered(n, 100)));
        assert!(sent(net, &pair) > before, "nor does a full datagram");
        assert!(pair.run_until(net, secs(1), |pair| pair.server.received.len() == 52));
    });
}

#[test]
fn a_burst_of_small_messages_shares_datagrams_even_under_loss() {
    scenario("a_burst_of_small_messages_shares_datagrams_even_under_loss", 0..4, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.05));
        let mut pair = Pair::connected(net);
        for burst in 0..20 {
            pair.client_sends(net, (0..100).map(|n| numbered(burst * 100 + n, 50)));
            pair.run_for(net, ms(100));
        }
        assert!(pair.run_until(net, secs(20), |pair| pair.server.received.len() == 2_000));
        let totals = pair.client.stats(net, pair.to_server()).totals;
        let frames = 2_000 + totals.frames_resent;
        assert!(
            frames / totals.data_datagrams_sent >= 15,
            "{frames} frames in {} datagrams",
            totals.data_datagrams_sent
        );
    });
}

#[test]
fn a_bandwidth_limit_holds() {
    scenario("a_bandwidth_limit_holds", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(10)));
        let (server, client) = sending_with(|session| session.bandwidth_limit = Some(100_000));
        let mut pair = Pair::connected_with(net, server, client);
        let before = net.stats(pair.client.node, pair.server.node).sent.bytes;
        pair.client_sends(net, (0..2_000).map(|n| numbered(n, 1_000)));
        pair.run_for(net, secs(10));
        let sent = net.stats(pair.client.node, pair.server.node).sent.bytes - before;
        assert!((900_000..=1_030_000).contains(&sent), "{sent} bytes in 10 s at 100,000 a second");
    });
}

#[test]
fn pacing_spreads_a_window_over_the_round_trip() {
    let longest_queue = |pacing| {
        let mut lost = 0;
        scenario("pacing_spreads_a_window_over_the_round_trip", 0..4, |net| {
            let bottleneck = Bottleneck { bits_per_second: 100_000_000, queue_bytes: 60_000 };
            net.set_paths(&Conditions { bottleneck: Some(bottleneck), ..Conditions::delayed(ms(50)) });
            let (server, client) = sending_with(|session| {
                session.pacing = pacing;
                session.max_bytes_in_flight = 400_000;
            });
            let mut pair = Pair::connected_with(net, server, client);
            transfer(net, &mut pair, 5_000_000, secs(60));
            lost += net.stats(pair.client.node, pair.server.node).lost.datagrams;
        });
        lost
    };
    let (paced, unpaced) = (longest_queue(true), longest_queue(false));
    assert!(paced * 2 <= unpaced, "{paced} datagrams overflowed the queue with pacing, {unpaced} without");
}

#[test]
fn every_controller_fills_a_long_link() {
    for controller in CONTROLLERS {
        scenario("every_controller_fills_a_long_link", 0..4, |net| {
            net.set_paths(&link(0.0));
            let (server, client) = sending_with(|session| session.congestion = controller);
            let mut pair = Pair::connected_with(net, server, client);
            let took = transfer(net, &mut pair, 10_000_000, secs(60));
            let share = 8.0 / took.as_secs_f64();
            println!("{controller:?}: {:.0} % of the link", share * 100.0);
            assert!(share > 0.75, "{controller:?} took {took:?} for 8 s worth of data");
        });
    }
}

#[test]
fn every_controller_goes_on_under_one_percent_of_loss() {
    for controller in CONTROLLERS {
        scenario("every_controller_goes_on_under_one_percent_of_loss", 0..4, |net| {
            net.set_paths(&link(0.01));
            let (server, client) = sending_with(|session| session.congestion = controller);
            let mut pair = Pair::connected_with(net, server, client);
            let took = transfer(net, &mut pair, 4_000_000, secs(120));
            let totals = pair.client.stats(net, pair.to_server()).totals;
            println!("{controller:?}: {:.0} % of the link", 3.2 / took.as_secs_f64() * 100.0);
            assert!(took < secs(16), "{controller:?} took {took:?} for 3.2 s worth of data");
            let resent = totals.frames_resent as f64 / 4_000.0;
            assert!(resent < 0.15, "{controller:?} sent {resent} times too much again");
        });
    }
}

#[test]
fn a_session_does_not_slow_down_over_time() {
    scenario("a_session_does_not_slow_down_over_time", 0..4, |net| {
        net.set_paths(&link(0.0));
        let mut pair = Pair::connected(net);
        let took = transfer(net, &mut pair, 2_000_000, secs(30));
        let again = transfer(net, &mut pair, 2_000_000, secs(30));
        assert!(again < took + secs(1), "{took:?}, then {again:?}");
    });
}

#[test]
fn reordering_alone_hardly_causes_resends() {
    scenario("reordering_alone_hardly_causes_resends", 0..4, |net| {
        net.set_paths(&Conditions { reorder: 0.1, reorder_by: ms(4), ..Conditions::delayed(ms(20)) });
        let mut pair = Pair::connected(net);
        transfer(net, &mut pair, 3_000_000, secs(60));
        let totals = pair.client.stats(net, pair.to_server()).totals;
        assert!(totals.frames_resent < 300, "{} of 3000 frames were resent", totals.frames_resent);
    });
}

#[test]
fn unreliable_traffic_alone_fills_a_long_link_too() {
    scenario("unreliable_traffic_alone_fills_a_long_link_too", 0..4, |net| {
        net.set_paths(&link(0.0));
        let mut pair = Pair::connected(net);
        for n in 0..10_000 {
            // 8 Mbit/s, sent evenly as a game or a voice channel would.
            pair.client_sends(net, [numbered(n, 1_000).reliability(Reliability::Unreliable)]);
            pair.run_for(net, ms(1));
        }
        pair.run_for(net, secs(2));
        let arrived = pair.server.received.len();
        assert!(arrived > 9_000, "{arrived} of 10,000 arrived");
    });
}

#[test]
fn unreliable_messages_expire_in_the_queue_of_a_slow_link() {
    scenario("unreliable_messages_expire_in_the_queue_of_a_slow_link", 0..2, |net| {
        let (server, client) = sending_with(|session| session.bandwidth_limit = Some(10_000));
        let mut pair = Pair::connected_with(net, server, client);
        pair.run_for(net, secs(2));
        pair.client_sends(net, (0..100).map(|n| numbered(n, 1_000).reliability(Reliability::Unreliable)));
        pair.run_for(net, secs(5));
        let expired = pair.client.stats(net, pair.to_server()).totals.unreliable_expired;
        assert_eq!(expired + pair.server.received.len() as u64, 100);
        assert!((80..95).contains(&expired), "{expired} of 100 expired after a second");
    });
}

#[test]
fn two_thousand_peers_cost_no_more_each_than_twenty() {
    // Cost is counted in wake-ups and datagrams, which do not depend on the machine the test runs on.
    let cost = |clients: usize| {
        let mut per_peer = (0.0, 0.0);
        scenario("two_thousand_peers_cost_no_more_each_than_twenty", 0..1, |net| {
            net.trace_mut().set_limit(0);
            net.set_paths(&Conditions::delayed(ms(20)));
            let mut config = Config::default();
            config.incoming.max_handshakes = clients;
            let mut server = Party::new(add_endpoint(net, config));
            server.echoes = true;
            let mut parties: Vec<Party> =
                (0..clients).map(|_| Party::new(add_endpoint(net, Config::client()))).collect();
            for party in &parties {
                party.connect(net, server.node, ConnectOptions::default());
            }
            let serve_all = |net: &mut Net, server: &mut Party, parties: &mut [Party], time: Duration| {
                let end = net.now() + time;
                while net.now() < end {
                    net.run_for(ms(5));
                    server.serve(net);
                    parties.iter_mut().for_each(|party| party.serve(net));
                }
            };
            // More requests at one instant than there is room for answers: some clients have to ask again.
            serve_all(net, &mut server, &mut parties, ms(1_500));
            assert_eq!(server.sessions.len(), clients);
            let before = net.total_stats().sent.datagrams;
            for party in &mut parties {
                let session = party.session();
                party.send(net, session, (0..10).map(|n| numbered(n, 50)));
            }
            serve_all(net, &mut server, &mut parties, ms(300));
            assert!(parties.iter().all(|party| numbers(party.messages()) == (0..10).collect::<Vec<_>>()));
            let sent = net.total_stats().sent.datagrams - before;
            let polls = net.node(server.node).machine.stats().datagrams_sent;
            per_peer = (sent as f64 / clients as f64, polls as f64 / clients as f64);
        });
        per_peer
    };
    let (few, many) = (cost(20), cost(2_000));
    assert!(many.0 <= few.0 * 1.1 && many.1 <= few.1 * 1.1, "few {few:?}, many {many:?}");
}

#[test]
fn a_message_that_cannot_be_sent_is_refused_with_the_reason() {
    scenario("a_message_that_cannot_be_sent_is_refused_with_the_reason", 0..1, |net| {
        let (server, client) = sending_with(|session| session.max_message_bytes = 1_000);
        let mut pair = Pair::connected_with(net, server, client);
        let to_server = pair.to_server();
        let mut send = |payload: Vec<u8>| {
            net.command(pair.client.node, |client, now| client.send(now, to_server, payload))
        };
        assert_eq!(send(vec![]), Err(SendError::Empty));
        assert_eq!(send(vec![0x15]), Err(SendError::Reserved { id: 0x15 }));
        assert_eq!(send(vec![0xfe; 1_001]), Err(SendError::TooLong { len: 1_001, max: 1_000 }));
        assert_eq!(send(vec![0xfe; 1_000]), Ok(None));
        assert!(pair.run_until(net, secs(1), |pair| pair.server.received.len() == 1));
        assert!(pair.server.closes().is_empty() && !pair.client.closes().contains(&CloseReason::Aborted));
    });
}
