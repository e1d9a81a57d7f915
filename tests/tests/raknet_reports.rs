//! What users of other implementations ran into, one test for each of their reports (by its number in the protocol notes).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{Bottleneck, Conditions, Fate, scenario};
use proto_core::{Reader, Rng, U24};
use proto_raknet::{
    Channel, CloseReason, Config, ConnectOptions, Event, Guid, IncomingConfig, Motd, PeerStats, Reliability,
    SOCKET,
    wire::{
        AckKind, AckRecords, Connected, ConnectionRequest, DataHeader, DatagramKind, DatagramNumber,
        DisconnectionNotification, Frame, NumberRange, Offline, OpenConnectionReply1, OpenConnectionReply2,
        OpenConnectionRequest2, Order, OrderingIndex, ProtocolVersion, ReliableIndex, SplitId, SplitPart,
        UnconnectedPing, emit_records,
    },
};
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};
use tests::raknet::{Hand, Net, Pair, Party, add_endpoint, ms, numbered, numbers, raw_frame, secs};

const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)), 4_000);

/// A server and a client written by hand that has a session with it.
fn served(net: &mut Net) -> (Party, Hand) {
    served_with(net, Config::default())
}

fn served_with(net: &mut Net, config: Config) -> (Party, Hand) {
    let mut server = Party::new(add_endpoint(net, config));
    let mut hand = Hand::new(net, server.node, ADDRESS);
    hand.connect(net);
    server.serve(net);
    assert_eq!(server.sessions.len(), 1);
    (server, hand)
}

fn stats(net: &Net, server: &Party) -> PeerStats {
    server.stats(net, server.session())
}

fn records(kind: AckKind, ranges: &[(u32, u32)]) -> Vec<u8> {
    let mut datagram = Vec::new();
    let ranges =
        ranges.iter().map(|&(first, last)| NumberRange { first: U24::new(first), last: U24::new(last) });
    emit_records(kind, ranges, usize::MAX, &mut datagram);
    datagram
}

fn part(id: u16, count: u32, index: u32, payload: &[u8]) -> Frame<'_> {
    Frame {
        split: Some(SplitPart { count, id: SplitId(id), index }),
        ..raw_frame(payload, Reliability::Reliable)
    }
}

/// Sends a frame under the next reliable number.
fn send_reliable(net: &mut Net, hand: &mut Hand, frame: Frame<'_>) {
    let reliable = ReliableIndex(U24::new(hand.next_reliable));
    hand.next_reliable += 1;
    hand.send_frames(net, &[Frame { reliable, ..frame }]);
}

/// Bytes of all datagrams from one address to another.
fn bytes_between(net: &Net, from: SocketAddr, to: SocketAddr) -> usize {
    net.trace()
        .datagrams()
        .filter(|record| record.from == from && record.to == to)
        .map(|record| record.data.len())
        .sum()
}

/// Report 1 (RakNet #102, SLikeNet #32) and 5 (Pumpkin #2314).
#[test]
fn an_ack_of_the_whole_number_space_costs_nothing() {
    scenario("an_ack_of_the_whole_number_space_costs_nothing", 0..1, |net| {
        let (mut server, hand) = served(net);
        for kind in [AckKind::Ack, AckKind::Nack] {
            let flood = records(kind, &[(0, 0x00ff_fffe); 200]);
            // An implementation that walks through the numbers would walk through 6.7 * 10^12 of them here.
            for _ in 0..2_000 {
                hand.send(net, flood.clone());
            }
        }
        server.serve(net);
        assert!(server.closes().is_empty());
        assert!(hand.take(net).len() < 100, "and draws hardly an answer");
    });
}

/// Reports 2 (RakNet #143), 5 (Pumpkin #2314) and 7 (Network #58).
#[test]
fn a_fragment_that_announces_billions_reserves_nothing() {
    scenario("a_fragment_that_announces_billions_reserves_nothing", 0..1, |net| {
        let (mut server, mut hand) = served(net);
        for (id, count) in (0..).zip([u32::MAX, u32::MAX - 1, 1 << 24, 8_193]) {
            send_reliable(net, &mut hand, part(id, count, 0, b"x"));
        }
        send_reliable(net, &mut hand, part(9, u32::MAX, u32::MAX - 1, b"x"));
        assert_eq!(stats(net, &server).totals.invalid_splits, 5);
        server.serve(net);
        assert!(server.closes().is_empty());
        hand.send_message(net, &numbered(1, 10).payload, Reliability::Reliable);
        server.serve(net);
        assert_eq!(numbers(server.messages()), [1]);
    });
}

