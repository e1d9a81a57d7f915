//! Scenarios of the connection faces, written once and run on every runtime.
//!
//! The integration tests of the runtime crates include this folder and call [`conn_scenarios!`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests, of which clippy only sees the functions that are marked as such"
)]

mod echo;
#[macro_use]
#[path = "../scenarios.rs"]
mod scenarios;
#[path = "../timing.rs"]
mod timing;

use echo::{Echo, GROUP};
use futures_util::{SinkExt, StreamExt as _, future::join_all};
use runtime_core::{
    Runtime,
    conn::{Client, Code, Kind, Message, Method, Multicast, Options, Phase, UdpChannel, Url, WebSocket},
};
use std::time::Duration;
use timing::sleep;

/// Makes a test of every scenario, with the runtime and a function that runs a future on it.
macro_rules! conn_scenarios {
    ($runtime:ty, $block_on:path) => {
        scenarios! { $runtime, $block_on;
            requests_are_answered_with_and_without_tls
            tasks_share_a_client
            a_body_comes_in_parts_and_goes_in_parts
            a_request_that_nobody_waits_for_disturbs_no_other
            nobody_listening_is_told_with_code_and_phase
            a_websocket_echoes_and_closes_in_good_order
            a_websocket_is_a_stream_and_a_sink
            a_dropped_connection_is_closed
            datagrams_go_both_ways
            members_of_a_group_hear_each_other
        }
    };
}

const S: Duration = Duration::from_secs(1);

/// Runs `future` for a limited time, in which it must end.
async fn within<R: Runtime, F: Future>(limit: Duration, future: F) -> F::Output {
    timing::within::<R, _>(limit, future).await.expect("in time")
}

fn options(echo: &Echo) -> Options {
    Options { tls: echo.tls(), ..Options::default() }
}

fn client<R: Runtime>(echo: &Echo, scheme: &str) -> Client<R> {
    Client::with_options(Url::parse(&echo.url(scheme, "/")).unwrap(), options(echo)).unwrap()
}

async fn websocket<R: Runtime>(echo: &Echo, scheme: &str) -> WebSocket<R> {
    let url = Url::parse(&echo.url(scheme, "/")).unwrap();
    WebSocket::connect_with(url, options(echo)).await.unwrap()
}

pub(crate) async fn requests_are_answered_with_and_without_tls<R: Runtime>() {
    for scheme in ["http", "https"] {
        let echo = Echo::start(scheme);
        let client = client::<R>(&echo, scheme);
        for len in [0, 10, 1 << 20] {
            let request = Message::request(Method::Post, "/", vec![3; len]);
            let answer = within::<R, _>(20 * S, client.request(request)).await.unwrap();
            assert_eq!((answer.status, answer.body.len()), (200, len), "{scheme}");
        }
        assert_eq!(echo.peers(), 1, "{scheme}");
    }
}

pub(crate) async fn tasks_share_a_client<R: Runtime>() {
    let echo = Echo::start("http");
    let client = client::<R>(&echo, "http");
    let requests = (0..20).map(|n| client.request(Message::request(Method::Post, "/", vec![n; 100])));
    let answers = within::<R, _>(20 * S, join_all(requests)).await;
    for (n, answer) in (0..).zip(answers) {
        assert_eq!(*answer.unwrap().body, [n; 100]);
    }
}

pub(crate) async fn a_body_comes_in_parts_and_goes_in_parts<R: Runtime>() {
    let echo = Echo::start("http");
    let client = client::<R>(&echo, "http");
    let response = client.fetch(Message::request(Method::Get, "/123456789", "")).await.unwrap();
    assert_eq!((response.head.status, response.head.body.len()), (200, 0));
    let (mut body, mut total) = (response.body, 0);
    while let Some(part) = within::<R, _>(20 * S, body.next()).await.unwrap() {
        total += part.len();
    }
    assert_eq!(total, 1_000_000);
    drop(body);

    let mut left = 5;
    let parts = || {
        left -= 1;
        let part = (left >= 0).then(|| vec![9; 300_000].into());
        async move { part }
    };
    let answer = client.upload(Message::request(Method::Post, "/", ""), parts);
    assert_eq!(within::<R, _>(20 * S, answer).await.unwrap().body.len(), 1_500_000);
}

