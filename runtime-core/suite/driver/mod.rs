//! Scenarios of the driver, written once and run on every runtime.
//!
//! The integration tests of the runtime crates include this folder and call [`driver_scenarios!`].

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "tests, of which clippy only sees the functions that are marked as such"
)]

mod local_links;
mod serial_line;
mod slow_network;
mod stream_toy;
mod streams;
#[macro_use]
#[path = "../scenarios.rs"]
mod scenarios;
#[path = "../timing.rs"]
mod timing;
mod toy;

pub(crate) use local_links::{
    a_child_process_is_a_link, a_closed_link_takes_its_process_with_it, local_sockets_are_streams_too,
    names_are_resolved,
};
pub(crate) use serial_line::a_serial_line_is_a_link;
pub(crate) use slow_network::a_full_socket_blocks_the_machine_until_there_is_room;
pub(crate) use streams::{
    a_close_still_sends_what_was_written, a_closed_listener_gives_its_address_back,
    a_listener_that_is_not_wanted_leaves_peers_waiting, a_peer_that_does_not_answer_is_given_up,
    a_peer_that_ends_its_half_still_hears, a_peer_that_resets_brings_the_link_down,
    a_refused_connection_is_reported, a_slow_reader_gets_eight_mebibytes_back_in_order,
    a_stream_that_is_not_wanted_stays_with_the_system, gathered_pieces_arrive_in_order,
    lent_buffers_are_filled, nothing_is_reported_of_a_closed_stream_but_its_end,
    sockets_of_the_embedder_become_links, two_hundred_streams_are_served_at_once,
    what_came_before_a_failed_write_is_still_read,
};

use proto_core::{DatagramOptions, DownReason, LinkEvent, LinkRequest, LinkSpec};
use runtime_core::{Runtime, UdpOptions, bind_udp};
use std::{net::SocketAddr, time::Duration};
use timing::{sleep, within};
use toy::{LINK, LOOPBACK, Toy, local, run, run_asking, run_on, until};

/// Makes a test of every scenario, with the runtime and a function that runs a future on it.
macro_rules! driver_scenarios {
    ($runtime:ty, $block_on:path) => {
        scenarios! { $runtime, $block_on;
            every_datagram_of_many_bursts_comes_back
            a_burst_longer_than_an_ip_packet_is_split
            a_refused_datagram_is_counted_and_harms_nothing
            a_datagram_that_is_too_long_is_reported_to_the_machine
            a_machine_that_wants_no_more_leaves_it_with_the_system
            a_deadline_is_met_within_a_fraction_of_a_millisecond
            a_deadline_that_moves_nearer_is_met
            a_command_wakes_a_sleeping_driver
            dropping_the_last_handle_ends_the_driver
            a_machine_that_never_finishes_is_ended_at_the_deadline
            a_link_that_the_machine_asks_for_is_opened_and_closed
            a_kind_of_link_that_does_not_exist_is_answered
            a_full_socket_blocks_the_machine_until_there_is_room
            a_slow_reader_gets_eight_mebibytes_back_in_order
            a_refused_connection_is_reported
            a_peer_that_does_not_answer_is_given_up
            a_peer_that_resets_brings_the_link_down
            what_came_before_a_failed_write_is_still_read
            a_peer_that_ends_its_half_still_hears
            gathered_pieces_arrive_in_order
            lent_buffers_are_filled
            a_stream_that_is_not_wanted_stays_with_the_system
            a_listener_that_is_not_wanted_leaves_peers_waiting
            two_hundred_streams_are_served_at_once
            a_close_still_sends_what_was_written
            nothing_is_reported_of_a_closed_stream_but_its_end
            a_closed_listener_gives_its_address_back
            sockets_of_the_embedder_become_links
            local_sockets_are_streams_too
            a_child_process_is_a_link
            a_closed_link_takes_its_process_with_it
            names_are_resolved
            a_serial_line_is_a_link
        }
    };
}