/// Report 3 (CrabNet #20).
#[test]
fn a_second_fragment_with_another_count_is_dropped_and_the_message_still_completes() {
    scenario(
        "a_second_fragment_with_another_count_is_dropped_and_the_message_still_completes",
        0..1,
        |net| {
            let (mut server, mut hand) = served(net);
            let payload = numbered(1, 30).payload;
            send_reliable(net, &mut hand, part(1, 3, 0, &payload[..10]));
            send_reliable(net, &mut hand, part(1, 2, 1, b"bad count"));
            send_reliable(net, &mut hand, part(1, 5_000, 4_000, b"bad index"));
            send_reliable(net, &mut hand, part(1, 3, 1, &payload[10..20]));
            send_reliable(net, &mut hand, part(1, 3, 2, &payload[20..]));
            server.serve(net);
            assert_eq!(numbers(server.messages()), [1]);
            assert_eq!(stats(net, &server).totals.invalid_splits, 2);
        },
    );
}

/// Report 4 (RakNet PR #139) and 22 (Pumpkin #2198: frames longer than their datagram).
#[test]
fn a_datagram_cut_off_anywhere_is_counted_and_harmless() {
    scenario("a_datagram_cut_off_anywhere_is_counted_and_harmless", 0..1, |net| {
        let (mut server, mut hand) = served(net);
        let mut whole = Vec::new();
        let number = DatagramNumber(U24::new(hand.next_datagram));
        DataHeader { continuous_send: false, number }.emit(&mut whole);
        part(1, 3, 0, b"payload of a fragment").emit(&mut whole);
        for len in 1..whole.len() {
            hand.send(net, whole[..len].to_vec());
        }
        for record in [records(AckKind::Ack, &[(1, 5), (7, 7)]), records(AckKind::Nack, &[(1, 5)])] {
            for len in 1..record.len() {
                hand.send(net, record[..len].to_vec());
            }
        }
        hand.next_datagram += 1;
        hand.send_message(net, &numbered(1, 10).payload, Reliability::Reliable);
        server.serve(net);
        assert_eq!(numbers(server.messages()), [1]);
        assert!(stats(net, &server).totals.malformed > 10);
    });
}

/// Report 6 (go-raknet #29): 97 MB a connection there.
#[test]
fn splits_that_are_never_finished_stay_within_their_bounds() {
    scenario("splits_that_are_never_finished_stay_within_their_bounds", 0..1, |net| {
        let mut config = Config::default();
        config.session.max_splits = 16;
        config.session.max_split_bytes = 100_000;
        let (mut server, mut hand) = served_with(net, config);
        let filler = [7; 1_400];
        for id in 0..256 {
            for index in 0..20 {
                send_reliable(net, &mut hand, part(id, 255, index, &filler));
            }
        }
        let totals = stats(net, &server).totals;
        assert!(totals.refused_full > 4_000, "{} were not taken", totals.refused_full);
        net.run_for(secs(31));
        server.serve(net);
        assert!(stats_or_closed(net, &server), "the unfinished are given up, or the silent client is");
    });
}

fn stats_or_closed(net: &Net, server: &Party) -> bool {
    match server.sessions.keys().next() {
        Some(&peer) => server.stats(net, peer).totals.splits_timed_out == 16,
        None => server.closes() == [CloseReason::Timeout],
    }
}

/// Report 8 (RakLib #145).
#[test]
fn a_message_of_a_thousand_fragments_arrives() {
    scenario("a_message_of_a_thousand_fragments_arrives", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        pair.client_sends(net, [numbered(1, 1_440 * 1_000)]);
        assert!(pair.run_until(net, secs(20), |pair| numbers(pair.server.messages()) == [1]));
    });
}

