//! What arrives, how often and in which order, whatever the path does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

use netsim::{Burst, ClockJump, Conditions, NodeId, scenario, strategy};
use proptest::prelude::*;
use proto_core::Rng;
use proto_raknet::{
    Channel, Config, Event, Message, Priority, ReceiptId, Received, Reliability, wire::MessageId,
};
use std::{collections::BTreeSet, net::SocketAddr};
use tests::raknet::{Net, Pair, ms, numbered, numbers, secs, segments};

/// Paths on which everything reliable must arrive, by name.
fn bad_paths() -> Vec<(&'static str, Conditions)> {
    let base = Conditions::delayed(ms(25));
    vec![
        ("loss of 5 %", Conditions::lossy(ms(25), 0.05)),
        ("loss of 30 %", Conditions::lossy(ms(25), 0.3)),
        ("bursts", Conditions { burst: Some(Burst { enter: 0.02, leave: 0.2, loss: 0.9 }), ..base.clone() }),
        ("reordering", Conditions { reorder: 0.3, reorder_by: ms(30), jitter: ms(10), ..base.clone() }),
        ("duplication", Conditions { duplication: 0.5, ..base.clone() }),
        (
            "everything at once",
            Conditions {
                loss: 0.1,
                burst: Some(Burst { enter: 0.01, leave: 0.3, loss: 0.7 }),
                reorder: 0.2,
                duplication: 0.2,
                jitter: ms(15),
                ..base
            },
        ),
    ]
}

/// Runs a scenario on a connected pair for every bad path and several seeds.
fn on_bad_paths(name: &str, mut body: impl FnMut(&mut Net, &mut Pair)) {
    for (path, conditions) in bad_paths() {
        println!("{path}");
        scenario(name, 0..6, |net| {
            net.set_paths(&conditions);
            // Bursts end with datagrams, not with time: a silent sender's may outlast the usual 10 seconds.
            let (mut server, mut client) = (Config::default(), Config::client());
            server.session.timeout = secs(60);
            client.session.timeout = secs(60);
            let mut pair = Pair::connected_with(net, server, client);
            body(net, &mut pair);
        });
    }
}

fn channel(number: u32) -> Channel {
    Channel::new(number as u8 % 32).unwrap()
}

/// Lengths from one byte over the number to several datagrams.
fn some_len(number: u32) -> usize {
    [5, 20, 100, 1_000, 1_450, 1_451, 5_000][number as usize % 7]
}

fn is_rising(numbers: &[u32]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}

#[test]
fn reliable_ordered_messages_arrive_once_and_in_order_on_every_channel() {
    on_bad_paths("reliable_ordered_messages_arrive_once_and_in_order_on_every_channel", |net, pair| {
        const COUNT: u32 = 400;
        let messages = || (0..COUNT).map(|n| numbered(n, some_len(n)).channel(channel(n % 5)));
        pair.client_sends(net, messages());
        pair.server_sends(net, messages());
        let all =
            |pair: &Pair| [&pair.client, &pair.server].iter().all(|p| p.received.len() == COUNT as usize);
        assert!(pair.run_until(net, secs(120), all), "{} arrived", pair.server.received.len());
        pair.run_for(net, secs(2));
        for party in [&pair.client, &pair.server] {
            for at in 0..5 {
                let of_channel = party.messages().filter(|message| message.channel == channel(at));
                let expected: Vec<u32> = (0..COUNT).filter(|n| n % 5 == at).collect();
                assert_eq!(numbers(of_channel), expected, "channel {at}");
            }
        }
    });
}

#[test]
fn reliable_messages_arrive_exactly_once() {
    on_bad_paths("reliable_messages_arrive_exactly_once", |net, pair| {
        pair.client_sends(net, (0..300).map(|n| numbered(n, some_len(n)).reliability(Reliability::Reliable)));
        assert!(pair.run_until(net, secs(120), |pair| pair.server.received.len() == 300));
        pair.run_for(net, secs(5));
        let mut arrived = numbers(pair.server.messages());
        arrived.sort_unstable();
        assert_eq!(arrived, (0..300).collect::<Vec<_>>());
    });
}