pub(crate) async fn every_datagram_of_many_bursts_comes_back<R: Runtime>() {
    const BURST: u32 = 64;
    let server = run::<R>(Toy { echo: true, ..Toy::default() });
    let client = run::<R>(Toy::default());
    let to = local::<R>(&server).await;
    for round in 0..50_u32 {
        client.with(|machine, _, _| {
            for index in 0..BURST {
                let mut datagram = vec![round as u8; 800];
                datagram[..4].copy_from_slice(&(round * BURST + index).to_be_bytes());
                machine.send(to, datagram);
            }
        });
        let arrived = until::<R, _, _>(&client, |machine| {
            (machine.arrived.len() >= BURST as usize).then(|| std::mem::take(&mut machine.arrived))
        })
        .await;
        for (index, (from, datagram)) in arrived.into_iter().enumerate() {
            assert_eq!(from, to);
            assert_eq!(datagram[..4], (round * BURST + index as u32).to_be_bytes());
            assert!(datagram.len() == 800 && datagram[4..].iter().all(|&byte| byte == round as u8));
        }
    }
    let (stats, all) = (client.stats(), u64::from(50 * BURST));
    assert_eq!((stats.sent.datagrams, stats.sent.bytes), (all, all * 800));
    assert_eq!((stats.received.datagrams, stats.received.bytes), (all, all * 800));
    assert_eq!((stats.send_errors.total(), stats.receive_errors.total()), (0, 0));
    if cfg!(target_os = "linux") {
        assert!(stats.sent.batches < all / 2, "{stats:?}");
        assert!(stats.received.batches < all / 2, "{stats:?}");
    }
}

pub(crate) async fn a_burst_longer_than_an_ip_packet_is_split<R: Runtime>() {
    let (server, client) = (run::<R>(Toy::default()), run::<R>(Toy::default()));
    let to = local::<R>(&server).await;
    client.with(|machine, _, _| (0..64).for_each(|index| machine.send(to, [index; 1_400])));
    let arrived = until::<R, _, _>(&server, |machine| {
        (machine.arrived.len() >= 64).then(|| std::mem::take(&mut machine.arrived))
    })
    .await;
    assert!(arrived.iter().zip(0..).all(|((_, datagram), index)| *datagram == [index; 1_400]));
    assert_eq!(client.stats().send_errors.total(), 0);
}

pub(crate) async fn a_refused_datagram_is_counted_and_harms_nothing<R: Runtime>() {
    // A connected socket is told of ICMP errors; the port of one that was closed is free.
    let closed = bind_udp(LOOPBACK, UdpOptions::default()).unwrap().local_addr().unwrap();
    let socket = bind_udp(LOOPBACK, UdpOptions::default()).unwrap();
    socket.connect(closed).unwrap();
    let here = socket.local_addr().unwrap();
    let client = run_on::<R>(Toy::default(), socket);
    let refused = |client: &toy::ToyHandle| {
        let stats = client.stats();
        stats.receive_errors.refused + stats.send_errors.refused
    };
    for _ in 0..100 {
        client.with(|machine, _, _| machine.send(closed, "anybody?"));
        sleep::<R>(Duration::from_millis(10)).await;
        if refused(&client) > 0 {
            break;
        }
    }
    assert!(refused(&client) > 0, "{:?}", client.stats());
    let told = LinkEvent::Unreachable(DownReason::Refused);
    assert!(client.read(|machine, _| machine.reports.contains(&told)));

    let peer = bind_udp(closed, UdpOptions::default()).unwrap();
    peer.send_to(b"now there is", here).unwrap();
    let (_, datagram) = until::<R, _, _>(&client, |machine| machine.arrived.pop_front()).await;
    assert_eq!(datagram, b"now there is");
}

pub(crate) async fn a_datagram_that_is_too_long_is_reported_to_the_machine<R: Runtime>() {
    let client = run::<R>(Toy::default());
    let to: SocketAddr = local::<R>(&client).await;
    client.with(|machine, _, _| {
        machine.send(to, vec![0; 65_508]);
        machine.send(to, "short");
    });
    until::<R, _, _>(&client, |machine| {
        machine.reports.contains(&LinkEvent::TooBig { to, len: 65_508 }).then_some(())
    })
    .await;
    let (_, datagram) = until::<R, _, _>(&client, |machine| machine.arrived.pop_front()).await;
    assert_eq!(datagram, b"short");
    assert_eq!(client.stats().send_errors.too_big, 1);
}

pub(crate) async fn a_machine_that_wants_no_more_leaves_it_with_the_system<R: Runtime>() {
    let server = run::<R>(Toy { room: Some(1), ..Toy::default() });
    let to = local::<R>(&server).await;
    let socket = bind_udp(LOOPBACK, UdpOptions::default()).unwrap();
    for index in 0..40_u8 {
        socket.send_to(&[index], to).unwrap();
    }
    until::<R, _, _>(&server, |machine| (!machine.arrived.is_empty()).then_some(())).await;
    sleep::<R>(Duration::from_millis(50)).await;
    // What was in the first batch is there, the rest is not.
    assert!(server.read(|machine, _| machine.arrived.len()) < 40);
    for index in 0..40_u8 {
        let (_, datagram) = until::<R, _, _>(&server, |machine| machine.arrived.pop_front()).await;
        assert_eq!(datagram, [index]);
    }
}

