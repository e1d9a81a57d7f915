//! Scenarios of links that stay on this host: local sockets, child processes, names.

use super::{
    stream_toy::{StreamToy, accepted, down, receive, run_with, up},
    timing::sleep,
    toy::until,
};
use proto_core::{DownReason, LinkEvent, LinkId, LinkSpec};
use runtime_core::Runtime;
use std::{path::Path, time::Duration};

const LISTENER: LinkId = LinkId(1);
const LINK: LinkId = LinkId(2);

pub(crate) async fn local_sockets_are_streams_too<R: Runtime>() {
    let name = format!("iolite-{}-{:?}", std::process::id(), std::thread::current().id());
    let file = std::env::temp_dir().join(&name).to_str().unwrap().to_owned();
    let abstract_name = format!("\0{name}");
    for path in [&file, &abstract_name] {
        if path.starts_with('\0') && !cfg!(target_os = "linux") {
            continue;
        }
        let echo = StreamToy { echo: true, ..StreamToy::default() };
        let server = run_with::<R>(echo, LISTENER, LinkSpec::UnixListen { path: path.clone() });
        assert_eq!(up::<R>(&server, LISTENER).await, None);
        let client = run_with::<R>(StreamToy::default(), LINK, LinkSpec::UnixConnect { path: path.clone() });
        up::<R>(&client, LINK).await;
        client.with(|machine, _, _| machine.send(LINK, vec![7; 1 << 20]));
        assert!(receive::<R>(&client, LINK, 1 << 20).await == vec![7; 1 << 20]);
        accepted::<R>(&server).await;
        server.with(|machine, _, _| machine.close(LISTENER));
        down::<R>(&server, LISTENER).await;
        assert!(!Path::new(&file).exists());
        client.with(|machine, _, _| {
            machine.open(LinkId(3), LinkSpec::UnixConnect { path: path.clone() });
        });
        assert_eq!(down::<R>(&client, LinkId(3)).await, DownReason::Refused);
    }
}

pub(crate) async fn a_child_process_is_a_link<R: Runtime>() {
    let handle = run_with::<R>(StreamToy::default(), LINK, LinkSpec::Pipe { command: "cat".into() });
    up::<R>(&handle, LINK).await;
    handle.with(|machine, _, _| (0..64).for_each(|index| machine.send(LINK, vec![index; 50_000])));
    let back = receive::<R>(&handle, LINK, 64 * 50_000).await;
    assert!(back.chunks(50_000).zip(0..).all(|(chunk, index)| chunk == [index; 50_000]));

    let command = "echo last words; exit 3".into();
    handle.with(|machine, _, _| machine.open(LinkId(3), LinkSpec::Pipe { command }));
    assert_eq!(down::<R>(&handle, LinkId(3)).await, DownReason::Io);
    assert_eq!(handle.read(|machine, _| machine.take(LinkId(3))), b"last words\n");
    assert!(!handle.read(|machine, _| machine.reports_of(LinkId(3)).contains(&LinkEvent::Eof)));
}

pub(crate) async fn a_closed_link_takes_its_process_with_it<R: Runtime>() {
    // The shell, and a process that it started.
    let command = "sleep 1000 & echo $! $$; wait".into();
    let handle = run_with::<R>(StreamToy::default(), LINK, LinkSpec::Pipe { command });
    let line = until::<R, _, _>(&handle, |machine| {
        let arrived = machine.arrived.get(&LINK)?;
        arrived.ends_with(b"\n").then(|| String::from_utf8(arrived.clone()).unwrap())
    })
    .await;
    let processes: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(processes.len(), 2);
    handle.with(|machine, _, _| machine.close(LINK));
    assert_eq!(down::<R>(&handle, LINK).await, DownReason::Closed);
    if !cfg!(target_os = "linux") {
        return;
    }
    for process in processes {
        for _ in 0..500 {
            if !is_alive(process) {
                break;
            }
            sleep::<R>(Duration::from_millis(10)).await;
        }
        assert!(!is_alive(process), "{process} goes on");
    }
}

pub(crate) async fn names_are_resolved<R: Runtime>() {
    let spec = |host: &str| LinkSpec::Resolve { host: host.into(), port: 4_242 };
    let handle = run_with::<R>(StreamToy::default(), LINK, spec("localhost"));
    handle.with(|machine, _, _| {
        machine.open(LinkId(3), spec("192.0.2.1"));
        machine.open(LinkId(4), spec("localhost"));
        machine.close(LinkId(4));
        machine.open(LinkId(5), spec("not a name"));
    });
    let mut answers = Vec::new();
    for link in [LINK, LinkId(3), LinkId(5)] {
        answers.push(
            until::<R, _, _>(&handle, |machine| match machine.reports_of(link).first() {
                Some(LinkEvent::Resolved { addresses }) => Some(addresses.clone()),
                _ => None,
            })
            .await,
        );
    }
    assert!(!answers[0].is_empty());
    assert!(answers[0].iter().all(|address| address.ip().is_loopback() && address.port() == 4_242));
    assert_eq!(answers[1], ["192.0.2.1:4242".parse().unwrap()]);
    assert_eq!(answers[2], []);
    let closed = handle.read(|machine, _| machine.reports_of(LinkId(4)));
    assert_eq!(closed, [LinkEvent::Down(DownReason::Closed)]);
}

/// A process that nobody has waited for yet counts as gone.
fn is_alive(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
