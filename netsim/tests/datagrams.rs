//! Datagrams between nodes: paths, NATs, partitions, clocks and devices.

mod postman;

use netsim::{Burst, ClockJump, Conditions, Filtering, Hiccups, Loss, Network, NodeId};
use postman::{LINK, Postman, Told, payloads};
use proto_core::{Instant, LinkEvent};
use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};

const MILLISECOND: Duration = Duration::from_millis(1);

fn pair(seed: u64) -> (Network<Postman>, NodeId, NodeId) {
    let mut net = Network::new(seed);
    let (a, b) = (net.add_node(Postman::new()), net.add_node(Postman::new()));
    net.take_events(a);
    net.take_events(b);
    (net, a, b)
}

fn send(net: &mut Network<Postman>, from: NodeId, to: NodeId, count: usize, data: &[u8]) {
    let to = net.address(to);
    net.command(from, |postman, _| (0..count).for_each(|_| postman.send(to, data)));
}

#[test]
fn a_batch_arrives_as_its_datagrams() {
    let (mut net, a, b) = pair(1);
    net.set_max_segments(NonZeroUsize::new(8).unwrap());
    send(&mut net, a, b, 20, b"same");
    send(&mut net, a, b, 1, b"");
    net.run_for(MILLISECOND);
    assert_eq!(net.node(a).machine.largest_batch, 8);
    let mut expected = vec![b"same".to_vec(); 20];
    expected.push(vec![]);
    assert_eq!(payloads(net.take_events(b)), expected);
    assert_eq!(net.stats(a, b).delivered.datagrams, 21);
}

#[test]
fn nothing_arrives_before_the_delay_and_the_clock_jumps_to_it() {
    let (mut net, a, b) = pair(1);
    net.set_path(a, b, Conditions::delayed(Duration::from_millis(20)));
    send(&mut net, a, b, 1, b"x");
    let sent_at = net.now();
    net.run_for(Duration::from_millis(19));
    assert_eq!(net.take_events(b), []);
    assert!(net.run_until(|net| !net.take_events(b).is_empty(), Duration::from_secs(9)));
    assert_eq!(net.now(), sent_at + Duration::from_millis(20));
}

#[test]
fn every_datagram_is_counted_once_as_delivered_or_lost() {
    let (mut net, a, b) = pair(2);
    net.set_paths(&Conditions {
        loss: 0.1,
        burst: Some(Burst { enter: 0.05, leave: 0.3, loss: 0.9 }),
        duplication: 0.1,
        reorder: 0.2,
        jitter: MILLISECOND,
        ..Conditions::default()
    });
    send(&mut net, a, b, 2_000, b"12345");
    net.run_for(Duration::from_secs(1));
    let stats = net.stats(a, b);
    assert_eq!(stats.sent.datagrams, 2_000);
    assert_eq!(
        stats.sent.datagrams + stats.duplicated.datagrams,
        stats.delivered.datagrams + stats.lost.datagrams
    );
    assert_eq!(payloads(net.take_events(b)).len() as u64, stats.delivered.datagrams);
    assert!(stats.lost.datagrams > 200 && stats.duplicated.datagrams > 100);
    assert_eq!(stats.delivered.bytes, 5 * stats.delivered.datagrams);
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let run = |seed| {
        let (mut net, a, b) = pair(seed);
        net.set_paths(&Conditions { loss: 0.3, jitter: MILLISECOND, ..Conditions::default() });
        send(&mut net, a, b, 50, b"data");
        net.run_for(Duration::from_secs(1));
        net.trace().to_pcapng()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn a_partition_loses_everything_until_it_heals() {
    let (mut net, a, b) = pair(1);
    net.partition_all();
    send(&mut net, a, b, 3, b"lost");
    net.run_for(MILLISECOND);
    net.heal(a, b);
    send(&mut net, a, b, 1, b"through");
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(b)), [b"through"]);
    assert_eq!(net.stats(a, b).lost.datagrams, 3);
}

#[test]
fn exactly_the_picked_datagrams_are_lost() {
    let (mut net, a, b) = pair(1);
    net.lose_if(move |from, _, data| from == a && data == b"second");
    for data in [&b"first"[..], b"second", b"third"] {
        send(&mut net, a, b, 1, data);
    }
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(b)), [&b"first"[..], b"third"]);
    net.lose_none();
    send(&mut net, a, b, 1, b"second");
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(b)), [b"second"]);
}

#[test]
fn a_black_hole_is_silent_unless_it_reports() {
    let (mut net, a, b) = pair(1);
    let small = Conditions { mtu: Some(1_400), ..Conditions::default() };
    net.set_path(a, b, small.clone());
    send(&mut net, a, b, 1, &[0; 1_401]);
    send(&mut net, a, b, 1, &[0; 1_400]);
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(b)).len(), 1);
    assert_eq!(net.take_events(a), []);
    net.set_path(a, b, Conditions { report_too_big: true, ..small });
    send(&mut net, a, b, 1, &[0; 1_401]);
    net.run_for(MILLISECOND);
    let too_big = LinkEvent::TooBig { to: net.address(b), len: 1_401 };
    assert_eq!(net.take_events(a), [Told::Link(LINK, too_big)]);
}