/// Report 9 (Geyser PR #4554, Network #38, #59).
#[test]
fn a_spoofed_address_draws_less_than_it_sends_and_no_state_is_kept_for_it() {
    scenario("a_spoofed_address_draws_less_than_it_sends_and_no_state_is_kept_for_it", 0..2, |net| {
        let server = Party::new(add_endpoint(net, Config::default()));
        let hand = Hand::new(net, server.node, ADDRESS);
        let to = net.address(server.node);
        // The victim's address is forged: whoever sends does not see the cookie, so it guesses.
        for guess in 0..200 {
            hand.request1(net);
            hand.send(net, hand.request2_bytes(net, Some(guess)));
            let mut request = Vec::new();
            DataHeader { continuous_send: false, number: DatagramNumber(U24::ZERO) }.emit(&mut request);
            let mut payload = Vec::new();
            Connected::Request(ConnectionRequest { guid: hand.guid, time: 0, password: b"" })
                .emit(&mut payload);
            raw_frame(&payload, Reliability::Reliable).emit(&mut request);
            hand.send(net, request);
        }
        net.run_for(secs(20));
        let (sent, drawn) = (bytes_between(net, ADDRESS, to), bytes_between(net, to, ADDRESS));
        assert!(drawn * 10 < sent, "{drawn} bytes were drawn by {sent}");
        let stats = net.node(server.node).machine.stats();
        assert_eq!((stats.peers, stats.drops.bad_cookie), (0, 200));
    });
}

/// Report 9: with cookies off, the price is bounded.
#[test]
fn without_cookies_a_spoofed_handshake_draws_a_bounded_amount() {
    scenario("without_cookies_a_spoofed_handshake_draws_a_bounded_amount", 0..2, |net| {
        let mut config = Config::default();
        config.incoming.cookies = false;
        let server = Party::new(add_endpoint(net, config));
        let mut hand = Hand::new(net, server.node, ADDRESS);
        let to = net.address(server.node);
        hand.open(net);
        let opening = bytes_between(net, to, ADDRESS);
        let request = Connected::Request(ConnectionRequest { guid: hand.guid, time: 0, password: b"" });
        for _ in 0..100 {
            hand.send_control(net, &request, Reliability::Reliable);
            net.run_for(ms(100));
        }
        net.run_for(secs(20));
        let drawn = bytes_between(net, to, ADDRESS) - opening;
        let sent = bytes_between(net, ADDRESS, to);
        assert!(drawn < 4 * sent, "{drawn} bytes were drawn by {sent}");
        assert_eq!(net.node(server.node).machine.stats().peers, 0, "and the session is gone in the end");
    });
}

/// The other amplifiers: pongs and refusals.
#[test]
fn pongs_and_refusals_amplify_little_and_are_limited() {
    scenario("pongs_and_refusals_amplify_little_and_are_limited", 0..1, |net| {
        let mut config = Config::default();
        config.incoming.offline_messages_per_ip = Some(50);
        config.incoming.pong_data = vec![b'x'; 120].into();
        let server = Party::new(add_endpoint(net, config));
        let hand = Hand::new(net, server.node, ADDRESS);
        let to = net.address(server.node);
        let mut ping = Vec::new();
        UnconnectedPing { open_only: false, time: 1, guid: Some(Guid(1)) }.emit(&mut ping);
        for _ in 0..1_000 {
            hand.send(net, ping.clone());
        }
        assert_eq!(hand.take(net).len(), 50);
        let ip = ADDRESS.ip();
        net.command(server.node, |server, now| server.ban(now, ip, None));
        net.run_for(secs(1));
        for _ in 0..1_000 {
            hand.send(net, ping.clone());
        }
        assert!(hand.take(net).len() <= 50, "bans are told, but not to every datagram");
        assert!(bytes_between(net, to, ADDRESS) < bytes_between(net, ADDRESS, to));
    });
}

/// Reports 10 (go-raknet #31) and 12 (JRakNet #66, RakLib #245): a client works with both kinds of server.
#[test]
fn cookies_can_be_switched_off_and_clients_manage_either_way() {
    for cookies in [true, false] {
        scenario("cookies_can_be_switched_off_and_clients_manage_either_way", 0..4, |net| {
            net.set_paths(&Conditions::delayed(ms(20)));
            let incoming = IncomingConfig { cookies, ..IncomingConfig::default() };
            let pair = Pair::connected_with(net, Config { incoming, ..Config::default() }, Config::client());
            let replies = net.trace().datagrams().filter(|record| record.data[0] == 0x06);
            let lens: BTreeSet<usize> = replies.map(|record| record.data.len()).collect();
            assert_eq!(lens, BTreeSet::from([if cookies { 32 } else { 28 }]));
            assert!(pair.is_established());
        });
    }
}

/// A client of ours, and a server written by hand at an address of its own.
fn connecting_client(net: &mut Net) -> (Party, SocketAddr) {
    let client = Party::new(add_endpoint(net, Config::client()));
    net.open_mailbox(ADDRESS);
    net.command(client.node, |client, now| client.connect(now, ADDRESS, ConnectOptions::default())).unwrap();
    net.run_for(ms(1));
    (client, ADDRESS)
}

