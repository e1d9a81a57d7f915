//! Scenarios of the RakNet face, written once and run on every runtime.
//!
//! The integration tests of the runtime crates include this folder and call [`raknet_scenarios!`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests, of which clippy only sees the functions that are marked as such"
)]

mod many;
mod outside;
#[macro_use]
#[path = "../scenarios.rs"]
mod scenarios;
#[path = "../timing.rs"]
mod timing;
mod watching;

pub(crate) use many::*;
pub(crate) use outside::*;
pub(crate) use watching::*;

use futures_util::{SinkExt, StreamExt};
use runtime_core::{
    Runtime,
    raknet::{
        Channel, ClientOptions, CloseReason, Config, ConnectFailed, ConnectFailure, Delivery, ListenOptions,
        Message, Motd, PingFailed, RaknetListener, RaknetStream, Reliability, SendError, SendFailed, ping,
    },
};
use std::{collections::VecDeque, net::SocketAddr, time::Duration};
use timing::{sleep, within};

/// Makes a test of every scenario, with the runtime and a function that runs a future on it.
macro_rules! raknet_scenarios {
    ($runtime:ty, $block_on:path) => {
        scenarios! { $runtime, $block_on;
            messages_arrive_whole_and_in_order_both_ways
            a_batch_is_sent_and_received
            a_receipt_tells_of_the_acknowledgement
            a_full_queue_makes_the_sender_wait
            halves_work_in_different_tasks
            a_stream_is_a_stream_and_a_sink
            dropping_a_stream_closes_the_session
            closing_delivers_what_was_sent_before
            closing_the_listener_ends_its_sessions_and_frees_the_address
            a_dropped_listener_leaves_its_streams_alone
            nobody_there_means_no_answer_in_time
            a_cancelled_receive_loses_nothing
            a_slow_reader_does_not_hold_up_others
            a_ping_is_answered_with_the_motd
            a_banned_address_is_turned_away
            shards_share_one_address
            a_listener_that_does_not_accept_says_that_it_is_full
            a_broadcast_reaches_all_but_one
            a_filtered_datagram_is_not_seen
            a_packet_log_sees_both_directions_from_the_first_datagram
            hooks_can_be_changed_while_the_listener_runs
            the_progress_of_a_long_message_is_told
            a_message_outside_sessions_arrives_and_is_answered
            a_system_makes_itself_known
            too_long_a_message_outside_sessions_is_refused
            messages_outside_sessions_end_with_the_listener
            a_client_opens_many_sessions_with_one_server
            the_end_of_one_session_leaves_the_clients_others_alone
            a_client_hears_that_nobody_is_there
        }
    };
}

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn listen<R: Runtime>() -> RaknetListener<R> {
    RaknetListener::bind(LOOPBACK, Config::default()).unwrap()
}

async fn soon<R: Runtime, F: Future>(future: F) -> F::Output {
    within::<R, F>(Duration::from_secs(10), future).await.expect("nothing within ten seconds")
}

/// Returns both ends of a session.
async fn pair<R: Runtime>(listener: &RaknetListener<R>) -> (RaknetStream<R>, RaknetStream<R>) {
    let client = soon::<R, _>(RaknetStream::connect(listener.local_addr())).await.unwrap();
    let server = soon::<R, _>(listener.accept()).await.unwrap();
    (client, server)
}

/// Returns options that give up soon.
fn impatient() -> ClientOptions {
    let mut options = ClientOptions::default();
    options.connect.timeout = Duration::from_millis(300);
    options
}

/// Returns a payload that tells its number and length apart from others. It begins as Bedrock's messages do.
fn payload(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| if at == 0 { 0xfe } else { (number * 31 + at * 7) as u8 }).collect()
}

pub(crate) async fn messages_arrive_whole_and_in_order_both_ways<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    assert_eq!(client.peer_addr(), listener.local_addr());
    assert_eq!(client.guid(), listener.guid());
    assert_eq!(client.mtu(), server.mtu());
    for (number, len) in [1, 64, 800, 1_400, 4_096, 100_000, 1 << 20].into_iter().enumerate() {
        client.send(payload(number, len)).await.unwrap();
        let arrived = soon::<R, _>(server.recv()).await.unwrap();
        assert_eq!(arrived.payload, payload(number, len));
        server.send(arrived.payload).await.unwrap();
        assert_eq!(soon::<R, _>(client.recv()).await.unwrap().payload, payload(number, len));
    }
    assert!(matches!(client.send("").await, Err(SendFailed::Refused(SendError::Empty))));
    soon::<R, _>(client.close()).await.unwrap();
    assert_eq!(soon::<R, _>(server.recv()).await, Err(CloseReason::PeerClose));
}