#[test]
fn a_rebound_nat_changes_the_source_and_closes_the_old_way_in() {
    let (mut net, a, b) = pair(1);
    let outside = "203.0.113.7".parse().unwrap();
    net.put_behind_nat(a, outside, Filtering::AddressAndPortDependent);
    let seen = |net: &mut Network<Postman>| {
        send(net, a, b, 1, b"out");
        net.run_for(MILLISECOND);
        match net.take_events(b).as_slice() {
            [Told::Got(from, _)] => *from,
            other => panic!("{other:?}"),
        }
    };
    let first = seen(&mut net);
    assert_eq!(first.ip(), outside);
    assert_eq!(seen(&mut net), first);
    net.command(b, |postman, _| postman.send(first, b"in"));
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(a)), [b"in"]);
    net.rebind_nat(a);
    assert_ne!(seen(&mut net), first);
    net.command(b, |postman, _| postman.send(first, b"late"));
    net.run_for(MILLISECOND);
    assert_eq!(net.take_events(a), []);
    assert_eq!(net.trace().datagrams().next_back().unwrap().fate, netsim::Fate::Lost(Loss::Nat));
}

#[test]
fn a_clock_that_jumps_forward_makes_a_deadline_due_and_backward_delays_it() {
    let (mut net, a, b) = pair(1);
    for id in [a, b] {
        net.command(id, |postman, now| postman.wake_after(now, Duration::from_secs(10)));
    }
    net.jump_clock(a, ClockJump::Forward(Duration::from_secs(60)));
    net.jump_clock(b, ClockJump::Backward(Duration::from_secs(60)));
    net.run_for(Duration::from_secs(11));
    assert_eq!(net.take_events(a).len(), 1);
    assert_eq!(net.take_events(b), []);
    net.run_for(Duration::from_secs(60));
    assert_eq!(net.take_events(b).len(), 1);
    assert_eq!(net.local_now(a), net.now() + Duration::from_secs(60));
}

#[test]
fn a_machine_that_does_not_read_has_a_bounded_receive_buffer() {
    let (mut net, a, b) = pair(1);
    net.node_mut(b).machine.reads = false;
    send(&mut net, a, b, 1_000, b"wait");
    net.run_for(MILLISECOND);
    assert_eq!(net.take_events(b), []);
    net.command(b, |postman, _| postman.reads = true);
    assert_eq!(payloads(net.take_events(b)).len(), 256);
    assert_eq!(net.stats(a, b).lost.datagrams, 744);
}

#[test]
fn a_device_with_hiccups_loses_nothing() {
    let (mut net, a, b) = pair(3);
    net.set_hiccups(a, LINK, Some(Hiccups { chance: 0.5, pause: MILLISECOND }));
    for number in 0..100_u8 {
        send(&mut net, a, b, 1, &[number]);
    }
    net.run_for(Duration::from_secs(1));
    assert_eq!(payloads(net.take_events(b)), (0..100).map(|number| vec![number]).collect::<Vec<_>>());
    assert!(net.take_events(a).contains(&Told::Link(LINK, LinkEvent::Blocked)));
}

#[test]
fn an_application_answers_at_once() {
    let (mut net, a, b) = pair(1);
    net.set_app(
        b,
        Box::new(|postman, _, told| {
            if let Told::Got(from, data) = told {
                postman.send(from, &data);
            }
        }),
    );
    send(&mut net, a, b, 2, b"echo");
    net.run_for(MILLISECOND);
    assert_eq!(payloads(net.take_events(a)), [b"echo", b"echo"]);
    assert_eq!(net.take_events(b), []);
}

#[test]
fn tests_can_speak_by_hand() {
    let (mut net, a, _) = pair(1);
    let hand: SocketAddr = "192.0.2.1:7".parse().unwrap();
    net.open_mailbox(hand);
    net.inject(a, LINK, hand, b"hello".to_vec());
    net.run_for(MILLISECOND);
    assert_eq!(net.take_events(a), [Told::Got(hand, b"hello".to_vec())]);
    net.command(a, |postman, _| postman.send(hand, b"back"));
    assert_eq!(net.take_mail(hand), [(net.address(a), b"back".to_vec())]);
    assert_eq!(net.take_mail(hand), []);
}

#[test]
fn what_nobody_receives_is_counted() {
    let (mut net, a, _) = pair(1);
    net.command(a, |postman, _| postman.send("192.0.2.9:9".parse().unwrap(), b"abc"));
    assert_eq!(net.unrouted().bytes, 3);
}

#[test]
fn an_idle_network_has_nothing_next() {
    let (mut net, a, _) = pair(1);
    assert_eq!(net.next_instant(), None);
    net.command(a, |postman, now| postman.wake_after(now, Duration::from_secs(5)));
    assert_eq!(net.next_instant(), Some(net.now() + Duration::from_secs(5)));
    let start: Instant = net.now();
    net.run_for(Duration::from_secs(3_600));
    assert_eq!(net.now(), start + Duration::from_secs(3_600));
}