#[test]
fn unreliable_messages_arrive_at_most_once() {
    on_bad_paths("unreliable_messages_arrive_at_most_once", |net, pair| {
        for n in 0..300 {
            pair.client_sends(net, [numbered(n, 100).reliability(Reliability::Unreliable)]);
            pair.run_for(net, ms(2));
        }
        pair.run_for(net, secs(10));
        let arrived = numbers(pair.server.messages());
        let distinct: BTreeSet<u32> = arrived.iter().copied().collect();
        assert_eq!(distinct.len(), arrived.len());
        assert!(distinct.len() > 150, "only {} arrived", distinct.len());
    });
}

#[test]
fn sequenced_messages_never_go_backwards_and_reliable_ones_end_with_the_newest() {
    on_bad_paths(
        "sequenced_messages_never_go_backwards_and_reliable_ones_end_with_the_newest",
        |net, pair| {
            for mode in [Reliability::UnreliableSequenced, Reliability::ReliableSequenced] {
                let before = pair.server.received.len();
                for n in 0..300 {
                    pair.client_sends(net, [numbered(n, 100).reliability(mode).channel(channel(n % 3))]);
                    pair.run_for(net, ms(2));
                }
                pair.run_for(net, secs(60));
                let arrived: Vec<Received> = pair.server.messages().skip(before).cloned().collect();
                for at in 0..3 {
                    let of_channel = numbers(arrived.iter().filter(|message| message.channel == channel(at)));
                    assert!(is_rising(&of_channel), "{mode:?}, channel {at}: {of_channel:?}");
                    if mode == Reliability::ReliableSequenced {
                        assert_eq!(of_channel.last(), Some(&(297 + at)));
                    }
                }
            }
        },
    );
}

#[test]
fn sequenced_and_ordered_messages_of_one_channel_keep_their_order() {
    on_bad_paths("sequenced_and_ordered_messages_of_one_channel_keep_their_order", |net, pair| {
        let mode = |n: u32| {
            if n.is_multiple_of(3) { Reliability::ReliableOrdered } else { Reliability::ReliableSequenced }
        };
        for n in 0..300 {
            pair.client_sends(net, [numbered(n, 100).reliability(mode(n))]);
            pair.run_for(net, ms(1));
        }
        pair.run_for(net, secs(20));
        let arrived = numbers(pair.server.messages());
        assert!(is_rising(&arrived), "{arrived:?}");
        assert!((0..300).step_by(3).all(|n| arrived.contains(&n)), "every ordered one arrives");
    });
}

#[test]
fn a_mebibyte_arrives_whole_over_a_bad_path() {
    on_bad_paths("a_mebibyte_arrives_whole_over_a_bad_path", |net, pair| {
        pair.client_sends(net, [numbered(1, 1 << 20), numbered(2, 10)]);
        assert!(pair.run_until(net, secs(300), |pair| pair.server.received.len() == 2));
        assert_eq!(numbers(pair.server.messages()), [1, 2]);
    });
}

#[test]
fn an_unreliable_message_that_must_be_split_arrives_all_the_same() {
    scenario("an_unreliable_message_that_must_be_split_arrives_all_the_same", 0..8, |net| {
        net.set_paths(&Conditions::lossy(ms(20), 0.2));
        let mut pair = Pair::connected(net);
        let modes =
            [Reliability::Unreliable, Reliability::UnreliableSequenced, Reliability::UnreliableWithReceipt];
        for (n, mode) in (0..).zip(modes) {
            pair.client_sends(net, [numbered(n, 20_000).reliability(mode)]);
            assert!(pair.run_until(net, secs(20), |pair| pair.server.received.len() == n as usize + 1));
            assert_eq!(pair.server.received[n as usize].1.reliability, mode.upgraded().base());
        }
    });
}