pub(crate) async fn a_request_that_nobody_waits_for_disturbs_no_other<R: Runtime>() {
    let echo = Echo::start("http");
    let client = client::<R>(&echo, "http");
    let slow = client.get("/slow");
    assert!(timing::within::<R, _>(S / 10, slow).await.is_none());
    let answer = within::<R, _>(20 * S, client.request(Message::request(Method::Post, "/", "next"))).await;
    assert_eq!(answer.unwrap().body.as_str(), Some("next"));
}

pub(crate) async fn nobody_listening_is_told_with_code_and_phase<R: Runtime>() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = Client::<R>::new(&format!("http://{free}/")).unwrap();
    let error = within::<R, _>(20 * S, client.get("")).await.unwrap_err();
    assert_eq!((error.code, error.phase), (Code::ConnectRefused, Phase::Connect));
    let error = WebSocket::<R>::connect(&format!("ws://{free}/")).await.unwrap_err();
    assert_eq!((error.code, error.phase), (Code::ConnectRefused, Phase::Connect));
}

pub(crate) async fn a_websocket_echoes_and_closes_in_good_order<R: Runtime>() {
    for scheme in ["ws", "wss"] {
        let echo = Echo::start(scheme);
        let socket = websocket::<R>(&echo, scheme).await;
        for len in [0, 200, 1 << 20] {
            socket.send(Message::binary(vec![5; len])).await.unwrap();
            let back = within::<R, _>(20 * S, socket.recv()).await.unwrap().unwrap();
            assert_eq!((back.kind, back.body.len()), (Kind::Binary, len), "{scheme}");
        }
        let closed = within::<R, _>(20 * S, socket.close(1000, "enough")).await.unwrap();
        assert_eq!((closed.code, closed.is_clean), (1000, true), "{scheme}");
    }
}

pub(crate) async fn a_websocket_is_a_stream_and_a_sink<R: Runtime>() {
    let echo = Echo::start("ws");
    let mut socket = websocket::<R>(&echo, "ws").await;
    for n in 0..100 {
        socket.feed(Message::text(format!("number {n}"))).await.unwrap();
    }
    within::<R, _>(20 * S, SinkExt::flush(&mut socket)).await.unwrap();
    for n in 0..100 {
        let message = within::<R, _>(20 * S, socket.next()).await.unwrap().unwrap();
        assert_eq!(message.body.as_str(), Some(&*format!("number {n}")));
    }
    within::<R, _>(20 * S, SinkExt::close(&mut socket)).await.unwrap();
    assert!(socket.next().await.is_none());
}

pub(crate) async fn a_dropped_connection_is_closed<R: Runtime>() {
    let echo = Echo::start("ws");
    let socket = websocket::<R>(&echo, "ws").await;
    socket.send(Message::text("here")).await.unwrap();
    socket.recv().await.unwrap();
    assert_eq!(echo.peers(), 1);
    drop(socket);
    for _ in 0..500 {
        if echo.peers() == 0 {
            return;
        }
        sleep::<R>(S / 100).await;
    }
    panic!("the peer is still there");
}

pub(crate) async fn datagrams_go_both_ways<R: Runtime>() {
    let echo = Echo::start("udp");
    let channel = UdpChannel::<R>::open(&echo.url("udp", "")).await.unwrap();
    channel.send("hello").await.unwrap();
    let back = within::<R, _>(20 * S, channel.recv()).await.unwrap();
    assert_eq!((back.body.as_str(), back.peer_addr), (Some("and you"), Some(echo.address)));
    channel.send("").await.unwrap();
    assert!(within::<R, _>(20 * S, channel.recv()).await.unwrap().body.is_empty());
    let too_long = channel.send(vec![0; 65_508]).await.unwrap_err();
    assert_eq!(too_long.code, Code::TooLong);
}

pub(crate) async fn members_of_a_group_hear_each_other<R: Runtime>() {
    let _echo = Echo::start("udp_multicast");
    let member = Multicast::<R>::open(&format!("udp_multicast://{GROUP}?iface=lo")).await.unwrap();
    member.send("hello").await.unwrap();
    let mut heard = vec![];
    while heard.len() < 2 {
        let message = within::<R, _>(20 * S, member.recv()).await.unwrap();
        assert_eq!(message.interface.map(u32::from), Some(1));
        heard.push(message.body.as_str().unwrap().to_owned());
    }
    heard.sort();
    assert_eq!(heard, ["and you", "hello"]);
}
