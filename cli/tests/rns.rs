//! The daemon and the utilities around it, with each other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and waits for processes by the clock"
)]

mod command;

use command::{Finished, Running, iolite};
use serde_json::Value;
use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A directory with a config file.
struct Host(TempDir);

impl Host {
    /// Writes a config file for an instance that no other test has.
    fn new(reticulum: &str, interfaces: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[reticulum]\ninstance_name = cli-{}-{number}\n{reticulum}\n[interfaces]\n{interfaces}",
            process::id()
        );
        fs::write(folder.path().join("config"), text).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn start(&self) -> Daemon {
        let running = Running::start(&["rns", "daemon", "--json", "--config", self.path().to_str().unwrap()]);
        Daemon::started(running)
    }

    /// Runs a utility.
    fn run(&self, utility: &str, arguments: &[&str]) -> Finished {
        let config = ["rns", utility, "--config", self.path().to_str().unwrap()];
        iolite(&[&config[..], arguments].concat())
    }

    /// Runs a utility that must succeed and print one JSON value.
    fn ask(&self, utility: &str, arguments: &[&str]) -> Value {
        let finished = self.run(utility, &[arguments, &["--json"]].concat());
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.json_lines().remove(0)
    }
}

/// A daemon that runs.
struct Daemon {
    running: Running,
    transport: String,
    probe: Option<String>,
}

impl Daemon {
    fn started(mut running: Running) -> Self {
        let started = running.event("started");
        let text = |key: &str| started[key].as_str().map(str::to_owned);
        Self { running, transport: text("transport_id").unwrap(), probe: text("probe") }
    }
}

/// Two hosts, the second of which connects to the first; both answer probes.
fn neighbours(options: &str) -> (Host, Host) {
    let options = format!("enable_transport = yes\nrespond_to_probes = yes\n{options}");
    let port = free_port();
    let server = format!(
        "[[server]]\ntype = TCPServerInterface\nenabled = yes\nlisten_ip = 127.0.0.1\nlisten_port = {port}\n"
    );
    let client = format!(
        "[[client]]\ntype = TCPClientInterface\nenabled = yes\ntarget_host = 127.0.0.1\ntarget_port = {port}\n"
    );
    (Host::new(&options, &server), Host::new(&options, &client))
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Asks until the answer is right.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < end, "it never became so");
        thread::sleep(Duration::from_millis(100));
    }
}

fn interface<'v>(status: &'v Value, name: &str) -> Option<&'v Value> {
    status["interfaces"].as_array().unwrap().iter().find(|interface| interface["short_name"] == name)
}

fn connected(near: &Host) {
    until(|| {
        interface(&near.ask("status", &[]), "client").filter(|client| client["status"] == true).cloned()
    });
}

#[test]
fn the_config_file_of_a_new_node_can_be_had_without_starting_one() {
    let example = iolite(&["rns", "daemon", "--exampleconfig"]);
    assert_eq!(example.code, Some(0), "{example:?}");
    assert!(example.stdout.contains("[reticulum]") && example.stdout.contains("[interfaces]"), "{example:?}");
}

#[test]
fn a_second_daemon_for_the_same_instance_says_so() {
    let host = Host::new("", "");
    let _first = host.start();
    let second = host.run("daemon", &[]);
    assert_eq!(second.code, Some(3), "{second:?}");
    assert!(second.stderr.contains("runs already") && second.stderr.contains("instance_name"), "{second:?}");
}