#[test]
fn every_receipt_is_told_exactly_once_and_tells_the_truth() {
    on_bad_paths("every_receipt_is_told_exactly_once_and_tells_the_truth", |net, pair| {
        let modes = [
            Reliability::UnreliableWithReceipt,
            Reliability::ReliableWithReceipt,
            Reliability::ReliableOrderedWithReceipt,
        ];
        const COUNT: u32 = 300;
        let mode = |n: u32| modes[n as usize % 3];
        for n in 0..COUNT {
            let len = if n % 10 == 1 { 6_000 } else { 50 };
            pair.client_sends(net, [numbered(n, len).reliability(mode(n))]);
            pair.run_for(net, ms(3));
        }
        assert!(pair.client.has_sent_all());
        pair.run_for(net, secs(60));
        let arrived: BTreeSet<u32> = numbers(pair.server.messages()).into_iter().collect();
        let (mut acked, mut lost) = (vec![], vec![]);
        for event in &pair.client.events {
            match event {
                Event::ReceiptAcked { receipt, .. } => acked.push(*receipt),
                Event::ReceiptLost { receipt, .. } => lost.push(*receipt),
                _ => {}
            }
        }
        let mut told: Vec<ReceiptId> = [&acked[..], &lost[..]].concat();
        told.sort_unstable();
        let mut given = pair.client.receipts.clone();
        given.sort_unstable();
        assert_eq!(told, given);
        for (n, receipt) in (0..COUNT).zip(&pair.client.receipts) {
            if acked.contains(receipt) {
                assert!(arrived.contains(&n), "message {n} was acknowledged but did not arrive");
            } else {
                assert!(!mode(n).is_reliable(), "message {n} is reliable and counts as lost");
            }
        }
    });
}

#[test]
fn open_receipts_are_lost_with_their_session() {
    scenario("open_receipts_are_lost_with_their_session", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        net.partition_all();
        let modes = [Reliability::ReliableWithReceipt, Reliability::ReliableOrderedWithReceipt];
        pair.client_sends(net, (0..200).map(|n| numbered(n, 3_000).reliability(modes[n as usize % 2])));
        let receipts = pair.client.receipts.len();
        pair.run_for(net, secs(30));
        let lost =
            pair.client.events.iter().filter(|event| matches!(event, Event::ReceiptLost { .. })).count();
        assert_eq!(lost, receipts);
        assert!(matches!(pair.client.events.last(), Some(Event::Disconnected { .. })), "the end comes last");
    });
}

#[test]
fn the_content_does_not_depend_on_the_size_of_batches() {
    let run = |max_segments| {
        let mut contents = vec![];
        scenario("the_content_does_not_depend_on_the_size_of_batches", 0..4, |net| {
            net.set_max_segments(segments(max_segments));
            net.set_paths(&Conditions::delayed(ms(10)));
            let mut pair = Pair::connected(net);
            for mode in [Reliability::ReliableOrdered, Reliability::Reliable, Reliability::Unreliable] {
                pair.client_sends(net, (0..200).map(|n| numbered(n, some_len(n)).reliability(mode)));
                pair.run_for(net, secs(10));
            }
            contents.push(numbers(pair.server.messages()));
        });
        contents
    };
    let single = run(1);
    assert!(single.iter().all(|numbers| numbers.len() == 600), "nothing is lost on a good path");
    assert_eq!(single, run(64));
}

#[test]
fn progress_of_long_messages_is_told_part_by_part() {
    scenario("progress_of_long_messages_is_told_part_by_part", 0..2, |net| {
        let mut server = Config::default();
        server.session.split_progress = true;
        let mut pair = Pair::connected_with(net, server, Config::client());
        pair.client_sends(net, [numbered(1, 20_000)]);
        pair.run_for(net, secs(2));
        let progress = pair.server.events.iter().filter_map(|event| match event {
            Event::SplitProgress { parts, total, .. } => Some((*parts, *total)),
            _ => None,
        });
        assert_eq!(progress.collect::<Vec<_>>(), (1..=14).map(|parts| (parts, 14)).collect::<Vec<_>>());
    });
}

