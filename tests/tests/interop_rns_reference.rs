//! PyPI rns 1.5.7 with itself: the scenarios, and the harness that runs them, are right.

use std::fs;
use tests::peers::until;
use tests::reticulum::{
    AccessCode, Cast, Config, Content, DestinationSpec, Lxmf, Medium, Reference, ReticulumPeer, Scratch,
    SharedInstance, Stage, Utility, Waiting as _, is_skipped,
    scenarios::{
        OVER_THREE_HOPS, Scenario, announces, broadcasts, channels, links, packets, ratchets, requests,
        resources,
    },
};

/// Plays scenarios one after the other between the same nodes.
fn play(stage: &Stage, scenarios: &[Scenario]) {
    stage.play_all(Cast::REFERENCE, scenarios);
}

#[test]
fn announces_and_packets_pass_over_every_medium() {
    for medium in [Medium::Tcp, Medium::Udp, Medium::Backbone, Medium::BackboneToTcp, Medium::Pipe] {
        play(&Stage::pair(medium), &[|a, b| announces::are_heard(a, b, 1), packets::are_proved]);
    }
}

#[test]
fn announces_cross_repeat_and_come_on_request() {
    let scenarios: [Scenario; 3] =
        [announces::cross, announces::can_be_repeated, announces::are_given_on_request];
    play(&Stage::pair(Medium::Tcp), &scenarios);
    play(&Stage::pair(Medium::Udp), &scenarios);
}

#[test]
fn packets_are_proved_as_the_destination_wants() {
    play(&Stage::pair(Medium::Tcp), &[packets::are_proved_on_wish, packets::arrive_without_proof]);
}

#[test]
fn explicit_proofs_do_as_well_as_implicit_ones() {
    let stage = Stage::pair(Medium::Udp).with_option("use_implicit_proof", "no");
    play(&stage, &[packets::are_proved]);
}

#[test]
fn links_carry_packets_identify_and_close() {
    play(&Stage::pair(Medium::Tcp), &links::ALL);
}

#[test]
fn the_mtu_of_a_link_is_that_of_its_medium() {
    let have_mtu = |medium, mtu| {
        Stage::pair(medium).play(Cast::REFERENCE, |a, b| links::have_mtu(a, b, mtu));
    };
    have_mtu(Medium::Tcp, 16_384);
    have_mtu(Medium::Udp, 500);
    have_mtu(Medium::Backbone, 32_768);
    have_mtu(Medium::BackboneToTcp, 16_384);
}

#[test]
fn requests_are_answered() {
    play(&Stage::pair(Medium::Tcp), &requests::ALL);
}

#[test]
fn resources_of_every_length_arrive() {
    play(&Stage::pair(Medium::Tcp), &resources::OF_EVERY_LENGTH);
}

#[test]
fn resources_arrive_in_small_frames() {
    play(&Stage::pair(Medium::Udp), &[|a, b| resources::arrive(a, b, Content::random(1, 60_000))]);
}

#[test]
fn resources_wait_can_be_refused_and_cancelled() {
    play(&Stage::pair(Medium::Tcp), &resources::UNDER_CONTROL);
}

#[test]
fn channels_and_buffers_keep_their_order() {
    for medium in [Medium::Tcp, Medium::Udp] {
        play(&Stage::pair(medium), &[channels::carry_messages, channels::carry_buffers]);
    }
}

#[test]
fn ratchets_are_used() {
    play(&Stage::pair(Medium::Tcp), &ratchets::ALL);
}

#[test]
fn groups_and_everyone_are_reached() {
    for medium in [Medium::Tcp, Medium::Udp] {
        play(&Stage::pair(medium), &[broadcasts::reach_a_group, broadcasts::reach_everyone]);
    }
}

#[test]
fn closed_networks_work_within_and_not_across() {
    let (ours, theirs) = (access("ours"), access("theirs"));
    for medium in [Medium::Tcp, Medium::Udp] {
        play(&Stage::pair(medium).with_access(&ours), &[packets::are_proved, links::carry_packets]);
        play(&Stage::pair(medium).with_two_accesses(&ours, &theirs), &[announces::are_not_heard]);
    }
}

#[test]
fn everything_works_over_three_hops() {
    play(&Stage::line(Medium::Tcp, 2), &OVER_THREE_HOPS);
}

#[test]
fn a_shared_instance_stands_between_a_program_and_the_network() {
    play(
        &Stage::behind_shared_instance(&SharedInstance::fresh()),
        &[
            |a, b| announces::are_heard(a, b, 1),
            packets::are_proved,
            links::carry_packets,
            |a, b| resources::arrive(a, b, Content::random(1, 300_000)),
        ],
    );
}

#[test]
fn programs_of_one_shared_instance_reach_each_other() {
    let stage = Stage::within_shared_instance(&SharedInstance::fresh());
    play(&stage, &[packets::are_proved, links::carry_packets, requests::are_echoed]);
}

#[test]
fn messages_between_people_are_delivered() {
    if is_skipped() {
        return;
    }
    let shared = SharedInstance::fresh();
    let _daemon = Reference::start(&Config::new([]).with_shared(shared.clone()));
    let config = Config::new([]).with_shared(shared);
    Lxmf::start(&config).write_to(&mut Lxmf::start(&config));
}

