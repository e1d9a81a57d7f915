//! How sessions begin, and how they are refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{Conditions, Filtering, scenario};
use proto_core::{Instant, LinkEvent, LinkId};
use proto_raknet::{
    CloseReason, Config, ConnectFailure, ConnectOptions, Event, Guid, IncomingConfig, Motd, Role, Verdict,
    wire::ProtocolVersion,
};
use std::net::{IpAddr, SocketAddr};
use tests::raknet::{Net, Pair, Party, add_endpoint, ms, numbered, numbers, secs};

/// Where a network's clock begins.
const START: Instant = Instant::from_millis(1_000_000);

fn server_with(incoming: IncomingConfig) -> Config {
    Config { incoming, ..Config::default() }
}

fn patient() -> ConnectOptions {
    ConnectOptions { timeout: secs(30), ..ConnectOptions::default() }
}

/// Lets a client try to connect, and returns why it failed.
fn fail_to_connect(net: &mut Net, pair: &mut Pair, options: ConnectOptions) -> ConnectFailure {
    pair.client.connect(net, pair.server.node, options);
    assert!(pair.run_until(net, secs(60), |pair| !pair.client.failures().is_empty()), "no failure");
    pair.client.failures()[0]
}

#[test]
fn both_sides_learn_the_same_of_a_new_session() {
    scenario("both_sides_learn_the_same_of_a_new_session", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let pair = Pair::connected(net);
        let (server, client) =
            (pair.client.sessions[&pair.to_server()], pair.server.sessions[&pair.to_client()]);
        assert_eq!(
            (server.address, client.address),
            (net.address(pair.server.node), net.address(pair.client.node))
        );
        assert_eq!(server.guid, net.node(pair.server.node).machine.guid());
        assert_eq!(client.guid, net.node(pair.client.node).machine.guid());
        assert_eq!((server.mtu, client.mtu), (1_492, 1_492));
        assert_eq!((server.role, client.role), (Role::Client, Role::Server));
        assert_eq!(client.protocol_version, ProtocolVersion(11));
    });
}

#[test]
fn a_session_opens_at_any_loss_up_to_30_percent() {
    for percent in [0, 5, 10, 20, 30] {
        scenario("a_session_opens_at_any_loss_up_to_30_percent", 0..20, |net| {
            net.set_paths(&Conditions::lossy(ms(30), f64::from(percent) / 100.0));
            Pair::connected(net);
        });
    }
}

#[test]
fn a_session_opens_on_a_path_that_doubles_and_reorders() {
    scenario("a_session_opens_on_a_path_that_doubles_and_reorders", 0..20, |net| {
        net.set_paths(&Conditions {
            duplication: 0.5,
            reorder: 0.5,
            reorder_by: ms(200),
            jitter: ms(20),
            ..Conditions::delayed(ms(30))
        });
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(5));
        assert_eq!(
            (pair.client.events.len(), pair.server.events.len()),
            (1, 1),
            "one session and nothing else"
        );
    });
}

#[test]
fn a_black_hole_for_long_datagrams_leads_to_a_smaller_mtu() {
    for (path, mtu) in [(1_464, 1_492), (1_300, 1_200), (1_000, 576)] {
        scenario("a_black_hole_for_long_datagrams_leads_to_a_smaller_mtu", 0..4, |net| {
            net.set_paths(&Conditions { mtu: Some(path), ..Conditions::delayed(ms(20)) });
            let mut pair = Pair::connected(net);
            assert_eq!(pair.client.sessions[&pair.to_server()].mtu, mtu);
            pair.client_sends(net, [numbered(1, 50_000)]);
            assert!(pair.run_until(net, secs(10), |pair| pair.server.received.len() == 1));
        });
    }
}

#[test]
fn a_reported_mtu_is_fallen_back_to_at_once() {
    scenario("a_reported_mtu_is_fallen_back_to_at_once", 0..4, |net| {
        net.set_paths(&Conditions { mtu: Some(1_200), report_too_big: true, ..Conditions::delayed(ms(20)) });
        let pair = Pair::connected(net);
        assert_eq!(pair.client.sessions[&pair.to_server()].mtu, 1_200);
        assert!(net.now() < START + ms(400), "no retry interval was waited for: {:?}", net.now());
    });
}

