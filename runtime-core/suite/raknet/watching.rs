//! Watching what passes: hooks and progress.

use runtime_core::{
    Runtime,
    raknet::{
        ClientOptions, CloseReason, Config, ConnectFailed, ConnectFailure, Direction, Hooks, ListenOptions,
        RaknetListener, RaknetStream, Verdict,
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{LOOPBACK, impatient, listen, pair, payload, soon, timing::sleep};

pub(crate) async fn a_filtered_datagram_is_not_seen<R: Runtime>() {
    let hooks = Hooks::default().with_filter(|_, _| Verdict::Drop);
    let options = ListenOptions { hooks, ..ListenOptions::default() };
    let listener = RaknetListener::<R>::bind_with(LOOPBACK, options).unwrap();
    let failed = soon::<R, _>(RaknetStream::<R>::connect_with(listener.local_addr(), impatient())).await;
    assert!(matches!(failed, Err(ConnectFailed::Failed(ConnectFailure::NoAnswer))), "{failed:?}");
    assert!(listener.stats()[0].drops.filtered > 0);
}

pub(crate) async fn a_packet_log_sees_both_directions_from_the_first_datagram<R: Runtime>() {
    let listener = listen::<R>();
    let server = listener.local_addr();
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let seen = Arc::clone(&counts);
    let hooks = Hooks::default().with_packet_log(move |_, direction, address, datagram| {
        assert_eq!(address, server);
        assert!(!datagram.is_empty());
        seen[usize::from(direction == Direction::Out)].fetch_add(1, Ordering::Relaxed);
    });
    let options = ClientOptions { hooks, ..ClientOptions::default() };
    let client = soon::<R, _>(RaknetStream::<R>::connect_with(server, options)).await.unwrap();
    let accepted = soon::<R, _>(listener.accept()).await.unwrap();
    accepted.send("to be logged").await.unwrap();
    soon::<R, _>(client.recv()).await.unwrap();
    soon::<R, _>(client.close()).await.unwrap();
    // The session's last datagrams pass while this looks, perhaps.
    for _ in 0..500 {
        let [received, sent] = [0, 1].map(|at| counts[at].load(Ordering::Relaxed) as u64);
        let stats = client.driver_stats();
        if (received, sent) == (stats.received.datagrams, stats.sent.datagrams) {
            assert!(received >= 4 && sent >= 4, "two answers and two more, two requests and two more");
            return;
        }
        sleep::<R>(Duration::from_millis(10)).await;
    }
    panic!("the log saw something else than the driver");
}

pub(crate) async fn hooks_can_be_changed_while_the_listener_runs<R: Runtime>() {
    let listener = listen::<R>();
    let (client, server) = pair(&listener).await;
    let local = server.peer_addr();
    let only_others = move |from, _: &[u8]| if from == local { Verdict::Drop } else { Verdict::Pass };
    listener.set_hooks(&Hooks::default().with_filter(only_others));
    client.send("late").await.unwrap();
    let other = pair(&listener).await;
    other.0.send("in time").await.unwrap();
    assert_eq!(soon::<R, _>(other.1.recv()).await.unwrap().payload, "in time");
    assert_eq!(server.try_recv(), Ok(None));
    listener.set_hooks(&Hooks::default());
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, "late");
}

pub(crate) async fn the_progress_of_a_long_message_is_told<R: Runtime>() {
    let mut config = Config::default();
    config.session.split_progress = true;
    let listener = RaknetListener::<R>::bind(LOOPBACK, config).unwrap();
    // Slow enough for an observer on a busy machine: a fifth of a second.
    let mut slow = ClientOptions::default();
    slow.endpoint.session.bandwidth_limit = Some(5 << 20);
    let client = soon::<R, _>(RaknetStream::<R>::connect_with(listener.local_addr(), slow)).await.unwrap();
    let server = soon::<R, _>(listener.accept()).await.unwrap();
    assert_eq!(server.progress(), None);
    client.send(payload(1, 1 << 20)).await.unwrap();
    let (mut reports, mut parts) = (0, 0);
    loop {
        let progress = soon::<R, _>(server.next_progress()).await.unwrap();
        assert!(parts < progress.parts && progress.parts <= progress.total, "{progress:?} after {parts}");
        (reports, parts) = (reports + 1, progress.parts);
        if parts == progress.total {
            assert_eq!(server.progress(), Some(progress));
            break;
        }
    }
    assert!(reports > 1, "nothing in between");
    assert_eq!(soon::<R, _>(server.recv()).await.unwrap().payload, payload(1, 1 << 20));
    soon::<R, _>(client.close()).await.unwrap();
    assert_eq!(soon::<R, _>(server.next_progress()).await, Err(CloseReason::PeerClose));
    assert_eq!(server.progress(), None);
}
