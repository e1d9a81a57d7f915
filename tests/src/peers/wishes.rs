//! Which peers are wanted: `IOLITE_SKIP_PEERS` leaves some out, and those that are wanted must be there.

use std::env;

/// Says, and prints, whether the tests of a peer are to be left out.
pub(crate) fn is_skipped(name: &str) -> bool {
    let wish = env::var("IOLITE_SKIP_PEERS").unwrap_or_default();
    let skipped = wish == "1" || wish.split(',').any(|left_out| left_out.trim() == name);
    if skipped {
        println!("SKIPPED: no tests with {name}, because IOLITE_SKIP_PEERS={wish}");
    }
    skipped
}

/// Takes what was installed for a peer.
///
/// # Panics
/// It could not be installed.
pub(crate) fn had<T>(name: &str, installed: Result<T, String>) -> T {
    installed.unwrap_or_else(|missing| {
        panic!("the peer {name} cannot be had: {missing}\n(IOLITE_SKIP_PEERS={name} leaves its tests out)")
    })
}