#[test]
fn the_time_of_a_message_arrives_in_the_receivers_clock() {
    scenario("the_time_of_a_message_arrives_in_the_receivers_clock", 0..4, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::strangers(net, Config::default(), Config::client());
        net.jump_clock(pair.server.node, ClockJump::Forward(secs(5_000)));
        pair.establish(net, proto_raknet::ConnectOptions::default());
        pair.run_for(net, secs(1));
        let (client, server) = (pair.client.node, pair.server.node);
        let sent_at = net.local_now(server).as_millis();
        let time = net.node(client).machine.timestamp(net.local_now(client));
        let mut payload = vec![MessageId::Timestamp.byte()];
        payload.extend(time.to_be_bytes());
        payload.extend(b"\xfehello");
        pair.client_sends(net, [Message::new(payload)]);
        pair.run_for(net, secs(1));
        let (_, message) = &pair.server.received[0];
        let told = u64::from_be_bytes(message.payload[1..9].try_into().unwrap());
        assert!(told.abs_diff(sent_at) <= 2, "sent at {sent_at}, told {told}");
        assert_eq!(&message.payload[9..], b"\xfehello");
    });
}

#[test]
fn any_first_byte_but_those_of_raknet_itself_arrives() {
    scenario("any_first_byte_but_those_of_raknet_itself_arrives", 0..1, |net| {
        let mut pair = Pair::connected(net);
        let to_server = pair.to_server();
        let mut taken = vec![];
        for first in 0..=u8::MAX {
            let payload = [first, 1, 2, 3, 4, 5, 6, 7, 8, 9];
            let result =
                net.command(pair.client.node, |client, now| client.send(now, to_server, payload.to_vec()));
            if result.is_ok() {
                taken.push(first);
            }
        }
        pair.run_for(net, secs(1));
        let arrived: Vec<u8> = pair.server.messages().map(|message| message.payload[0]).collect();
        assert_eq!(arrived, taken);
        assert_eq!(arrived.len(), 256 - 8, "0x00, 0x03, 0x04, 0x09, 0x10, 0x13, 0x15 and 0x18 are RakNet's");
    });
}

#[test]
fn urgent_messages_overtake_and_lower_priorities_are_not_starved() {
    scenario("urgent_messages_overtake_and_lower_priorities_are_not_starved", 0..2, |net| {
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        let priority =
            |n: u32| [Priority::Low, Priority::Medium, Priority::High, Priority::Immediate][n as usize / 100];
        let messages = (0..400).map(|n| {
            numbered(n, 1_000)
                .reliability(Reliability::Reliable)
                .priority(priority(n))
                .channel(channel(n / 100))
        });
        pair.client_sends(net, messages);
        assert!(pair.run_until(net, secs(20), |pair| pair.server.received.len() == 400));
        let arrived = numbers(pair.server.messages());
        let mean = |priority: u32| {
            let places = arrived.iter().enumerate().filter(|(_, n)| **n / 100 == priority);
            places.map(|(place, _)| place).sum::<usize>() / 100
        };
        assert!(mean(3) < mean(2) && mean(2) < mean(1) && mean(1) < mean(0));
        assert!(arrived[..200].iter().any(|n| n / 100 == 0), "even the lowest gets its share early");
    });
}

#[test]
fn acknowledgements_get_through_beside_the_smallest_datagrams() {
    scenario("acknowledgements_get_through_beside_the_smallest_datagrams", 0..2, |net| {
        net.set_max_segments(segments(64));
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(net);
        net.set_app(
            pair.server.node,
            Box::new(|server, now, event| {
                let Event::Readable { peer } = event else { return };
                while server.recv(peer).is_some() {
                    // Eight bytes on the wire: not even one range of acknowledged numbers is as short.
                    let tiny = Message::new(&b"\xfe"[..]).reliability(Reliability::Unreliable);
                    server.send(now, peer, tiny).unwrap();
                    server.flush(now, peer);
                }
            }),
        );
        for n in 0..200 {
            pair.client_sends(net, [numbered(n, 1_000)]);
            pair.run_for(net, ms(5));
        }
        pair.run_for(net, secs(1));
        assert_eq!(pair.client.received.len(), 200);
        let stats = pair.client.stats(net, pair.to_server());
        assert_eq!(
            (stats.totals.frames_resent, stats.totals.probes),
            (0, 0),
            "every datagram was acknowledged in time"
        );
    });
}

/// What a proptest scenario commands.
#[derive(Clone, Debug)]
struct Say {
    mode: Reliability,
    channel: u8,
    len: usize,
}