pub(crate) async fn a_batch_is_sent_and_received<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let mut batch: VecDeque<Message> = (0..500).map(|number| Message::new(payload(number, 64))).collect();
    client.send_batch(&mut batch).await.unwrap();
    assert!(batch.is_empty());
    let mut arrived = Vec::new();
    while arrived.len() < 500 {
        let before = arrived.len();
        let count = soon::<R, _>(server.recv_batch(&mut arrived, 100)).await.unwrap();
        assert!((1..=100).contains(&count) && arrived.len() == before + count);
    }
    for (number, received) in arrived.iter().enumerate() {
        assert_eq!(received.payload, payload(number, 64));
    }
    // Packed, not one datagram a message.
    assert!(client.driver_stats().sent.datagrams < 200, "{:?}", client.driver_stats());
    assert_eq!(server.try_recv(), Ok(None));
}

pub(crate) async fn a_receipt_tells_of_the_acknowledgement<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let channel = Channel::new(5).unwrap();
    let message =
        Message::new("with a receipt").reliability(Reliability::ReliableOrderedWithReceipt).channel(channel);
    let receipt = client.send_with(message.clone()).await.unwrap().unwrap();
    assert_eq!(soon::<R, _>(receipt).await, Delivery::Acknowledged);
    let arrived = soon::<R, _>(server.recv()).await.unwrap();
    assert_eq!((arrived.reliability, arrived.channel), (Reliability::ReliableOrdered, channel));
    assert!(client.send_with(Message::new("without")).await.unwrap().is_none());

    let receipt = client.send_with(message).await.unwrap().unwrap();
    client.abort();
    // It was acknowledged or not; what matters is that nobody waits for ever.
    soon::<R, _>(receipt).await;
}

pub(crate) async fn a_full_queue_makes_the_sender_wait<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let mut sent = 0;
    while client.try_send(payload(sent, 60_000)).is_ok() {
        sent += 1;
        assert!(sent < 10_000, "the queue has no end");
    }
    assert!(matches!(client.try_send("more"), Err(SendFailed::Refused(SendError::Full))));
    let sending = async {
        client.send(payload(sent, 60_000)).await.unwrap();
    };
    let receiving = async {
        for number in 0..=sent {
            assert_eq!(server.recv().await.unwrap().payload, payload(number, 60_000));
        }
    };
    soon::<R, _>(futures_util::future::join(sending, receiving)).await;
}

pub(crate) async fn halves_work_in_different_tasks<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let (read, write) = client.split();
    R::spawn(async move {
        let (server_read, server_write) = server.split();
        while let Ok(received) = server_read.recv().await {
            server_write.send(received.payload).await.unwrap();
        }
    });
    R::spawn(async move {
        for number in 0..200 {
            write.send(payload(number, 300)).await.unwrap();
        }
        // Only a half is dropped, so the session stays.
    });
    for number in 0..200 {
        assert_eq!(soon::<R, _>(read.recv()).await.unwrap().payload, payload(number, 300));
    }
}

pub(crate) async fn a_stream_is_a_stream_and_a_sink<R: Runtime>() {
    let mut listener = listen::<R>();
    let mut client = RaknetStream::<R>::connect(listener.local_addr()).await.unwrap();
    let mut server = soon::<R, _>(listener.next()).await.unwrap();
    let messages = (0..50).map(|number| Ok(Message::new(payload(number, 2_000))));
    soon::<R, _>(client.send_all(&mut futures_util::stream::iter(messages))).await.unwrap();
    for number in 0..50 {
        assert_eq!(soon::<R, _>(server.next()).await.unwrap().payload, payload(number, 2_000));
    }
    soon::<R, _>(SinkExt::<Message>::close(&mut client)).await.unwrap();
    assert_eq!(soon::<R, _>(server.next()).await, None);
    assert_eq!(server.close_reason(), Some(CloseReason::PeerClose));
}