#[test]
fn a_restarted_node_still_knows_who_announced() {
    if is_skipped() {
        return;
    }
    let shared = SharedInstance::fresh();
    let config = Config::new([]).with_transport().with_shared(shared.clone());
    let mut daemon = Reference::start(&config);
    let mut client = Reference::start(&Config::new([]).with_shared(shared));
    let identity = client.create_identity();
    let destination = client.create_destination(&DestinationSpec::own("iolite.tests.restart", identity));
    client.announce(destination, None);
    daemon.announce_of(destination);
    drop(client);
    let mut daemon = Reference::start_in(daemon.stop(), &Config::new([]).with_transport());
    let other = daemon.create_destination(&DestinationSpec::other("iolite.tests.restart", identity));
    assert_eq!(other, destination, "the identity is known from before");
}

#[test]
fn status_path_and_probe_see_an_instance() {
    let Some(Daemons { near, mut far }) = Daemons::start() else { return };
    let status = Utility::Status.run_json(near.folder(), &["-j"]);
    let names: Vec<_> = status["interfaces"].as_array().expect("interfaces").iter().collect();
    assert!(
        names.iter().any(|it| it["name"].as_str().is_some_and(|name| name.contains("connector"))),
        "{status:#}"
    );
    let identity = far.create_identity();
    let destination = far.create_destination(&DestinationSpec::own("iolite.tests.probe", identity));
    far.announce(destination, None);
    let found = Utility::Path.run(near.folder(), &[&destination.to_string()]).succeeded();
    assert!(found.stdout.contains("1 hop"), "{found:#?}");
    let table = Utility::Path.run_json(near.folder(), &["-t", "-j"]);
    assert!(table.to_string().contains(&destination.to_string()), "{table:#}");
    let probe =
        Utility::Probe.run(near.folder(), &["iolite.tests.probe", &destination.to_string()]).succeeded();
    assert!(probe.stdout.contains("Valid reply"), "{probe:#?}");
}

#[test]
fn files_are_copied_and_fetched() {
    let Some(Daemons { mut near, far }) = Daemons::start() else { return };
    let shelf = Scratch::new();
    let (here, there) = (near.folder().to_owned(), shelf.path());
    let content = Content::random(1, 100_000).bytes();
    fs::write(here.join("sent.bin"), &content).unwrap();
    fs::write(there.join("kept.bin"), &content).unwrap();
    let [save, jail] = [there.to_str().unwrap(); 2];
    let said = Utility::Copy.run(far.folder(), &["-p"]).succeeded();
    let address = said.stdout.lines().find(|line| line.starts_with("Listening")).map(hash_in);
    let address = address.expect("an address");
    let args = ["-l", "-n", "-b", "0", "-s", save, "-F", "-j", jail];
    let _listener = Utility::Copy.start(far.folder(), &args);
    near.announce_of(address.parse().expect("a hash"));
    Utility::Copy.run(&here, &["-S", "sent.bin", &address]).succeeded();
    let arrived =
        until(|| fs::read(there.join("sent.bin")).ok().filter(|bytes| bytes.len() == content.len()));
    assert!(arrived.as_ref() == Some(&content), "the file changed on the way");
    Utility::Copy.run(&here, &["-S", "-f", "kept.bin", &address]).succeeded();
    assert!(fs::read(here.join("kept.bin")).unwrap() == content, "the file changed on the way back");
}

#[test]
fn commands_are_executed() {
    let Some(Daemons { near, far }) = Daemons::start() else { return };
    let mut listener = Utility::Execute.start(far.folder(), &["-l", "-n"]);
    let address = hash_in(&listener.says("istening"));
    let output = Utility::Execute.run(near.folder(), &["-m", &address, "echo over there"]).succeeded();
    assert!(output.stdout.contains("over there"), "{output:#?}");
}

#[test]
fn identities_are_made_and_sign() {
    if is_skipped() {
        return;
    }
    let folder = Scratch::new();
    Config::new([]).write(folder.path());
    Utility::Identity.run(folder.path(), &["-g", "me"]).succeeded();
    assert_eq!(fs::read(folder.path().join("me")).unwrap().len(), 64, "a private key and nothing else");
    fs::write(folder.path().join("note"), "hello").unwrap();
    Utility::Identity.run(folder.path(), &["-i", "me", "-s", "note"]).succeeded();
    Utility::Identity.run(folder.path(), &["-i", "me", "-V", "note.rsg"]).succeeded();
}

/// Two transport nodes that are joined by TCP, each with a shared instance of its own.
struct Daemons {
    near: Reference,
    far: Reference,
}

impl Daemons {
    fn start() -> Option<Self> {
        if is_skipped() {
            return None;
        }
        let (far, near) = Medium::Tcp.ends();
        let start = |interface| {
            let config = Config::new([interface]).with_transport().with_probes();
            Reference::start(&config.with_shared(SharedInstance::fresh()))
        };
        let [far, near] = [far, near].map(start);
        Some(Self { near, far })
    }
}

/// Returns the hash that a program printed between angle brackets.
fn hash_in(line: &str) -> String {
    let (_, digits) = line.split_once('<').unwrap_or_default();
    digits.chars().take_while(char::is_ascii_hexdigit).collect()
}

fn access(passphrase: &str) -> AccessCode {
    AccessCode {
        network_name: Some("iolite".into()),
        passphrase: Some(passphrase.into()),
        ..AccessCode::default()
    }
}
