//! The time that certificates are judged by.

use proto_conn::tls::WallClock;
use proto_core::UnixTime;
use std::{
    sync::LazyLock,
    time::{Duration, SystemTime},
};

/// Returns the process's clock for TLS, set to the system's time now. All its clones show what was set last.
#[allow(clippy::disallowed_methods, reason = "the faces are where clocks are read")]
pub fn wall_clock() -> WallClock {
    static CLOCK: LazyLock<WallClock> = LazyLock::new(WallClock::default);
    // A system whose clock stands before 1970 trusts nobody's certificate.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    CLOCK.set(UnixTime::new(since));
    CLOCK.clone()
}