pub(crate) async fn dropping_a_stream_closes_the_session<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    client.send("last words").await.unwrap();
    drop(client);
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, "last words");
    assert_eq!(soon::<R, _>(server.recv()).await, Err(CloseReason::PeerClose));
    assert!(matches!(server.send("anybody?").await, Err(SendFailed::Closed(CloseReason::PeerClose))));

    // Nothing of it is left at the listener once both ends are dropped.
    drop(server);
    for _ in 0..500 {
        if listener.stats()[0].peers == 0 {
            return;
        }
        sleep::<R>(Duration::from_millis(10)).await;
    }
    panic!("the peer is still there");
}

pub(crate) async fn closing_delivers_what_was_sent_before<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    for number in 0..100 {
        client.send(payload(number, 5_000)).await.unwrap();
    }
    soon::<R, _>(client.close()).await.unwrap();
    for number in 0..100 {
        assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, payload(number, 5_000));
    }
    assert_eq!(soon::<R, _>(server.recv()).await, Err(CloseReason::PeerClose));
}

pub(crate) async fn closing_the_listener_ends_its_sessions_and_frees_the_address<R: Runtime>() {
    let listener = listen::<R>();
    let address = listener.local_addr();
    let (client, server) = pair(&listener).await;
    server.send("good bye").await.unwrap();
    soon::<R, _>(listener.close()).await;
    assert_eq!(soon::<R, _>(client.recv()).await.unwrap().payload, "good bye");
    assert_eq!(soon::<R, _>(client.recv()).await, Err(CloseReason::PeerClose));
    assert_eq!(server.close_reason(), Some(CloseReason::LocalClose));
    assert!(soon::<R, _>(listener.accept()).await.is_err());
    RaknetListener::<R>::bind(address, Config::default()).unwrap();
}

pub(crate) async fn a_dropped_listener_leaves_its_streams_alone<R: Runtime>() {
    let listener = listen::<R>();
    let address = listener.local_addr();
    let (client, server) = pair(&listener).await;
    let waiting = RaknetStream::<R>::connect(address).await.unwrap();
    sleep::<R>(Duration::from_millis(20)).await;
    drop(listener);
    assert_eq!(soon::<R, _>(waiting.closed()).await, CloseReason::PeerClose);
    client.send("still there?").await.unwrap();
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, "still there?");
    let refused = soon::<R, _>(RaknetStream::<R>::connect_with(address, impatient())).await;
    let full = ConnectFailure::NoFreeIncomingConnections;
    assert!(matches!(refused, Err(ConnectFailed::Failed(why)) if why == full), "{refused:?}");
}

pub(crate) async fn nobody_there_means_no_answer_in_time<R: Runtime>() {
    let nobody = runtime_core::bind_udp(LOOPBACK, runtime_core::UdpOptions::default()).unwrap();
    let address = nobody.local_addr().unwrap();
    let before = R::now();
    let failed = soon::<R, _>(RaknetStream::<R>::connect_with(address, impatient())).await;
    assert!(matches!(failed, Err(ConnectFailed::Failed(ConnectFailure::NoAnswer))), "{failed:?}");
    assert!((300..2_000).contains(&before.elapsed().as_millis()));
    let unanswered = soon::<R, _>(ping::<R>(address, Duration::from_millis(100))).await;
    assert!(matches!(unanswered, Err(PingFailed::NoAnswer)));
}

pub(crate) async fn a_cancelled_receive_loses_nothing<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let mut arrived = 0;
    for number in 0..50 {
        client.send(payload(number, 100)).await.unwrap();
        // Some of these are dropped before, some after the message came.
        if let Some(received) = within::<R, _>(Duration::from_micros(60), server.recv()).await {
            assert_eq!(received.unwrap().payload, payload(arrived, 100));
            arrived += 1;
        }
    }
    while arrived < 50 {
        assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, payload(arrived, 100));
        arrived += 1;
    }
}

pub(crate) async fn a_slow_reader_does_not_hold_up_others<R: Runtime>() {
    let listener = listen::<R>();
    let (lively, lively_server) = pair(&listener).await;
    let (flooding, _never_read) = pair(&listener).await;
    for number in 0..400 {
        if flooding.try_send(payload(number, 20_000)).is_err() {
            break;
        }
    }
    for number in 0..100 {
        lively.send(payload(number, 64)).await.unwrap();
        assert_eq!(soon::<R, _>(lively_server.recv()).await.unwrap().payload, payload(number, 64));
    }
}