fn reply1(net: &mut Net, client: &Party, reply: OpenConnectionReply1) {
    let mut datagram = Vec::new();
    reply.emit(&mut datagram);
    net.inject(client.node, SOCKET, ADDRESS, datagram);
    net.run_for(ms(1));
}

/// The OpenConnectionRequest2s that arrived at the hand-written server.
fn requests2(net: &mut Net, with_cookie: bool) -> Vec<OpenConnectionRequest2> {
    let mail = net.take_mail(ADDRESS);
    let parsed = mail.iter().filter_map(|(_, data)| match Offline::classify(data, with_cookie) {
        Some(Ok(Offline::Request2(request))) => Some(request),
        _ => None,
    });
    parsed.collect()
}

/// Report 11 (go-raknet PR #60).
#[test]
fn a_second_first_reply_with_a_new_cookie_is_used_at_once() {
    scenario("a_second_first_reply_with_a_new_cookie_is_used_at_once", 0..1, |net| {
        let (client, _) = connecting_client(net);
        for cookie in [111, 222] {
            reply1(net, &client, OpenConnectionReply1 { guid: Guid(5), cookie: Some(cookie), mtu: 1_492 });
            assert_eq!(requests2(net, true).last().and_then(|request| request.cookie), Some(cookie));
        }
        net.run_for(ms(500));
        let repeated = requests2(net, true);
        assert!(!repeated.is_empty() && repeated.iter().all(|request| request.cookie == Some(222)));
    });
}

/// Report 10: what OVH's protection sends first.
#[test]
fn a_nonsense_first_reply_does_not_spoil_the_true_one() {
    scenario("a_nonsense_first_reply_does_not_spoil_the_true_one", 0..1, |net| {
        let (mut client, server) = connecting_client(net);
        reply1(net, &client, OpenConnectionReply1 { guid: Guid(0), cookie: Some(1), mtu: 0 });
        reply1(net, &client, OpenConnectionReply1 { guid: Guid(5), cookie: Some(2), mtu: 1_400 });
        assert_eq!(
            requests2(net, true).last().map(|request| (request.cookie, request.mtu)),
            Some((Some(2), 1_400))
        );
        let mut reply = Vec::new();
        let address = net.address(client.node);
        OpenConnectionReply2 { guid: Guid(5), client: address, mtu: 1_400, security: false }.emit(&mut reply);
        net.inject(client.node, SOCKET, server, reply);
        net.run_for(ms(1));
        client.serve(net);
        assert!(client.failures().is_empty());
        let data = net
            .take_mail(ADDRESS)
            .into_iter()
            .any(|(_, data)| DatagramKind::of(data[0]) == Some(DatagramKind::Data));
        assert!(data, "the ConnectionRequest is on its way");
    });
}

/// Report 13 (Network #66, #69).
#[test]
fn the_protocol_version_is_known_with_and_without_cookies() {
    for cookies in [true, false] {
        scenario("the_protocol_version_is_known_with_and_without_cookies", 0..2, |net| {
            let incoming = IncomingConfig { cookies, ..IncomingConfig::default() };
            let mut pair = Pair::strangers(net, Config { incoming, ..Config::default() }, Config::client());
            pair.establish(
                net,
                ConnectOptions { protocol_version: ProtocolVersion(8), ..ConnectOptions::default() },
            );
            assert_eq!(pair.server.sessions[&pair.to_client()].protocol_version, ProtocolVersion(8));
        });
    }
}

/// Report 14 (WaterdogPE #273).
#[test]
fn a_retried_second_request_gets_the_same_reply_until_the_connection_request() {
    scenario("a_retried_second_request_gets_the_same_reply_until_the_connection_request", 0..1, |net| {
        let server = Party::new(add_endpoint(net, Config::default()));
        let hand = Hand::new(net, server.node, ADDRESS);
        let cookie = hand.request1(net).unwrap().cookie;
        let replies: Vec<_> =
            (0..5).map(|_| hand.request2(net, cookie).expect("never AlreadyConnected")).collect();
        assert!(replies.iter().all(|reply| *reply == replies[0]));
        assert_eq!(net.node(server.node).machine.stats().peers, 1);
    });
}