#[test]
fn the_smaller_maximum_of_both_sides_is_the_mtu() {
    for (server_mtu, client_mtu) in [(1_000, 1_492), (1_492, 1_000)] {
        scenario("the_smaller_maximum_of_both_sides_is_the_mtu", 0..2, |net| {
            let server = Config { max_mtu: server_mtu, ..Config::default() };
            let client = Config { max_mtu: client_mtu, ..Config::client() };
            let mut pair = Pair::strangers(net, server, client);
            pair.establish(net, ConnectOptions { mtu_candidates: vec![1_492, 1_000, 576], ..patient() });
            for (party, peer) in [(&pair.client, pair.to_server()), (&pair.server, pair.to_client())] {
                assert_eq!(party.sessions[&peer].mtu, 1_000);
            }
        });
    }
}

#[test]
fn nobody_answering_is_told_at_the_deadline() {
    scenario("nobody_answering_is_told_at_the_deadline", 0..2, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        net.partition_all();
        let failure = fail_to_connect(net, &mut pair, ConnectOptions { timeout: secs(4), ..patient() });
        assert_eq!((failure, net.now()), (ConnectFailure::NoAnswer, START + secs(4)));
        assert!(net.node(pair.client.node).machine.is_idle());
    });
}

#[test]
fn a_handshake_that_breaks_off_is_told_from_no_answer() {
    scenario("a_handshake_that_breaks_off_is_told_from_no_answer", 0..2, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        net.lose_if(|_, _, data| data.first() == Some(&0x08));
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::HandshakeTimeout);
    });
}

#[test]
fn an_unfinished_handshake_leaves_nothing_behind_at_the_server() {
    scenario("an_unfinished_handshake_leaves_nothing_behind_at_the_server", 0..4, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        let client = pair.client.node;
        net.lose_if(move |from, _, data| {
            from == client && data.first().is_some_and(|first| first & 0x80 != 0)
        });
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::HandshakeTimeout);
        pair.run_for(net, secs(20));
        let stats = net.node(pair.server.node).machine.stats();
        assert_eq!((stats.peers, stats.handshakes, stats.incoming), (0, 0, 0));
        assert!(pair.server.events.is_empty(), "the application never heard of it");
    });
}

/// Connects a client behind a NAT.
fn behind_nat(net: &mut Net) -> Pair {
    net.set_paths(&Conditions::delayed(ms(20)));
    let mut pair = Pair::strangers(net, Config::default(), Config::client());
    net.put_behind_nat(pair.client.node, IpAddr::from([203, 0, 113, 1]), Filtering::AddressAndPortDependent);
    pair.establish(net, patient());
    pair
}

#[test]
fn a_client_behind_a_rebound_nat_joins_again_while_the_old_session_dies() {
    scenario("a_client_behind_a_rebound_nat_joins_again_while_the_old_session_dies", 0..8, |net| {
        let mut pair = behind_nat(net);
        let (old_client, old_server) = (pair.to_server(), pair.to_client());
        net.rebind_nat(pair.client.node);
        net.command(pair.client.node, |client, now| client.abort(now, old_client));
        pair.run_for(net, ms(10));
        // The server believes the old session alive until it has asked; then the same client is let in.
        let mut attempts = 0;
        while !pair.server.sessions.keys().any(|&peer| peer != old_server) {
            attempts += 1;
            assert!(attempts < 10, "client {:?}, server {:?}", pair.client.events, pair.server.events);
            pair.client.connect(net, pair.server.node, patient());
            let failed = pair.client.failures().len();
            pair.run_until(net, secs(30), |pair| {
                pair.client.failures().len() > failed
                    || (pair.client.sessions.len() == 1
                        && pair.server.sessions.keys().any(|&peer| peer != old_server))
            });
            pair.run_for(net, ms(500));
        }
        assert!(net.now() < START + secs(8), "sooner than the timeout of the old session: {:?}", net.now());
        assert_eq!(pair.server.closes(), [CloseReason::PeerVanished]);
        pair.client_sends(net, [numbered(1, 10)]);
        assert!(pair.run_until(net, secs(1), |pair| numbers(pair.server.messages()) == [1]));
    });
}

#[test]
fn a_session_whose_nat_rebinds_is_lost_on_both_sides() {
    scenario("a_session_whose_nat_rebinds_is_lost_on_both_sides", 0..4, |net| {
        let mut pair = behind_nat(net);
        net.rebind_nat(pair.client.node);
        pair.run_for(net, secs(25));
        assert_eq!(
            (pair.client.closes(), pair.server.closes()),
            (vec![CloseReason::Timeout], vec![CloseReason::Timeout])
        );
    });
}

