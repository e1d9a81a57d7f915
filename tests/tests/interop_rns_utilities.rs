//! `iolite rns cp` and `iolite rns x` with the reference's `rncp` and `rnx`, and with themselves, both ways.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
};
use tests::reticulum::{
    Config, Content, Interface, InterfaceKind, Maker, Reference, RunningUtility, Scratch, SharedInstance,
    Utility, is_skipped,
};

/// A shared instance of the reference, and programs that use it.
struct Host {
    shared: SharedInstance,
    _instance: Reference,
}

/// A listener, and the hash that others reach it by.
struct Listener {
    running: RunningUtility,
    hash: String,
}

impl Host {
    fn new() -> Self {
        let shared = SharedInstance::fresh();
        let instance = Reference::start(&Config::new([]).with_shared(shared.clone()));
        Self { shared, _instance: instance }
    }

    /// Returns the folder of a program that uses the shared instance.
    fn folder(&self) -> Scratch {
        let folder = Scratch::new();
        Config::new([]).with_shared(self.shared.clone()).write(folder.path());
        folder
    }
}

impl Listener {
    fn start(utility: Utility, maker: Maker, folder: &Path, args: &[&str]) -> Self {
        let args = [&["-l"], args].concat();
        let hash = listener_of(utility, maker, folder);
        let mut running = utility.start_by(maker, folder, &args);
        // The reference's rncp says that it listens only when asked for more words.
        if maker == Maker::Iolite || utility == Utility::Execute {
            running.says("listening");
        }
        Self { running, hash }
    }
}

/// Returns the hash that the listener in `folder` has, or will have.
fn listener_of(utility: Utility, maker: Maker, folder: &Path) -> String {
    printed(utility, maker, folder, "Listening on")
}

fn identity_of(utility: Utility, maker: Maker, folder: &Path) -> String {
    printed(utility, maker, folder, "Identity")
}

fn printed(utility: Utility, maker: Maker, folder: &Path, what: &str) -> String {
    let output = utility.run_by(maker, folder, &["-p"]).succeeded();
    let line = output.stdout.lines().find(|line| line.contains(what));
    let hash = line.and_then(|line| line.split(['<', '>']).nth(1));
    hash.unwrap_or_else(|| panic!("no {what} in {output:#?}")).to_owned()
}

/// Runs `test` between programs of each of two makers and the other, and between ours, which all use one instance of
/// the reference.
fn between_makers(test: impl Fn(Maker, Maker, &Host)) {
    if is_skipped() {
        return;
    }
    let host = Host::new();
    for (calls, answers) in PAIRS {
        test(calls, answers, &host);
    }
}

const PAIRS: [(Maker, Maker); 3] =
    [(Maker::Iolite, Maker::Iolite), (Maker::Iolite, Maker::Reference), (Maker::Reference, Maker::Iolite)];

/// An identity that nobody has.
const STRANGER: &str = "00112233445566778899aabbccddeeff";