/// Report 14, as the client lives it: half a second of delay.
#[test]
fn a_client_half_a_second_away_gets_in() {
    scenario("a_client_half_a_second_away_gets_in", 0..4, |net| {
        net.set_paths(&Conditions { jitter: ms(100), ..Conditions::delayed(ms(500)) });
        Pair::connected(net);
    });
}

/// Report 15 (RakLib #105, #120; PocketMine #4311).
#[test]
fn a_quick_rejoin_is_let_in_while_the_old_session_still_ends() {
    scenario("a_quick_rejoin_is_let_in_while_the_old_session_still_ends", 0..4, |net| {
        let (mut server, mut hand) = served(net);
        let old = server.session();
        server.send(net, old, (0..50).map(|n| numbered(n, 1_000)));
        hand.send_control(
            net,
            &Connected::Disconnection(DisconnectionNotification),
            Reliability::ReliableOrdered,
        );
        hand.take(net);
        net.run_for(ms(50));
        let after = hand.take_messages(net);
        assert!(after.is_empty(), "the server goes on to a client that has said goodbye: {after:?}");
        let mut again = Hand::new(net, server.node, ADDRESS);
        again.guid = hand.guid;
        again.connect(net);
        server.serve(net);
        assert_eq!(server.closes(), [CloseReason::PeerClose]);
        assert!(server.session() != old);
    });
}

/// Report 16 (RakLib #32, go-raknet PR #63).
#[test]
fn sixteen_mebibytes_to_a_slow_client_arrive_without_a_storm() {
    scenario("sixteen_mebibytes_to_a_slow_client_arrive_without_a_storm", 0..2, |net| {
        let bottleneck = Bottleneck { bits_per_second: 20_000_000, queue_bytes: 64_000 };
        net.set_paths(&Conditions { bottleneck: Some(bottleneck), ..Conditions::delayed(ms(25)) });
        let mut pair = Pair::connected(net);
        pair.server_sends(net, (0..16).map(|n| numbered(n, 1 << 20)));
        assert!(pair.run_until(net, secs(60), |pair| pair.client.received.len() == 16));
        assert_eq!(numbers(pair.client.messages()), (0..16).collect::<Vec<_>>());
        let totals = pair.server.stats(net, pair.to_client()).totals;
        let share = totals.datagrams_lost as f64 / totals.data_datagrams_sent as f64;
        assert!(share < 0.1, "{share} of all datagrams were sent in vain");
    });
}

/// Report 17 (Network #27, Geyser #2920).
#[test]
fn what_was_received_is_never_reported_missing() {
    scenario("what_was_received_is_never_reported_missing", 0..8, |net| {
        let (_, hand) = served(net);
        let base = hand.next_datagram;
        let mut order: Vec<u32> = (0..200).collect();
        let mut rng = Rng::from_u64(net.entropy().below(1 << 32));
        for at in 0..order.len() {
            let other = (at + rng.below(4) as usize).min(order.len() - 1);
            order.swap(at, other);
        }
        let mut received = BTreeSet::new();
        for n in order {
            let number = base + n;
            for _ in 0..=rng.below(2) {
                hand.send_numbered(net, number, &[raw_frame(b"\xfe", Reliability::Unreliable)]);
            }
            received.insert(number);
            for datagram in hand.take(net) {
                let Ok((AckKind::Nack, records)) = AckRecords::parse(&mut Reader::new(&datagram)) else {
                    continue;
                };
                for record in records.map(Result::unwrap) {
                    let named = record.first.get()..=record.last.get();
                    assert!(named.clone().all(|n| !received.contains(&n)), "{named:?} was reported missing");
                }
            }
        }
    });
}

/// Report 18 (RakLib #54).
#[test]
fn a_nack_does_not_bring_unreliable_messages_back() {
    scenario("a_nack_does_not_bring_unreliable_messages_back", 0..2, |net| {
        let (mut server, hand) = served(net);
        hand.take(net);
        let session = server.session();
        server.send(net, session, [numbered(1, 50).reliability(Reliability::Unreliable)]);
        server.send(net, session, [numbered(2, 50).reliability(Reliability::Reliable)]);
        hand.take(net);
        hand.send(net, records(AckKind::Nack, &[(0, 100)]));
        let again: Vec<Vec<u8>> = hand.take_messages(net);
        assert!(again.contains(&numbered(2, 50).payload.to_vec()));
        assert!(!again.contains(&numbered(1, 50).payload.to_vec()));
    });
}