#[test]
fn a_program_that_restarted_on_its_port_gets_in_at_once() {
    scenario("a_program_that_restarted_on_its_port_gets_in_at_once", 0..8, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        let seed = net.machine_seed();
        net.node_mut(pair.client.node).machine = tests::raknet::endpoint(Config::client(), seed);
        let up = LinkEvent::Up { local: None, peer: None };
        net.report(pair.client.node, LinkId(0), up);
        pair.client = Party::new(pair.client.node);
        let before = net.now();
        pair.client.connect(net, pair.server.node, patient());
        assert!(pair.run_until(net, secs(5), |pair| {
            pair.client.sessions.len() == 1
                && pair.server.closes() == [CloseReason::Replaced]
                && pair.server.sessions.len() == 1
        }));
        assert!(net.now().saturating_since(before) < ms(500));
    });
}

#[test]
fn a_client_that_closed_joins_again_at_once() {
    scenario("a_client_that_closed_joins_again_at_once", 0..8, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.1));
        let mut pair = Pair::connected(net);
        for round in 1..=10_usize {
            pair.client.disconnect(net, pair.to_server());
            assert!(pair.run_until(net, secs(10), |pair| pair.client.closes().len() == round));
            pair.establish(net, patient());
            assert!(pair.run_until(net, secs(10), |pair| pair.server.closes().len() == round));
        }
        assert!(
            pair.server.closes().iter().all(|&reason| reason == CloseReason::PeerClose),
            "{:?}",
            pair.server.closes()
        );
    });
}

#[test]
fn a_full_server_says_so_and_lets_the_next_one_in_when_one_leaves() {
    scenario("a_full_server_says_so_and_lets_the_next_one_in_when_one_leaves", 0..4, |net| {
        let server = server_with(IncomingConfig { max_connections: 2, ..IncomingConfig::default() });
        let mut pair = Pair::connected_with(net, server, Config::client());
        let second = Party::new(add_endpoint(net, Config::client()));
        second.connect(net, pair.server.node, patient());
        assert!(pair.run_until(net, secs(5), |pair| pair.server.sessions.len() == 2));
        let mut third = Party::new(add_endpoint(net, Config::client()));
        third.connect(net, pair.server.node, patient());
        pair.run_for(net, secs(1));
        third.serve(net);
        assert_eq!(third.failures(), [ConnectFailure::NoFreeIncomingConnections]);
        pair.client.disconnect(net, pair.to_server());
        pair.run_for(net, secs(3));
        third.connect(net, pair.server.node, patient());
        assert!(pair.run_until(net, secs(5), |pair| pair.server.sessions.len() == 2));
    });
}

#[test]
fn a_server_that_does_not_accept_refuses_and_hides_from_open_pings() {
    scenario("a_server_that_does_not_accept_refuses_and_hides_from_open_pings", 0..2, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        let to = net.address(pair.server.node);
        for (accepting, open_only, pongs) in [(true, true, 1), (false, true, 1), (false, false, 2)] {
            net.command(pair.server.node, |server, _| server.set_accepting(accepting));
            net.command(pair.client.node, |client, now| client.ping(now, to, open_only)).unwrap();
            pair.run_for(net, secs(1));
            let got = pair.client.events.iter().filter(|event| matches!(event, Event::Pong { .. })).count();
            assert_eq!(got, pongs, "accepting {accepting}, open only {open_only}");
        }
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::NoFreeIncomingConnections);
        net.command(pair.server.node, |server, _| server.set_accepting(true));
        pair.establish(net, patient());
    });
}

#[test]
fn a_banned_address_is_told_and_let_in_after_the_ban() {
    scenario("a_banned_address_is_told_and_let_in_after_the_ban", 0..2, |net| {
        let mut pair = Pair::connected(net);
        let ip = net.address(pair.client.node).ip();
        net.command(pair.server.node, |server, now| server.ban(now, ip, Some(secs(60))));
        pair.run_for(net, secs(1));
        assert_eq!(pair.server.closes(), [CloseReason::Banned]);
        net.command(pair.client.node, |client, now| client.close(now));
        let stranger = pair.client.node;
        let again = Party::new(stranger);
        pair.client = again;
        let seed = net.machine_seed();
        net.node_mut(stranger).machine = tests::raknet::endpoint(Config::client(), seed);
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::Banned);
        pair.run_for(net, secs(60));
        pair.establish(net, patient());
    });
}