#[test]
fn mistakes_in_the_config_file_are_told_and_the_rest_starts() {
    let port = free_port();
    let good = format!(
        "[[good]]\ntype = TCPServerInterface\nenabled = yes\nlisten_ip = 127.0.0.1\nlisten_port = {port}\n"
    );
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let used = taken.local_addr().unwrap().port();
    let busy = format!(
        "[[busy]]\ntype = TCPServerInterface\nenabled = yes\nlisten_ip = 127.0.0.1\nlisten_port = {used}\n"
    );
    let bad = "[[bad]]\ntype = TCPServerInterfce\nenabled = yes\n";
    let host = Host::new("enable_transprt = yes", &format!("{good}{busy}{bad}"));
    let mut running = Running::start(&["rns", "daemon", "--json", "--config", host.path().to_str().unwrap()]);
    let told: Vec<String> = std::iter::from_fn(|| {
        let event: Value = serde_json::from_str(&running.line()).unwrap();
        (event["event"] != "started").then(|| event["text"].as_str().unwrap().to_owned())
    })
    .collect();
    for expected in [
        "line 3: [reticulum] enable_transprt: there is no such key here; did you mean enable_transport?",
        "did you mean TCPServerInterface?",
        &format!("the interface \"busy\" cannot listen on 127.0.0.1:{used}"),
    ] {
        assert!(told.iter().any(|line| line.contains(expected)), "no {expected:?} in {told:#?}");
    }
    until(|| interface(&host.ask("status", &[]), "good").filter(|good| good["status"] == true).cloned());
    assert!(interface(&host.ask("status", &[]), "bad").is_none());
    assert_eq!(interface(&host.ask("status", &[]), "busy").unwrap()["status"], false);
    drop(taken);
    running.event("log");
}

#[test]
fn nobody_to_ask_is_told_with_a_remedy() {
    let host = Host::new("", "");
    for (utility, arguments) in [("status", &[][..]), ("path", &["-t"])] {
        let refused = host.run(utility, arguments);
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains("iolite rns daemon"), "{refused:?}");
    }
    assert!(!host.path().join("storage").exists(), "a question leaves nothing behind");
}

#[test]
fn interfaces_are_stopped_and_started_while_the_daemon_runs() {
    let (host, _) = neighbours("");
    let _daemon = host.start();
    let names = || interface(&host.ask("status", &[]), "server").is_some();
    assert!(names());
    host.ask("status", &["--detach", "server"]);
    assert!(!names());
    assert_eq!(host.run("status", &["--detach", "server"]).code, Some(1));
    host.ask("status", &["--attach", "server"]);
    assert!(names());
    assert_eq!(host.run("status", &["--attach", "server"]).code, Some(1));
    assert_eq!(host.run("status", &["--attach", "nothing"]).code, Some(1));
    host.ask("status", &["--reload", "server"]);
    assert!(names());
}