/// Report 19 (RakLib #124).
#[test]
fn an_unreliable_message_in_fragments_is_made_reliable() {
    scenario("an_unreliable_message_in_fragments_is_made_reliable", 0..4, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.3));
        let mut pair = Pair::connected(net);
        pair.client_sends(net, [numbered(1, 30_000).reliability(Reliability::Unreliable)]);
        assert!(pair.run_until(net, secs(30), |pair| numbers(pair.server.messages()) == [1]));
    });
}

/// Report 20 (RakLib #27, rust-raknet #12, JRakNet #35, #109, #111).
#[test]
fn every_sequenced_message_arrives_when_none_overtakes() {
    for mode in [Reliability::UnreliableSequenced, Reliability::ReliableSequenced] {
        scenario("every_sequenced_message_arrives_when_none_overtakes", 0..2, |net| {
            net.set_paths(&Conditions::delayed(ms(20)));
            let mut pair = Pair::connected(net);
            let message =
                |n: u32| numbered(n, 50).reliability(mode).channel(Channel::new(n as u8 % 4).unwrap());
            pair.client_sends(net, (0..100).map(message));
            pair.run_for(net, secs(2));
            let mut arrived = numbers(pair.server.messages());
            arrived.sort_unstable();
            assert_eq!(arrived, (0..100).collect::<Vec<_>>(), "{mode:?}");
        });
    }
}

/// Report 21 (go-raknet #7, #8).
#[test]
fn handshakes_that_stall_do_not_keep_others_out() {
    scenario("handshakes_that_stall_do_not_keep_others_out", 0..2, |net| {
        let mut server = Party::new(add_endpoint(net, Config::default()));
        for port in 1..=100 {
            Hand::new(net, server.node, SocketAddr::new(ADDRESS.ip(), port)).open(net);
        }
        let client = Party::new(add_endpoint(net, Config::client()));
        client.connect(net, server.node, ConnectOptions::default());
        net.run_for(ms(10));
        server.serve(net);
        assert_eq!(server.sessions.len(), 1, "the one that finishes is in at once");
    });
}

/// Report 22 (go-raknet #9, #26; JRakNet #24, #95, #100; RakLib #2; Steadfast2 #347).
#[test]
fn no_datagram_exceeds_the_agreed_mtu() {
    for mtu in [400, 576, 1_200, 1_492] {
        scenario("no_datagram_exceeds_the_agreed_mtu", 0..1, |net| {
            let mut pair =
                Pair::strangers(net, Config { max_mtu: mtu, ..Config::default() }, Config::client());
            pair.establish(net, ConnectOptions { mtu_candidates: vec![mtu], ..ConnectOptions::default() });
            net.trace_mut().clear();
            let around = usize::from(mtu) - 80..usize::from(mtu) + 40;
            let mut count = 0;
            for mode in Reliability::ALL {
                pair.client_sends(net, around.clone().map(|len| numbered(len as u32, len).reliability(mode)));
                count += around.len();
                pair.run_for(net, secs(2));
            }
            assert_eq!(pair.server.received.len(), count);
            let longest = net.trace().datagrams().map(|record| record.data.len()).max();
            assert_eq!(longest, Some(usize::from(mtu) - 28), "full, but not too long");
            assert!(net.trace().datagrams().all(|record| record.fate == Fate::Sent));
        });
    }
}

/// Report 23 (rust-raknet #2).
#[test]
fn no_unexpected_datagram_breaks_anything() {
    scenario("no_unexpected_datagram_breaks_anything", 0..4, |net| {
        let mut rng = Rng::from_u64(net.entropy().below(1 << 32));
        let mut pair = Pair::connected(net);
        let (client, server) = (net.address(pair.client.node), net.address(pair.server.node));
        for first in 0..=u8::MAX {
            for len in [1, 2, 24, 25, 33, 100, 1_464] {
                let mut data = vec![0; len];
                rng.fill(&mut data);
                data[0] = first;
                if len > 40 {
                    let at = [1, 9, 17][rng.below(3) as usize];
                    data[at..at + 16].copy_from_slice(&proto_raknet::wire::MAGIC);
                }
                net.inject(pair.server.node, SOCKET, client, data.clone());
                net.inject(pair.client.node, SOCKET, server, data.clone());
                net.inject(pair.server.node, SOCKET, ADDRESS, data);
            }
            pair.run_for(net, ms(1));
        }
        pair.run_for(net, secs(20));
        assert!(pair.is_established(), "{:?} {:?}", pair.client.events, pair.server.events);
    });
}

