//! Tools that the tests need: one that is missing fails them, unless `IOLITE_SKIP_PEERS` leaves it out.

use std::{env, process::Command};

/// Says, and prints, whether what needs a tool is to be left out.
///
/// # Panics
/// The tool is wanted, and is not there.
pub(crate) fn is_left_out(tool: &str) -> bool {
    let wish = env::var("IOLITE_SKIP_PEERS").unwrap_or_default();
    if wish == "1" || wish.split(',').any(|left_out| left_out.trim() == tool) {
        println!("SKIPPED: nothing with {tool}, because IOLITE_SKIP_PEERS={wish}");
        return true;
    }
    let is_there = Command::new(tool).arg("--version").output().is_ok();
    assert!(is_there, "there is no {tool}: install it (IOLITE_SKIP_PEERS={tool} leaves out what needs it)");
    false
}
