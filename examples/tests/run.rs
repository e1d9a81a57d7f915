//! Runs every example: each must end by itself, say that it succeeded, and print what its description promises.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests, of which clippy only sees the functions that are marked as such"
)]

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Runs an example and returns what it printed.
fn output_of(example: &str) -> String {
    let child = Command::new(path_of(example))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{example}: {error}; `cargo test -p examples` builds all examples"));
    let id = child.id();
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").arg(id.to_string()).status();
        panic!("{example} does not end");
    };
    let output = output.unwrap();
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{example}: {}\n{printed}{errors}", output.status);
    printed.into_owned()
}

/// Examples lie beside the folder of the test that runs.
fn path_of(example: &str) -> PathBuf {
    let deps = env::current_exe().unwrap();
    let name = format!("{example}{}", env::consts::EXE_SUFFIX);
    deps.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name)
}

fn assert_prints(example: &str, lines: &[&str]) {
    let printed = output_of(example);
    for line in lines {
        assert!(printed.lines().any(|printed| printed == *line), "no {line:?} in\n{printed}");
    }
}

/// Far more than any example takes.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn the_custom_loop_echoes_and_closes() {
    let lines = ["echo: hello from a loop of one's own", "client: closed", "server: closed by the peer"];
    assert_prints("raknet_custom_loop", &lines);
}

#[test]
fn the_echo_on_tokio_answers_and_acknowledges() {
    assert_prints("raknet_tokio_echo", &["echo: hello from tokio", "receipt: Acknowledged", "closed"]);
}

#[test]
fn the_motd_server_shows_and_greets_its_players() {
    let lines = [
        "An example 1.21.80: 3 of 20 players",
        "player: welcome",
        "greeted 3 players",
        "closed with 0 players left",
    ];
    assert_prints("raknet_tokio_motd_server", &lines);
}

#[test]
fn the_echo_on_smol_answers() {
    assert_prints("raknet_smol_echo", &["echo: hello from smol", "echo: and good bye", "closed"]);
}

#[test]
fn the_frame_loop_brings_the_chat_in_order_and_the_positions_that_matter() {
    let printed = output_of("raknet_frame_loop");
    assert!(printed.lines().any(|line| line == "chat: 0! 1! 2! 3! 4! 5!"), "{printed}");
    let positions = printed.lines().find_map(|line| line.strip_suffix(" positions, the last at 29.5"));
    let positions: u32 = positions.and_then(|count| count.parse().ok()).expect(&printed);
    assert!((50..=60).contains(&positions), "{printed}");
}

#[test]
fn the_simulation_is_the_same_every_time_and_survives_the_loss() {
    let printed = output_of("raknet_simulated");
    assert!(printed.lines().any(|line| line == "connected: true"), "{printed}");
    assert!(printed.contains("1000 messages in ") && printed.contains("in order: true"), "{printed}");
    assert_eq!(printed, output_of("raknet_simulated"));
}
