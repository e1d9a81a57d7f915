//! Arguments that make no sense get a clear answer and the exit code for it.

mod command;

use command::iolite;

/// Runs `iolite` and expects it to complain about `about`, with the exit code for wrong usage.
fn complains(arguments: &[&str], about: &str) {
    let finished = iolite(arguments);
    assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
    assert!(finished.stderr.contains(about), "{arguments:?}: {}", finished.stderr);
}

#[test]
fn unknown_commands_and_options_are_named() {
    complains(&["dance"], "dance");
    complains(&["raknet", "ping", "host", "--loud"], "--loud");
    complains(&["raknet", "send", "host", "x", "--reliability", "maybe"], "unreliable-sequenced");
}

#[test]
fn values_out_of_range_are_explained() {
    complains(&["raknet", "ping", "host:70000"], "1 to 65535");
    complains(&["raknet", "ping", "host", "--interval", "soon"], "500ms");
    complains(&["raknet", "send", "host", "x", "--channel", "32"], "32");
    complains(&["raknet", "send", "host", "x", "--prefix", "f"], "hexadecimal");
    complains(&["raknet", "bench", "--self", "--size", "7"], "between 8 and 65536");
    complains(&["raknet", "serve", "--listen", "localhost"], "--listen");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    complains(&["raknet", "bench"], "HOST");
    complains(&["raknet", "bench", "127.0.0.1", "--self"], "--self");
    complains(&["raknet", "ping", "host", "-4", "-6"], "--ipv6");
    complains(&["raknet", "send", "127.0.0.1", "x", "-r", "reliable-sequenced", "--receipt"], "no receipts");
    complains(&["raknet", "send", "127.0.0.1", "--prefix", "none"], "nothing to send");
    complains(&["raknet", "serve", "--listen", "127.0.0.1:0", "--motd", &"long ".repeat(100)], "--motd");
}

#[test]
fn the_help_has_examples_and_exit_codes() {
    let help = iolite(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("iolite raknet proxy") && help.stdout.contains("Exit codes:"), "{help:?}");
    for command in ["ping", "serve", "send", "proxy", "bench"] {
        let help = iolite(&["raknet", command, "--help"]);
        assert!(help.stdout.contains("Examples:"), "{command}: {help:?}");
    }
}
