//! Autobahn's test suite for WebSocket, against both of our roles.
//!
//! All 517 cases, with a report in `docs/autobahn.md`:
//!
//! ```sh
//! cargo test -p tests --test interop_conn_autobahn -- --ignored
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::Path, process::Command, thread};
use tests::conn::autobahn::{Role, Selection, report, run};

#[test]
fn our_client_passes_all_cases_without_compression_and_a_sample_of_those_with() {
    passes(Role::Client);
}

#[test]
fn our_server_passes_all_cases_without_compression_and_a_sample_of_those_with() {
    passes(Role::Server);
}

#[test]
#[ignore = "takes minutes"]
fn both_roles_pass_all_cases_and_the_report_is_written() {
    let run_all = |role| Some((role, run(role, Selection::Everything)?));
    let (client, server) = thread::scope(|scope| {
        let client = scope.spawn(move || run_all(Role::Client));
        let server = run_all(Role::Server);
        (client.join(), server)
    });
    let (Some(client), Some(server)) = (client.expect("no panic"), server) else { return };
    let results = [client, server];
    let date = Command::new("date").arg("+%Y-%m-%d").output().expect("the date").stdout;
    let text = report(&results, String::from_utf8_lossy(&date).trim(), COMMAND);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/autobahn.md");
    fs::write(&path, text).expect("docs can be written");
    for (role, verdicts) in &results {
        assert_eq!(verdicts.failures(), [], "our {role}");
    }
}

fn passes(role: Role) {
    if let Some(verdicts) = run(role, Selection::Sample) {
        assert_eq!(verdicts.failures(), [], "our {role}");
    }
}

const COMMAND: &str = "cargo test -p tests --test interop_conn_autobahn -- --ignored";