#[test]
fn paths_are_found_dropped_and_probed() {
    let (far, near) = neighbours("");
    let (there, _here) = (far.start(), near.start());
    connected(&near);
    let probe = there.probe.as_deref().unwrap();
    let found = near.ask("path", &[probe]);
    assert_eq!((found["hops"].as_u64(), found["via"].as_str()), (Some(1), Some(probe)));
    assert!(found["interface"].as_str().unwrap().starts_with("TCPInterface[client/"), "{found}");
    let probed = near.ask("probe", &["rnstransport.probe", probe]);
    assert!(probed["rtt_ms"].as_f64().unwrap() > 0.0, "{probed}");
    let wrong = near.run("probe", &["rnstransport.prob", probe]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");

    let table = near.ask("path", &["-t"]);
    assert_eq!(table[0]["hash"].as_str(), Some(probe), "{table}");
    near.ask("path", &["-d", probe]);
    assert_eq!(near.ask("path", &["-t"]).as_array().unwrap().len(), 0);
    assert_eq!(near.run("path", &["-d", probe]).code, Some(1));
    near.ask("path", &["-D"]);
}

#[test]
fn an_announce_reaches_the_neighbour_and_a_refused_identity_does_not() {
    let (far, near) = neighbours("");
    let (_there, _here) = (far.start(), near.start());
    connected(&near);
    let me = near.path().join("me");
    let me = me.to_str().unwrap();
    let identity = near.ask("id", &["-g", me])["identity"].as_str().unwrap().to_owned();
    let announce = |name: &str| {
        let announced = near.ask("announce", &[name, "-i", me, "--app-data", "hello"]);
        announced["destination"].as_str().unwrap().to_owned()
    };
    let heard = |hash: &str| far.ask("path", &["-t"]).to_string().contains(hash);
    let first = announce("iolite.tests.first");
    until(|| heard(&first).then_some(()));

    far.ask("path", &["-B", &identity, "--reason", "a test", "--duration", "1"]);
    assert_eq!(far.run("path", &["-B", &identity]).code, Some(1));
    assert_eq!(far.ask("path", &["-b"])[&identity]["reason"], "a test");
    assert!(!heard(&first), "its paths are forgotten");
    let second = announce("iolite.tests.second");
    thread::sleep(Duration::from_secs(1));
    assert!(!heard(&second));
    far.ask("path", &["-U", &identity]);
    let third = announce("iolite.tests.third");
    until(|| heard(&third).then_some(()));
}

#[test]
fn a_node_is_managed_from_elsewhere_by_those_who_may() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (owner, stranger) = (file("owner"), file("stranger"));
    let make = |path: &str| iolite(&["rns", "id", "-g", path, "--json"]).json_lines().remove(0);
    let hash = make(&owner)["identity"].as_str().unwrap().to_owned();
    make(&stranger);
    let (far, near) = neighbours(&format!(
        "enable_remote_management = yes\nremote_management_allowed = {hash}\npublish_blackhole = yes"
    ));
    let (there, _here) = (far.start(), near.start());
    connected(&near);
    let status = near.ask("status", &["-R", &there.transport, "-i", &owner]);
    assert_eq!(status["transport_id"].as_str(), Some(&*there.transport));
    near.ask("path", &["-R", &there.transport, "-i", &owner, "-t"]);
    let refused = near.run("status", &["-R", &there.transport, "-i", &stranger, "-w", "3s"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert_eq!(near.run("status", &["-R", &there.transport]).code, Some(2), "no identity");

    far.ask("path", &["-B", &hash]);
    let list = near.ask("path", &["-p", &there.transport]);
    assert_eq!(list[&hash]["source"].as_str(), Some(&*there.transport));
}

#[test]
fn a_daemon_knows_after_a_restart_what_it_knew() {
    let (far, near) = neighbours("");
    let (there, here) = (far.start(), near.start());
    connected(&near);
    let probe = there.probe.as_deref().unwrap();
    near.ask("path", &[probe]);
    near.ask("path", &["-B", "00112233445566778899aabbccddeeff"]);
    let transport = here.transport.clone();
    assert_eq!(here.running.interrupt(), Some(0));
    let again = near.start();
    assert_eq!(again.transport, transport);
    let table = near.ask("path", &["-t"]);
    assert_eq!(table[0]["hash"].as_str(), Some(probe), "{table}");
    assert_eq!(near.ask("path", &["-b"]).as_object().unwrap().len(), 1);
    connected(&near);
    near.ask("probe", &["rnstransport.probe", probe]);
}

#[test]
fn a_utility_without_daemon_uses_the_interfaces_of_the_config() {
    let (far, near) = neighbours("");
    let there = far.start();
    let probe = there.probe.as_deref().unwrap();
    let probed = near.ask("probe", &["rnstransport.probe", probe, "-n", "1"]);
    assert_eq!(probed["hops"].as_u64(), Some(1));
}

#[test]
fn an_identity_signs_and_encrypts() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let id = |arguments: &[&str]| iolite(&[&["rns", "id"], arguments].concat());
    let (me, note) = (file("me"), file("note.txt"));
    fs::write(&note, "hello").unwrap();
    assert_eq!(id(&["-g", &me]).code, Some(0));
    assert_eq!(id(&["-g", &me]).code, Some(4), "keys are never overwritten");
    assert_eq!(id(&["-i", &me, "-s", &note]).code, Some(0));
    let valid = id(&["-V", &file("note.txt.rsg")]);
    assert_eq!(valid.code, Some(0), "{valid:?}");
    assert!(valid.stdout.contains("Signature is valid"), "{valid:?}");
    assert_eq!(id(&["-i", &me, "-e", &note]).code, Some(0));
    fs::remove_file(&note).unwrap();
    assert_eq!(id(&["-i", &me, "-d", &file("note.txt.rfe")]).code, Some(0));
    assert_eq!(fs::read_to_string(&note).unwrap(), "hello");
    fs::write(&note, "hallo").unwrap();
    let invalid = id(&["-V", &file("note.txt.rsg")]);
    assert_eq!(invalid.code, Some(1), "{invalid:?}");
    assert!(invalid.stdout.contains("not the one that was signed"), "{invalid:?}");
}