/// Files of a byte, of one segment and of several; names with spaces.
fn files() -> [(&'static str, Content); 3] {
    [
        ("one byte", Content::random(1, 1)),
        ("a file of 1 MiB.bin", Content::random(2, 1 << 20)),
        ("five", Content::random(3, 5 << 20)),
    ]
}

fn write_files(folder: &Path) {
    for (name, content) in files() {
        fs::write(folder.join(name), content.bytes()).unwrap();
    }
}

#[test]
fn files_arrive_as_they_were_sent() {
    between_makers(|sender, receiver, host| {
        let (here, there) = (host.folder(), host.folder());
        write_files(here.path());
        let mut listener = Listener::start(Utility::Copy, receiver, there.path(), &["-n"]);
        for (name, content) in files() {
            let args = ["-S", name, &listener.hash];
            Utility::Copy.run_by(sender, here.path(), &args).succeeded();
            if receiver == Maker::Iolite {
                listener.running.says("saved");
            } else {
                listener.running.says("Saved");
            }
            assert!(
                fs::read(there.path().join(name)).unwrap() == content.bytes(),
                "{sender:?} {receiver:?} {name}"
            );
        }
    });
}

#[test]
fn files_are_fetched_as_they_are() {
    between_makers(|asker, giver, host| {
        let (here, there) = (host.folder(), host.folder());
        write_files(there.path());
        let jail = there.path().to_str().unwrap();
        let listener = Listener::start(Utility::Copy, giver, there.path(), &["-n", "-F", "-j", jail]);
        let fetch =
            |name: &str| Utility::Copy.run_by(asker, here.path(), &["-S", "-f", name, &listener.hash]);
        for (name, content) in files() {
            fetch(name).succeeded();
            assert!(
                fs::read(here.path().join(name)).unwrap() == content.bytes(),
                "{asker:?} {giver:?} {name}"
            );
        }
        let missing = fetch("no such file");
        let outside = fetch("../../../../etc/hostname");
        if asker == Maker::Iolite {
            assert!(missing.stderr.contains("has no file"), "{missing:#?}");
            assert!(outside.stderr.contains("does not give"), "{outside:#?}");
        } else {
            assert!(missing.stdout.contains("not found"), "{missing:#?}");
            assert!(outside.stdout.contains("not allowed"), "{outside:#?}");
        }
        assert!(!here.path().join("hostname").exists());
    });
}

#[test]
fn strangers_send_nothing_and_friends_do() {
    between_makers(|sender, receiver, host| {
        let (here, there) = (host.folder(), host.folder());
        write_files(here.path());
        let send = |hash: &str| Utility::Copy.run_by(sender, here.path(), &["-S", "one byte", hash]);
        let listener = Listener::start(Utility::Copy, receiver, there.path(), &["-a", STRANGER]);
        let refused = send(&listener.hash);
        assert_ne!(refused.code, Some(0), "{refused:#?}");
        assert!(!there.path().join("one byte").exists());
        drop(listener);

        // Another destination: for some seconds the reference's instance leads to the listener that is gone.
        let there = host.folder();
        let friend = identity_of(Utility::Copy, sender, here.path());
        let listener = Listener::start(Utility::Copy, receiver, there.path(), &["-a", &friend]);
        send(&listener.hash).succeeded();
    });
}

#[test]
fn commands_run_with_their_input_and_limits() {
    between_makers(|caller, runner, host| {
        let (here, there) = (host.folder(), host.folder());
        let listener = Listener::start(Utility::Execute, runner, there.path(), &["-n"]);
        let run = |command: &str, args: &[&str]| {
            let args = [&["-m", &listener.hash, command], args].concat();
            Utility::Execute.run_by(caller, here.path(), &args)
        };
        let all = run("sh -c 'cat; echo wrong >&2; exit 3'", &["--stdin", "some input"]);
        // The reference's rnx often ends with 0 in spite of -m, also with a listener of its own.
        if caller == Maker::Iolite {
            assert_eq!(all.code, Some(3), "{runner:?} {all:#?}");
        }
        assert!(all.stdout.ends_with("some input"), "{all:#?}");
        assert!(all.stderr.contains("wrong"), "{all:#?}");

        let cut = run("echo something", &["--stdout", "4", "--stderr", "0"]);
        assert!(cut.stdout.contains("some") && !cut.stdout.contains("something"), "{cut:#?}");

        let long = run("head -c 300000 /dev/zero", &[]);
        assert_eq!(long.stdout.bytes().filter(|&byte| byte == 0).count(), 300_000);

        let unknown = run("no-such-command-anywhere", &[]);
        let told = format!("{}{}", unknown.stdout, unknown.stderr);
        assert!(told.contains("could not"), "{unknown:#?}");

        let endless = run("sh -c 'echo begun; exec sleep 600'", &["-w", "2"]);
        assert!(endless.stdout.contains("begun"), "{endless:#?}");
    });
}

#[test]
fn commands_of_strangers_do_not_run() {
    between_makers(|caller, runner, host| {
        let (here, there) = (host.folder(), host.folder());
        let listener = Listener::start(Utility::Execute, runner, there.path(), &["-a", STRANGER]);
        let run = |hash: &str| Utility::Execute.run_by(caller, here.path(), &["-w", "5", hash, "touch ran"]);
        run(&listener.hash);
        assert!(!there.path().join("ran").exists(), "{caller:?} {runner:?}");
        drop(listener);

        let there = host.folder();
        let friend = identity_of(Utility::Execute, caller, here.path());
        let listener = Listener::start(Utility::Execute, runner, there.path(), &["-a", &friend]);
        run(&listener.hash).succeeded();
        assert!(there.path().join("ran").exists(), "{caller:?} {runner:?}");
    });
}

#[test]
fn programs_without_a_shared_instance_use_the_interfaces_of_their_config() {
    if is_skipped() {
        return;
    }
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let listen: SocketAddr = probe.local_addr().unwrap();
    drop(probe);
    let (here, there) = (Scratch::new(), Scratch::new());
    Config::new([Interface::new("server", InterfaceKind::TcpServer { listen })]).write(there.path());
    Config::new([Interface::new("client", InterfaceKind::TcpClient { target: listen })]).write(here.path());
    write_files(here.path());
    let (name, content) = &files()[1];
    let mut listener = Listener::start(Utility::Copy, Maker::Iolite, there.path(), &["-n", "-O"]);
    for sender in [Maker::Iolite, Maker::Reference] {
        Utility::Copy.run_by(sender, here.path(), &["-S", name, &listener.hash]).succeeded();
        listener.running.says("saved");
        assert!(fs::read(there.path().join(name)).unwrap() == content.bytes(), "{sender:?}");
        fs::remove_file(there.path().join(name)).unwrap();
    }
}