/// Report 24 (rust-raknet #8; JRakNet #160; bedrock-protocol #295).
#[test]
fn both_sides_choose_their_protocol_versions() {
    for version in 6..=11 {
        scenario("both_sides_choose_their_protocol_versions", 0..1, |net| {
            let version = ProtocolVersion(version);
            let incoming = IncomingConfig { protocol_versions: vec![version], ..IncomingConfig::default() };
            let mut pair = Pair::strangers(net, Config { incoming, ..Config::default() }, Config::client());
            pair.establish(net, ConnectOptions { protocol_version: version, ..ConnectOptions::default() });
        });
    }
}

/// Report 25 (RakLib #57, BedrockConnect #487).
#[test]
fn a_hundred_players_behind_one_address_play_undisturbed() {
    scenario("a_hundred_players_behind_one_address_play_undisturbed", 0..1, |net| {
        let mut server = Party::new(add_endpoint(net, Config::default()));
        server.echoes = true;
        let mut players: Vec<Party> = (0..100)
            .map(|n| {
                let seed = net.machine_seed();
                let address = SocketAddr::from(([127, 0, 0, 1], 10_000 + n));
                Party::new(net.add_node_at(address, tests::raknet::endpoint(Config::client(), seed)))
            })
            .collect();
        for player in &players {
            player.connect(net, server.node, ConnectOptions::default());
        }
        net.run_for(ms(100));
        for round in 0..50 {
            for player in &mut players {
                player.serve(net);
                let session = player.session();
                player.send(net, session, [numbered(round, 500)]);
            }
            net.run_for(ms(2));
            server.serve(net);
        }
        net.run_for(secs(1));
        server.serve(net);
        net.run_for(secs(1));
        for player in &mut players {
            player.serve(net);
            assert_eq!(player.received.len(), 50, "{:?}", player.events);
        }
    });
}

/// Reports 26 (PocketMine #6710) and 27 (go-raknet #25).
#[test]
fn garbage_from_five_thousand_addresses_leaves_no_trace() {
    scenario("garbage_from_five_thousand_addresses_leaves_no_trace", 0..1, |net| {
        let mut pair = Pair::connected(net);
        let mut rng = Rng::from_u64(1);
        for n in 0..50_000_u32 {
            let from = SocketAddr::from(((n % 5_000 + 0x0b00_0000).to_be_bytes(), 1_000));
            let mut data = vec![0; 40];
            rng.fill(&mut data);
            net.inject(pair.server.node, SOCKET, from, data);
        }
        pair.run_for(net, ms(1));
        let stats = net.node(pair.server.node).machine.stats();
        assert_eq!((stats.peers, stats.datagrams_sent < 1_000), (1, true));
        pair.client_sends(net, [numbered(1, 10)]);
        assert!(pair.run_until(net, secs(1), |pair| pair.server.received.len() == 1));
    });
}

/// Report 28 (gophertunnel #99; bedrock-protocol #599, #343, #414).
#[test]
fn a_lost_ping_can_be_repeated_and_tells_the_right_time() {
    scenario("a_lost_ping_can_be_repeated_and_tells_the_right_time", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(30)));
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        let to = net.address(pair.server.node);
        net.partition_all();
        net.command(pair.client.node, |client, now| client.ping(now, to, false)).unwrap();
        pair.run_for(net, secs(1));
        net.heal_all();
        net.command(pair.client.node, |client, now| client.ping(now, to, false)).unwrap();
        pair.run_for(net, secs(1));
        let [Event::Pong { rtt, .. }] = pair.client.events[..] else { panic!("{:?}", pair.client.events) };
        assert_eq!(rtt, ms(60));
    });
}

/// Reports 29 (node-raknet-native #10) and 30 (JRakNet #4; raknetify #70, #9).
#[test]
fn a_thousand_connects_and_disconnects_leave_nothing_behind() {
    scenario("a_thousand_connects_and_disconnects_leave_nothing_behind", 0..1, |net| {
        net.trace_mut().set_limit(0);
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        for round in 0..1_000 {
            pair.establish(net, ConnectOptions::default());
            assert!(pair.to_client().index() < 2, "numbers are used again");
            if round % 2 == 0 {
                pair.client.disconnect(net, pair.to_server());
            } else {
                pair.server.disconnect(net, pair.to_client());
            }
            assert!(pair.run_until(net, secs(10), |pair| pair.client.sessions.is_empty()
                && pair.server.sessions.is_empty()));
        }
        pair.run_for(net, secs(10));
        for node in [pair.client.node, pair.server.node] {
            let stats = net.node(node).machine.stats();
            assert_eq!((stats.peers, stats.incoming, stats.handshakes), (0, 0, 0));
            assert_eq!(net.next_instant(), None, "not even a deadline is left");
        }
    });
}

