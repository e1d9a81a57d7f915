//! The programs that look into an instance and after it, of PyPI rns 1.5.7 and of ours, on instances of both.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use serde_json::Value;
use std::{fs, path::Path};
use tests::peers::until;
use tests::reticulum::{
    Config, Daemon, DestinationSpec, Maker, Medium, Output, Reference, ReticulumPeer as _, Scratch,
    SharedInstance, Utility, is_skipped,
};

/// Both makers' programs.
const MAKERS: [Maker; 2] = [Maker::Reference, Maker::Iolite];

/// A transport node with a shared instance, of either maker.
enum Instance {
    Theirs(Box<Reference>),
    Ours(Daemon),
}

impl Instance {
    fn start(maker: Maker, config: &Config) -> Self {
        match maker {
            Maker::Reference => Self::Theirs(Box::new(Reference::start(config))),
            Maker::Iolite => Self::Ours(Daemon::start(config)),
        }
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Theirs(node) => node.folder(),
            Self::Ours(daemon) => daemon.folder(),
        }
    }
}

/// Two transport nodes that are joined by TCP; a program of the reference has a destination behind the far one.
struct Network {
    near: Instance,
    far: Instance,
    destination: String,
    _program: Reference,
}

impl Network {
    fn start(near: Maker, far: Maker, options: &[(&str, &str)]) -> Self {
        let (listener, connector) = Medium::Tcp.ends();
        let start = |maker, interface, shared: &SharedInstance| {
            let config = Config::new([interface]).with_transport().with_probes().with_shared(shared.clone());
            let config = options.iter().fold(config, |config, (key, value)| config.with_option(key, value));
            Instance::start(maker, &config)
        };
        let shared = [SharedInstance::fresh(), SharedInstance::fresh()];
        let far = start(far, listener, &shared[0]);
        let near = start(near, connector, &shared[1]);
        let mut program = Reference::start(&Config::new([]).with_shared(shared[0].clone()));
        let identity = program.create_identity();
        let spec = DestinationSpec::own("iolite.tests.managed", identity);
        let destination = program.create_destination(&spec);
        program.announce(destination, None);
        Self { near, far, destination: destination.to_string(), _program: program }
    }
}

fn json(output: Output) -> Value {
    let output = output.succeeded();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:#?}"))
}

/// Every pair of a program's maker and an instance's, but for the reference with itself.
fn pairs() -> impl Iterator<Item = (Maker, Maker)> {
    MAKERS
        .into_iter()
        .flat_map(|program| MAKERS.map(|instance| (program, instance)))
        .filter(|(program, instance)| (*program, *instance) != (Maker::Reference, Maker::Reference))
}

#[test]
fn status_shows_the_interfaces_of_either_instance() {
    if is_skipped() {
        return;
    }
    for (program, instance) in pairs() {
        let network = Network::start(instance, Maker::Reference, &[]);
        let run = |args: &[&str]| Utility::Status.run_by(program, network.near.folder(), args);
        let is_up = until(|| run(&[]).succeeded().stdout.matches(": Up").nth(1).map(drop));
        assert!(is_up.is_some(), "{program:?} {instance:?}: the interface does not come up");
        let status = json(run(&["-j"]));
        let interfaces = status["interfaces"].as_array().unwrap();
        let named = |part: &str| {
            interfaces.iter().find(|interface| interface["name"].as_str().unwrap().contains(part))
        };
        let connector = named("connector").unwrap_or_else(|| panic!("{program:?} {instance:?} {status:#}"));
        assert_eq!(
            (connector["status"].as_bool(), connector["bitrate"].as_u64()),
            (Some(true), Some(10_000_000))
        );
        assert!(named("Shared Instance[").is_some(), "{status:#}");
        let shown = run(&["-a", "-l", "-t", "-A"]).succeeded().stdout;
        for expected in ["Traffic", "Totals", "Transport Instance <", "Probe responder at <", "in link table"]
        {
            assert!(shown.contains(expected), "{program:?} {instance:?}: no {expected} in {shown}");
        }
    }
}

#[test]
fn paths_are_shown_found_and_dropped_on_either_instance() {
    if is_skipped() {
        return;
    }
    for (program, instance) in pairs() {
        let network = Network::start(instance, Maker::Reference, &[]);
        let hash = network.destination.as_str();
        let run = |args: &[&str]| Utility::Path.run_by(program, network.near.folder(), args);
        let found = run(&[hash]).succeeded().stdout;
        assert!(found.contains("Path found") && found.contains("1 hop away via <"), "{found}");
        assert!(found.contains("on TCPInterface[connector/"), "{found}");
        let table = || json(run(&["-t", "-j"])).to_string();
        assert!(table().contains(hash), "{program:?} {instance:?} {}", table());
        assert!(run(&["-t", "-m", "1"]).stdout.contains(hash));
        json(run(&["-r", "-j"]));
        assert!(run(&["-d", hash]).succeeded().stdout.contains("Dropped path"));
        // The far node announces it a second time, which makes the path known again.
        let dropped = until(|| {
            run(&["-d", hash]);
            (!table().contains(hash)).then_some(())
        });
        assert!(dropped.is_some(), "{program:?} {instance:?}: the path is still there");
        run(&["-D"]).succeeded();
    }
}