#[test]
fn sessions_from_one_address_are_limited_in_number_where_asked() {
    scenario("sessions_from_one_address_are_limited_in_number_where_asked", 0..2, |net| {
        let server =
            server_with(IncomingConfig { max_connections_per_ip: Some(2), ..IncomingConfig::default() });
        let server = Party::new(add_endpoint(net, server));
        let mut outcomes = vec![];
        for port in 1..=3 {
            let seed = net.machine_seed();
            let address = SocketAddr::from(([10, 1, 1, 1], port));
            let node = net.add_node_at(address, tests::raknet::endpoint(Config::client(), seed));
            let mut client = Party::new(node);
            client.connect(net, server.node, patient());
            net.run_for(secs(1));
            client.serve(net);
            outcomes.push((client.sessions.len(), client.failures()));
        }
        assert_eq!(outcomes[..2], [(1, vec![]), (1, vec![])]);
        assert_eq!(outcomes[2], (0, vec![ConnectFailure::NoFreeIncomingConnections]));
    });
}

#[test]
fn an_address_that_connected_a_moment_ago_is_told_where_asked() {
    scenario("an_address_that_connected_a_moment_ago_is_told_where_asked", 0..2, |net| {
        let incoming = IncomingConfig { min_interval_per_ip: Some(secs(5)), ..IncomingConfig::default() };
        let mut pair = Pair::connected_with(net, server_with(incoming), Config::client());
        pair.client.disconnect(net, pair.to_server());
        pair.run_for(net, secs(1));
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::IpRecentlyConnected);
        pair.run_for(net, secs(5));
        pair.establish(net, patient());
    });
}

#[test]
fn the_right_password_opens_and_a_wrong_one_is_told() {
    for (given, opens) in [(&b"sesame"[..], true), (b"", false), (b"sesam", false), (b"sesame ", false)] {
        scenario("the_right_password_opens_and_a_wrong_one_is_told", 0..4, |net| {
            net.set_paths(&Conditions::lossy(ms(20), 0.1));
            let incoming = IncomingConfig { password: b"sesame"[..].into(), ..IncomingConfig::default() };
            let mut pair = Pair::strangers(net, server_with(incoming), Config::client());
            let options = ConnectOptions { password: given.into(), ..patient() };
            if opens {
                pair.establish(net, options);
            } else {
                assert_eq!(fail_to_connect(net, &mut pair, options), ConnectFailure::InvalidPassword);
                pair.run_for(net, secs(20));
                assert!(pair.server.events.is_empty());
                assert!(
                    net.node(pair.server.node).machine.is_idle()
                        && net.node(pair.client.node).machine.is_idle()
                );
            }
        });
    }
}

#[test]
fn another_protocol_version_is_refused_with_the_servers() {
    scenario("another_protocol_version_is_refused_with_the_servers", 0..2, |net| {
        let incoming = IncomingConfig {
            protocol_versions: vec![ProtocolVersion(11), ProtocolVersion(10)],
            ..IncomingConfig::default()
        };
        let mut pair = Pair::strangers(net, server_with(incoming), Config::client());
        let options = ConnectOptions { protocol_version: ProtocolVersion(9), ..patient() };
        let server = ProtocolVersion(11);
        assert_eq!(
            fail_to_connect(net, &mut pair, options),
            ConnectFailure::IncompatibleProtocolVersion { server }
        );
        pair.establish(net, ConnectOptions { protocol_version: ProtocolVersion(10), ..patient() });
        assert_eq!(pair.server.sessions[&pair.to_client()].protocol_version, ProtocolVersion(10));
    });
}

#[test]
fn sessions_open_with_cookies_off_too_and_the_version_is_known() {
    scenario("sessions_open_with_cookies_off_too_and_the_version_is_known", 0..8, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.2));
        let incoming = IncomingConfig { cookies: false, ..IncomingConfig::default() };
        let pair = Pair::connected_with(net, server_with(incoming), Config::client());
        assert_eq!(pair.server.sessions[&pair.to_client()].protocol_version, ProtocolVersion(11));
    });
}

#[test]
fn one_endpoint_accepts_and_connects_at_the_same_time() {
    scenario("one_endpoint_accepts_and_connects_at_the_same_time", 0..4, |net| {
        let nodes = [0; 3].map(|_| add_endpoint(net, Config::default()));
        let mut parties = nodes.map(Party::new);
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            parties[from].connect(net, parties[to].node, patient());
        }
        net.run_for(secs(1));
        for party in &mut parties {
            party.serve(net);
            let roles: Vec<Role> = party.sessions.values().map(|info| info.role).collect();
            assert!(roles.contains(&Role::Client) && roles.contains(&Role::Server) && roles.len() == 2);
        }
    });
}

