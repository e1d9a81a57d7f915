//! Messages outside sessions.

use runtime_core::{
    Runtime,
    raknet::{OfflineError, RaknetSocket},
};

use super::{LOOPBACK, listen, pair, soon};

pub(crate) async fn a_message_outside_sessions_arrives_and_is_answered<R: Runtime>() {
    let listener = listen::<R>();
    let socket = RaknetSocket::<R>::bind(LOOPBACK).unwrap();
    socket.send_out_of_band(listener.local_addr(), b"who are you?").unwrap();
    let question = soon::<R, _>(listener.recv_out_of_band()).await.unwrap();
    assert_eq!((question.from, question.guid), (socket.local_addr(), socket.guid()));
    assert_eq!((&question.payload[..], question.advertisement()), (&b"who are you?"[..], None));
    listener.send_out_of_band(question.from, b"a listener").unwrap();
    let answer = soon::<R, _>(socket.recv_out_of_band()).await.unwrap();
    assert_eq!((answer.from, answer.guid), (listener.local_addr(), listener.guid()));
    assert_eq!(answer.payload, "a listener");

    // They pass sessions by, and nobody has to read them.
    let (client, server) = pair(&listener).await;
    for _ in 0..10 {
        socket.send_out_of_band(client.peer_addr(), b"unread").unwrap();
    }
    client.send("in the session").await.unwrap();
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, "in the session");
}

pub(crate) async fn a_system_makes_itself_known<R: Runtime>() {
    let listener = listen::<R>();
    let socket = RaknetSocket::<R>::bind(LOOPBACK).unwrap();
    socket.advertise(listener.local_addr(), b"a new node").unwrap();
    let heard = soon::<R, _>(listener.recv_out_of_band()).await.unwrap();
    assert_eq!(heard.advertisement().unwrap(), "a new node");
    listener.advertise(heard.from, b"an old one").unwrap();
    let heard = soon::<R, _>(socket.recv_out_of_band()).await.unwrap();
    assert_eq!(heard.advertisement().unwrap(), "an old one");
}

pub(crate) async fn too_long_a_message_outside_sessions_is_refused<R: Runtime>() {
    let (listener, socket) = (listen::<R>(), RaknetSocket::<R>::bind(LOOPBACK).unwrap());
    let to = listener.local_addr();
    assert_eq!(socket.send_out_of_band(to, &[1; 400]), Err(OfflineError::TooLong { len: 400, max: 399 }));
    assert_eq!(listener.advertise(to, &[1; 399]), Err(OfflineError::TooLong { len: 399, max: 398 }));
    socket.send_out_of_band(to, &[1; 399]).unwrap();
    assert_eq!(soon::<R, _>(listener.recv_out_of_band()).await.unwrap().payload.len(), 399);
}

pub(crate) async fn messages_outside_sessions_end_with_the_listener<R: Runtime>() {
    let listener = listen::<R>();
    let reading = listener.recv_out_of_band();
    let closing = listener.close();
    let (ended, ()) = soon::<R, _>(futures_util::future::join(reading, closing)).await;
    assert!(ended.is_err(), "{ended:?}");
    assert_eq!(listener.dropped_out_of_band(), 0);
}