#[test]
fn probes_are_proved_across_either_instance() {
    if is_skipped() {
        return;
    }
    for (program, instance) in pairs() {
        let network = Network::start(instance, Maker::Iolite, &[]);
        let probe = |instance: &Instance| {
            let status = Utility::Status.run_by(Maker::Iolite, instance.folder(), &["-j"]);
            json(status)["probe_responder"].as_str().unwrap().to_owned()
        };
        for target in [probe(&network.near), probe(&network.far)] {
            let args = ["rnstransport.probe", &target, "-n", "2"];
            let probed = Utility::Probe.run_by(program, network.near.folder(), &args).succeeded();
            assert!(probed.stdout.contains("Sent 2, received 2"), "{program:?} {instance:?} {probed:#?}");
        }
    }
}

#[test]
fn identities_are_refused_and_accepted_again_on_either_instance() {
    if is_skipped() {
        return;
    }
    let identity = "00112233445566778899aabbccddeeff";
    for (program, instance) in pairs() {
        let network = Network::start(instance, Maker::Reference, &[]);
        let run = |args: &[&str]| Utility::Path.run_by(program, network.near.folder(), args).stdout;
        assert!(
            run(&["-B", identity, "--reason", "spam", "--duration", "2"]).contains("Blackholed identity")
        );
        let shown = run(&["-b"]);
        assert!(shown.contains(identity) && shown.contains("1h, 59m") && shown.contains("(spam)"), "{shown}");
        assert!(run(&["-U", identity]).contains("Lifted blackhole"), "{program:?} {instance:?}");
        assert!(!run(&["-b"]).contains(identity));
    }
}

#[test]
fn either_instance_is_managed_from_elsewhere() {
    if is_skipped() {
        return;
    }
    let keys = Scratch::new();
    let owner = keys.path().join("owner");
    let owner = owner.to_str().unwrap();
    let made = Utility::Identity.run_by(Maker::Iolite, keys.path(), &["-g", owner]).succeeded();
    let hash = made.stdout.split(['<', '>']).nth(1).unwrap().to_owned();
    let options = [
        ("enable_remote_management", "yes"),
        ("remote_management_allowed", &*hash),
        ("publish_blackhole", "yes"),
    ];
    for (program, managed) in pairs() {
        let network = Network::start(Maker::Reference, managed, &options);
        let far = json(Utility::Status.run_by(Maker::Iolite, network.far.folder(), &["-j"]));
        let transport = far["transport_id"].as_str().unwrap();
        let here = network.near.folder();
        let by = ["-R", transport, "-i", owner];
        let status = ask(program, Utility::Status, here, &[&by[..], &["-w", "5", "-l"]].concat(), "listener");
        assert!(status.contains("in link table"), "{program:?} {managed:?} {status}");
        ask(program, Utility::Path, here, &[&by[..], &["-W", "5", "-t"]].concat(), &network.destination);
        let refused = "00112233445566778899aabbccddeeff";
        Utility::Path.run_by(Maker::Iolite, network.far.folder(), &["-B", refused]).succeeded();
        ask(program, Utility::Path, here, &["-W", "5", "-p", transport], refused);
    }
}

/// Runs a program until it says what is expected, and returns all that it says. The reference's programs lose an answer
/// now and then on a busy machine, of their own nodes as of ours; ours must have it at once.
fn ask(program: Maker, utility: Utility, folder: &Path, args: &[&str], expected: &str) -> String {
    let tries = if program == Maker::Reference { 4 } else { 1 };
    let mut said = Vec::new();
    for _ in 0..tries {
        let output = utility.run_by(program, folder, args);
        if output.stdout.contains(expected) {
            return output.stdout;
        }
        said.push(output);
    }
    panic!("{program:?} {utility:?} {args:?} never said {expected:?} but {said:#?}")
}

#[test]
fn identities_and_what_is_made_with_them_are_understood_by_both() {
    if is_skipped() {
        return;
    }
    for (maker, reader) in [(Maker::Iolite, Maker::Reference), (Maker::Reference, Maker::Iolite)] {
        let folder = Scratch::new();
        let path = |name: &str| folder.path().join(name);
        Config::new([]).write(folder.path());
        let make = |args: &[&str]| Utility::Identity.run_by(maker, folder.path(), args).succeeded();
        let read = |args: &[&str]| Utility::Identity.run_by(reader, folder.path(), args).succeeded();
        fs::write(path("note"), "hello").unwrap();
        make(&["-g", "me"]);
        let hash = |shown: Output| {
            let line = shown.stdout.lines().find(|line| line.contains("Identity Hash")).map(str::to_owned);
            line.unwrap_or_else(|| panic!("no hash in {shown:#?}"))
        };
        assert_eq!(hash(make(&["-i", "me", "-p"])), hash(read(&["-i", "me", "-p"])));
        for encoding in ["-F", "-B", "-b"] {
            let keys = |of: Output| of.stdout.lines().last().unwrap().rsplit(": ").next().unwrap().to_owned();
            let exported = keys(make(&["-i", "me", "-x", encoding]));
            assert_eq!(exported, keys(read(&["-i", "me", "-x", encoding])));
        }
        make(&["-i", "me", "-s", "note"]);
        assert!(read(&["-i", "me", "-V", "note.rsg"]).stdout.contains("Signature is valid"));
        make(&["-i", "me", "-e", "note"]);
        fs::remove_file(path("note")).unwrap();
        read(&["-i", "me", "-d", "note.rfe"]);
        assert_eq!(fs::read_to_string(path("note")).unwrap(), "hello", "{maker:?}");
    }
}