pub(crate) async fn a_ping_is_answered_with_the_motd<R: Runtime>() {
    let listener = listen::<R>();
    let motd = Motd::new("A server", 800, "1.21.80").with_players(3, 10).with_guid(listener.guid());
    listener.set_pong_data(motd.to_pong_data().unwrap()).unwrap();
    let pong = ping::<R>(listener.local_addr(), Duration::from_secs(5)).await.unwrap();
    assert_eq!((pong.from, pong.guid), (listener.local_addr(), listener.guid()));
    assert!(pong.rtt < Duration::from_secs(1));
    assert_eq!(pong.motd().unwrap(), motd);
    assert!(listener.set_pong_data(vec![0; 400]).is_err());
}

pub(crate) async fn a_banned_address_is_turned_away<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    listener.ban(LOOPBACK.ip(), None);
    assert_eq!(soon::<R, _>(server.closed()).await, CloseReason::Banned);
    drop(client);
    let refused = soon::<R, _>(RaknetStream::<R>::connect(listener.local_addr())).await;
    assert!(matches!(refused, Err(ConnectFailed::Failed(ConnectFailure::Banned))), "{refused:?}");
    listener.unban(LOOPBACK.ip());
    pair(&listener).await;
}

pub(crate) async fn a_listener_that_does_not_accept_says_that_it_is_full<R: Runtime>() {
    let listener = listen::<R>();
    assert_eq!(listener.peer_count(), 0);
    let (client, server) = pair(&listener).await;
    assert_eq!(listener.peer_count(), 1);
    listener.set_accepting(false);
    let refused = soon::<R, _>(RaknetStream::<R>::connect_with(listener.local_addr(), impatient())).await;
    let full = ConnectFailure::NoFreeIncomingConnections;
    assert!(matches!(refused, Err(ConnectFailed::Failed(why)) if why == full), "{refused:?}");
    client.send("still there?").await.unwrap();
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, "still there?");
    assert_eq!(listener.peer_count(), 1);
    listener.set_accepting(true);
    let _second = pair(&listener).await;
    assert_eq!(listener.peer_count(), 2);
}

pub(crate) async fn a_broadcast_reaches_all_but_one<R: Runtime>() {
    // Over several shards, where peers of different shards have the same numbers.
    let options = ListenOptions { shards: 3, ..ListenOptions::default() };
    let listener = RaknetListener::<R>::bind_with(LOOPBACK, options).unwrap();
    let mut ends = Vec::new();
    for _ in 0..12 {
        ends.push(pair(&listener).await);
    }
    let (_, speaker) = &ends[5];
    assert_eq!(listener.broadcast("to the others", Some(speaker)), 11);
    assert_eq!(listener.broadcast("to all", None), 12);
    for (number, (client, _)) in ends.iter().enumerate() {
        if number != 5 {
            assert_eq!(soon::<R, _>(client.recv()).await.unwrap().payload, "to the others");
        }
        assert_eq!(soon::<R, _>(client.recv()).await.unwrap().payload, "to all");
    }
}

pub(crate) async fn shards_share_one_address<R: Runtime>() {
    const CLIENTS: usize = 24;
    let options = ListenOptions { shards: 4, ..ListenOptions::default() };
    let listener = RaknetListener::<R>::bind_with(LOOPBACK, options).unwrap();
    let mut ends = Vec::new();
    for _ in 0..CLIENTS {
        ends.push(pair(&listener).await);
    }
    for (number, (client, server)) in ends.iter().enumerate() {
        assert_eq!(client.guid(), listener.guid());
        client.send(payload(number, 500)).await.unwrap();
        assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, payload(number, 500));
    }
    let peers: Vec<usize> = listener.stats().iter().map(|stats| stats.peers).collect();
    assert_eq!(peers.iter().sum::<usize>(), CLIENTS);
    // The kernel spreads them by a hash of the addresses; that all hit one socket of four is out of the question.
    assert!(peers.iter().filter(|&&count| count > 0).count() > 1, "{peers:?}");
}
