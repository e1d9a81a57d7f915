//! Many sessions of one client.

use futures_util::future::join_all;
use runtime_core::{
    Runtime,
    raknet::{CloseReason, Config, ConnectFailed, ConnectFailure, ConnectOptions, RaknetClient},
};
use std::{collections::HashSet, time::Duration};

use super::{LOOPBACK, listen, payload, soon};

const SESSIONS: usize = 40;

pub(crate) async fn a_client_opens_many_sessions_with_one_server<R: Runtime>() {
    let (listener, client) = (listen::<R>(), RaknetClient::<R>::new(Config::client()).unwrap());
    let connects = (0..SESSIONS).map(|_| client.connect(listener.local_addr()));
    let near = soon::<R, _>(join_all(connects)).await;
    let near: Vec<_> = near.into_iter().map(|stream| stream.unwrap()).collect();
    let mut far = Vec::new();
    for _ in 0..SESSIONS {
        far.push(soon::<R, _>(listener.accept()).await.unwrap());
    }
    let addresses: HashSet<_> = far.iter().map(|stream| stream.peer_addr()).collect();
    let guids: HashSet<_> = far.iter().map(|stream| stream.guid()).collect();
    assert_eq!((addresses.len(), guids.len(), client.stats().peers), (SESSIONS, SESSIONS, SESSIONS));

    let echoes = far.iter().map(|stream| async {
        for _ in 0..20 {
            stream.send(stream.recv().await.unwrap().payload).await.unwrap();
        }
    });
    let dialogues = near.iter().enumerate().map(|(number, stream)| async move {
        for round in 0..20 {
            let question = payload(number * 100 + round, 200);
            stream.send(question.clone()).await.unwrap();
            assert_eq!(stream.recv().await.unwrap().payload, question);
        }
    });
    soon::<R, _>(futures_util::future::join(join_all(echoes), join_all(dialogues))).await;
}

pub(crate) async fn the_end_of_one_session_leaves_the_clients_others_alone<R: Runtime>() {
    let (listener, client) = (listen::<R>(), RaknetClient::<R>::new(Config::client()).unwrap());
    let to = listener.local_addr();
    let first = soon::<R, _>(client.connect(to)).await.unwrap();
    let far_first = soon::<R, _>(listener.accept()).await.unwrap();
    let second = soon::<R, _>(client.connect(to)).await.unwrap();
    let far_second = soon::<R, _>(listener.accept()).await.unwrap();
    soon::<R, _>(first.close()).await.unwrap();
    assert_eq!(soon::<R, _>(far_first.recv()).await, Err(CloseReason::PeerClose));

    let third = soon::<R, _>(client.connect(to)).await.unwrap();
    // Without the client its sessions live on.
    drop(client);
    second.send("still there").await.unwrap();
    assert_eq!(soon::<R, _>(far_second.recv()).await.unwrap().payload, "still there");
    assert_eq!(third.close_reason(), None);
}

pub(crate) async fn a_client_hears_that_nobody_is_there<R: Runtime>() {
    let client = RaknetClient::<R>::new(Config::client()).unwrap();
    let nobody = std::net::UdpSocket::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let options = ConnectOptions { timeout: Duration::from_millis(300), ..ConnectOptions::default() };
    let failed = soon::<R, _>(client.connect_with(nobody, None, options.clone())).await.unwrap_err();
    assert!(matches!(failed, ConnectFailed::Failed(ConnectFailure::NoAnswer)), "{failed:?}");

    // An address that is not ours cannot be bound.
    let elsewhere = Some("192.0.2.1:0".parse().unwrap());
    let failed = soon::<R, _>(client.connect_with(nobody, elsewhere, options)).await.unwrap_err();
    assert!(matches!(failed, ConnectFailed::Failed(ConnectFailure::LinkDown)), "{failed:?}");
    assert_eq!(client.stats().peers, 0);
}