#[test]
fn two_endpoints_that_connect_to_each_other_at_once_come_to_an_end() {
    scenario("two_endpoints_that_connect_to_each_other_at_once_come_to_an_end", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::strangers(net, Config::default(), Config::default());
        pair.client.connect(net, pair.server.node, patient());
        pair.server.connect(net, pair.client.node, patient());
        pair.run_for(net, secs(40));
        let outcomes =
            [&pair.client, &pair.server].map(|party| party.sessions.len() + party.failures().len());
        assert_eq!(outcomes, [1, 1], "client {:?}, server {:?}", pair.client.events, pair.server.events);
        assert_eq!(pair.client.sessions.len(), pair.server.sessions.len());
    });
}

#[test]
fn a_ping_tells_round_trip_identity_and_motd() {
    scenario("a_ping_tells_round_trip_identity_and_motd", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(35)));
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        let guid = net.node(pair.server.node).machine.guid();
        let motd = Motd::new("A server", 1, "1.0");
        net.command(pair.server.node, |server, _| server.set_pong_data(motd.to_pong_data().unwrap()))
            .unwrap();
        let to = net.address(pair.server.node);
        net.command(pair.client.node, |client, now| client.ping(now, to, false)).unwrap();
        pair.run_for(net, secs(1));
        let [Event::Pong { from, guid: told, rtt, data }] = &pair.client.events[..] else {
            panic!("{:?}", pair.client.events)
        };
        assert_eq!((*from, *told, *rtt), (to, guid, ms(70)));
        assert_eq!(Motd::parse(data).unwrap().name, "A server");
    });
}

#[test]
fn messages_outside_sessions_arrive_with_their_senders_identity() {
    scenario("messages_outside_sessions_arrive_with_their_senders_identity", 0..2, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        let (from, to) = (net.address(pair.client.node), net.address(pair.server.node));
        let guid = net.node(pair.client.node).machine.guid();
        net.command(pair.client.node, |client, _| {
            client.send_out_of_band(to, b"psst").unwrap();
            client.advertise(to, b"here").unwrap();
            assert!(client.send_out_of_band(to, &[0; 400]).is_err());
        });
        pair.run_for(net, secs(1));
        let expected = [&b"psst"[..], b"\x1dhere"].map(|payload| Event::OutOfBand {
            from,
            guid,
            payload: payload.into(),
        });
        assert_eq!(pair.server.events, expected);
    });
}

#[test]
fn a_filter_decides_what_is_read_at_all() {
    scenario("a_filter_decides_what_is_read_at_all", 0..2, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        net.command(pair.server.node, |server, _| {
            server.set_filter(Some(Box::new(
                |_, data| if data[0] == 0x05 { Verdict::Drop } else { Verdict::Pass },
            )));
        });
        assert_eq!(fail_to_connect(net, &mut pair, patient()), ConnectFailure::NoAnswer);
        assert!(net.node(pair.server.node).machine.stats().drops.filtered > 10);
        net.command(pair.server.node, |server, _| server.set_filter(None));
        pair.establish(net, patient());
    });
}

#[test]
fn an_attempt_can_be_cancelled() {
    scenario("an_attempt_can_be_cancelled", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(50)));
        for after in [ms(10), ms(120), ms(220), ms(270)] {
            let mut pair = Pair::strangers(net, Config::default(), Config::client());
            let peer = pair.client.connect(net, pair.server.node, patient());
            pair.run_for(net, after);
            pair.client.disconnect(net, peer);
            pair.run_for(net, secs(30));
            assert_eq!(pair.client.failures(), [ConnectFailure::Cancelled], "after {after:?}");
            assert_eq!(pair.client.events.len(), 1);
            assert!(
                net.node(pair.server.node).machine.is_idle() && net.node(pair.client.node).machine.is_idle()
            );
        }
    });
}

#[test]
fn a_chosen_guid_is_the_one_that_peers_see() {
    scenario("a_chosen_guid_is_the_one_that_peers_see", 0..1, |net| {
        let client = Config { guid: Some(Guid(42)), ..Config::client() };
        let pair = Pair::connected_with(net, Config::default(), client);
        assert_eq!(pair.server.sessions[&pair.to_client()].guid, Guid(42));
    });
}
