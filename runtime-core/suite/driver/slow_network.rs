//! A network so slow that sockets fill up. Plain loopback never does that.

use super::toy::{LOOPBACK, Toy, local, run, run_on, until};
use proto_core::LinkEvent;
use runtime_core::{Runtime, UdpOptions, bind_udp};
use std::process::Command;

/// Tells the test that it already runs in the slow network.
const INSIDE: &str = "IOLITE_SLOW_NETWORK";

/// Gives the loopback of a new network namespace 8 Mbit/s, then runs the rest of the command line there.
const ENTER: &str =
    "ip link set lo up && tc qdisc add dev lo root tbf rate 8mbit burst 4kb limit 1mb && exec \"$@\"";

pub(crate) async fn a_full_socket_blocks_the_machine_until_there_is_room<R: Runtime>() {
    if std::env::var_os(INSIDE).is_some() {
        fill_a_small_socket::<R>().await;
    } else if has_namespaces() {
        let me = std::env::current_exe().unwrap();
        let scenario = std::thread::current().name().unwrap_or_default().to_owned();
        let output = enter().arg(me).args([&*scenario, "--exact", "--nocapture"]).env(INSIDE, "1").output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    } else {
        eprintln!("skipped: no network namespaces with traffic control here");
    }
}

async fn fill_a_small_socket<R: Runtime>() {
    const COUNT: u32 = 200;
    let server = run::<R>(Toy::default());
    let to = local::<R>(&server).await;
    let small = UdpOptions { send_buffer: 2_048, ..UdpOptions::default() };
    let client = run_on::<R>(Toy::default(), bind_udp(LOOPBACK, small).unwrap());
    client.with(|machine, _, _| {
        for index in 0..COUNT {
            let mut datagram = vec![7; 1_000];
            datagram[..4].copy_from_slice(&index.to_be_bytes());
            machine.send(to, datagram);
        }
    });
    for index in 0..COUNT {
        let (_, datagram) = until::<R, _, _>(&server, |machine| machine.arrived.pop_front()).await;
        assert_eq!(datagram[..4], index.to_be_bytes());
        assert_eq!(datagram.len(), 1_000);
    }
    let stats = client.stats();
    assert!(stats.blocked > 0, "{stats:?}");
    assert_eq!(stats.sent.datagrams, u64::from(COUNT));
    let reports = client.read(|machine, _| machine.reports.clone());
    let writable = reports.iter().filter(|report| **report == LinkEvent::Writable).count() as u64;
    assert_eq!(writable, stats.blocked);
}

fn has_namespaces() -> bool {
    cfg!(target_os = "linux") && enter().arg("true").output().is_ok_and(|output| output.status.success())
}

fn enter() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "sh", "-c", ENTER, "sh"]);
    command
}