pub(crate) async fn a_deadline_is_met_within_a_fraction_of_a_millisecond<R: Runtime>() {
    let handle = run::<R>(Toy::default());
    let mut late = Vec::new();
    for _ in 0..50 {
        let due = handle.with(|machine, _, now| {
            let due = now + Duration::from_micros(700);
            machine.deadline = Some(due);
            due
        });
        let fired = until::<R, _, _>(&handle, |machine| machine.fired.pop()).await;
        assert!(fired >= due);
        late.push(fired.saturating_since(due));
    }
    late.sort();
    // The median, because a busy machine may be late at times.
    assert!(late[25] < Duration::from_micros(500), "late by {late:?}");
}

pub(crate) async fn a_deadline_that_moves_nearer_is_met<R: Runtime>() {
    let handle = run::<R>(Toy::default());
    handle.with(|machine, _, now| machine.deadline = Some(now + Duration::from_secs(3_600)));
    sleep::<R>(Duration::from_millis(20)).await;
    let due = handle.with(|machine, _, now| {
        machine.deadline = Some(now + Duration::from_millis(5));
        now + Duration::from_millis(5)
    });
    let fired = until::<R, _, _>(&handle, |machine| machine.fired.pop()).await;
    assert!(fired >= due);
}

pub(crate) async fn a_command_wakes_a_sleeping_driver<R: Runtime>() {
    let handle = run::<R>(Toy::default());
    let to = local::<R>(&handle).await;
    for index in 0..20 {
        sleep::<R>(Duration::from_millis(2)).await;
        handle.with(|machine, _, _| machine.send(to, [index]));
        let (_, datagram) = until::<R, _, _>(&handle, |machine| machine.arrived.pop_front()).await;
        assert_eq!(datagram, [index]);
    }
}

pub(crate) async fn dropping_the_last_handle_ends_the_driver<R: Runtime>() {
    let socket = bind_udp(LOOPBACK, UdpOptions::default()).unwrap();
    let address = socket.local_addr().unwrap();
    let handle = run_on::<R>(Toy::default(), socket);
    let second = handle.clone();
    local::<R>(&handle).await;
    drop(handle);
    sleep::<R>(Duration::from_millis(20)).await;
    assert!(!second.has_ended());
    drop(second);
    // The socket is closed, so its address is free again.
    for _ in 0..500 {
        if bind_udp(address, UdpOptions::default()).is_ok() {
            return;
        }
        sleep::<R>(Duration::from_millis(10)).await;
    }
    panic!("the socket is still open");
}

pub(crate) async fn a_machine_that_never_finishes_is_ended_at_the_deadline<R: Runtime>() {
    let handle = run::<R>(Toy::default());
    local::<R>(&handle).await;
    let before = R::now();
    handle.end_within(Duration::from_millis(30));
    within::<R, _>(Duration::from_secs(10), handle.ended()).await.expect("the driver goes on");
    assert!(before.elapsed() >= Duration::from_millis(30));
    assert!(handle.read(|_, desk| desk.stopped && !desk.abandoned));
}

pub(crate) async fn a_link_that_the_machine_asks_for_is_opened_and_closed<R: Runtime>() {
    let handle =
        run_asking::<R>(LinkSpec::Udp { bind: LOOPBACK, peer: None, options: DatagramOptions::default() });
    let address = local::<R>(&handle).await;
    let socket = bind_udp(LOOPBACK, UdpOptions::default()).unwrap();
    socket.send_to(b"hello", address).unwrap();
    let (_, datagram) = until::<R, _, _>(&handle, |machine| machine.arrived.pop_front()).await;
    assert_eq!(datagram, b"hello");

    handle.with(|machine, _, _| machine.requests.push_back(LinkRequest::Close { link: LINK }));
    until::<R, _, _>(&handle, |machine| {
        machine.reports.contains(&LinkEvent::Down(DownReason::Closed)).then_some(())
    })
    .await;
    assert!(bind_udp(address, UdpOptions::default()).is_ok());
}

pub(crate) async fn a_kind_of_link_that_does_not_exist_is_answered<R: Runtime>() {
    let handle = run_asking::<R>(LinkSpec::Serial { device: "/dev/null".into(), baud: 9_600 });
    until::<R, _, _>(&handle, |machine| {
        machine.reports.contains(&LinkEvent::Down(DownReason::Unsupported)).then_some(())
    })
    .await;
}