fn say() -> impl Strategy<Value = Say> {
    let len = prop_oneof![8 => 5_usize..200, 2 => 1_000_usize..2_000, 1 => 5_000_usize..40_000];
    (0..8_usize, 0..4_u8, len).prop_map(|(mode, channel, len)| Say {
        mode: Reliability::ALL[mode],
        channel,
        len,
    })
}

fn addresses() -> Vec<SocketAddr> {
    [1, 2].map(|n| SocketAddr::from(([10, 0, 0, n], 19_132))).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn whatever_happens_no_message_arrives_twice_changed_or_out_of_order(
        seed: u64,
        loss in 0.0..0.3_f64,
        ops in prop::collection::vec(strategy::op(addresses(), say()), 0..60),
    ) {
        let mut net = Net::new(seed);
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(&mut net);
        net.set_paths(&Conditions { duplication: 0.1, reorder: 0.1, ..Conditions::lossy(ms(20), loss) });
        let mut said: Vec<(NodeId, Say)> = vec![];
        for op in &ops {
            net.apply(op, |net, node, say| {
                let (party, n) = if node == pair.client.node {
                    (&mut pair.client, said.len())
                } else {
                    (&mut pair.server, said.len())
                };
                if party.sessions.is_empty() {
                    return;
                }
                let message = numbered(n as u32, say.len).reliability(say.mode).channel(Channel::new(say.channel).unwrap());
                said.push((node, say.clone()));
                let peer = party.session();
                party.send(net, peer, [message]);
            });
            pair.run_for(&mut net, ms(0));
        }
        net.heal_all();
        pair.run_for(&mut net, secs(120));
        for (from, to) in [(&pair.client, &pair.server), (&pair.server, &pair.client)] {
            let arrived = numbers(to.messages());
            let distinct: BTreeSet<u32> = arrived.iter().copied().collect();
            prop_assert_eq!(distinct.len(), arrived.len(), "seed {}: {:?}", seed, arrived);
            let is_of_sender = |n: &u32| said.get(*n as usize).is_some_and(|(node, _)| *node == from.node);
            prop_assert!(arrived.iter().all(is_of_sender));
            for number in 0..4 {
                let in_channel = |n: &&u32| {
                    let (_, say) = &said[**n as usize];
                    say.mode.has_channel() && say.channel == number
                };
                let of_channel: Vec<u32> = arrived.iter().filter(in_channel).copied().collect();
                prop_assert!(is_rising(&of_channel), "seed {}, channel {}: {:?}", seed, number, of_channel);
            }
            // A session that lives delivers everything reliable that nothing overtakes.
            if !from.sessions.is_empty() && !to.sessions.is_empty() {
                for (n, (node, say)) in (0..).zip(&said) {
                    let must = *node == from.node && say.mode.is_reliable() && !say.mode.is_sequenced();
                    prop_assert!(!must || distinct.contains(&n), "seed {}: {} of {:?} is missing", seed, n, from.node);
                }
            }
        }
    }

    #[test]
    fn forged_datagrams_from_the_peers_address_neither_kill_nor_confuse_a_session(
        seed: u64,
        forged in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..100), 1..100),
    ) {
        let mut net = Net::new(seed);
        net.set_paths(&Conditions::delayed(ms(20)));
        let mut pair = Pair::connected(&mut net);
        let (from, to) = (net.address(pair.client.node), pair.server.node);
        let mut rng = Rng::from_u64(seed);
        for (n, mut data) in (0..).zip(forged) {
            // Most of it looks like a session's datagram.
            data[0] = [0x84, 0x80, 0xc0, 0xa0, 0x15, data[0]][rng.below(6) as usize];
            net.inject(to, proto_raknet::SOCKET, from, data);
            pair.client_sends(&mut net, [numbered(n, 100).channel(channel(n % 3 + 8))]);
            pair.run_for(&mut net, ms(3));
        }
        pair.run_for(&mut net, secs(30));
        prop_assert!(pair.is_established(), "seed {}: {:?} {:?}", seed, pair.client.events, pair.server.events);
    }
}