/// Report 31 (Network #34, #47).
#[test]
fn a_client_repeats_its_requests_as_often_as_bedrock_does() {
    scenario("a_client_repeats_its_requests_as_often_as_bedrock_does", 0..1, |net| {
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        net.partition_all();
        pair.client.connect(net, pair.server.node, ConnectOptions::default());
        pair.run_for(net, secs(3));
        let sent: Vec<(u64, usize)> = net
            .trace()
            .datagrams()
            .map(|record| (record.at.as_millis() - 1_000_000, record.data.len()))
            .collect();
        let expected = [1_464, 1_464, 1_172, 1_172, 548, 548, 548];
        assert_eq!(sent, (0..).step_by(500).zip(expected).collect::<Vec<_>>());
    });
}

/// Report 32 (Endstone #465).
#[test]
fn a_pong_is_what_a_bedrock_client_looks_for() {
    scenario("a_pong_is_what_a_bedrock_client_looks_for", 0..1, |net| {
        let mut config = Config::default();
        config.incoming.pong_data = Motd::new("My server", 800, "1.21.80").to_pong_data().unwrap().into();
        let server = Party::new(add_endpoint(net, config));
        let hand = Hand::new(net, server.node, ADDRESS);
        let mut ping = Vec::new();
        UnconnectedPing { open_only: false, time: 0x0102_0304, guid: Some(Guid(1)) }.emit(&mut ping);
        hand.send(net, ping);
        let pong = &hand.take(net)[0];
        assert_eq!((pong[0], &pong[1..9]), (0x1c, &0x0102_0304_u64.to_be_bytes()[..]), "the time is echoed");
        let text = &pong[35..];
        assert_eq!(usize::from(u16::from_be_bytes([pong[33], pong[34]])), text.len());
        assert!(text.starts_with(b"MCPE;My server;800;1.21.80;"), "{:?}", String::from_utf8_lossy(text));
    });
}

/// What the notes found in rust-raknet 1.4.0 (its points 3 and 9): one spoofed datagram there kills a session.
#[test]
fn no_single_spoofed_datagram_ends_a_session() {
    scenario("no_single_spoofed_datagram_ends_a_session", 0..2, |net| {
        let mut pair = Pair::connected(net);
        pair.run_for(net, secs(1));
        let (client, server) = (net.address(pair.client.node), pair.server.node);
        let far = |payload: &'static [u8]| {
            let order = Order { index: OrderingIndex(U24::new(70_000)), channel: Channel::ZERO };
            Frame {
                order,
                reliable: ReliableIndex(U24::new(70_000)),
                ..raw_frame(payload, Reliability::ReliableOrdered)
            }
        };
        let mut unreliable_goodbye = Vec::new();
        raw_frame(&[0x15], Reliability::Unreliable).emit(&mut unreliable_goodbye);
        let mut datagrams = vec![vec![0x15], vec![0x15; 20]];
        for (number, frame) in [
            (5, far(b"\xfe")),
            (6, raw_frame(&[0x15], Reliability::Unreliable)),
            (7, part(1, 1 << 30, 5, b"x")),
            (40_000, raw_frame(b"\xfe", Reliability::Unreliable)),
            (0x00f0_0000, raw_frame(b"\xfe", Reliability::Unreliable)),
        ] {
            let mut datagram = Vec::new();
            let number = DatagramNumber(U24::new(number));
            DataHeader { continuous_send: false, number }.emit(&mut datagram);
            frame.emit(&mut datagram);
            datagrams.push(datagram);
        }
        datagrams.push(records(AckKind::Ack, &[(0, 0x00ff_ffff)]));
        datagrams.push(records(AckKind::Nack, &[(0, 0x00ff_ffff)]));
        for datagram in datagrams {
            net.inject(server, SOCKET, client, datagram.clone());
            pair.run_for(net, secs(3));
            assert!(pair.is_established(), "{datagram:02x?} ended the session: {:?}", pair.server.events);
        }
        pair.run_for(net, secs(30));
        assert!(pair.is_established());
    });
}
