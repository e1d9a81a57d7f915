//! `iolite raknet proxy`: sessions in, sessions out, messages through.
//!
//! ```text
//!  player <--session--> listener |relay: two pumps| stream <--session--> target
//!  pings  <--pong data-- listener <---description--- pings to the target
//! ```

mod advert;
mod journal;
mod pump;
mod relay;
mod roster;

use proto_raknet::{Config, IncomingConfig, SessionConfig};
use runtime_tokio::raknet::{ListenOptions, RaknetListener};
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::interval};

use crate::{
    args::raknet::{Proxy, Switch},
    failure::Failure,
    interrupt::Interrupt,
    output::progress::Progress,
    raknet::{fault, resolve::resolve},
};
use journal::Journal;
use relay::Route;
use roster::Roster;

/// Relays until Ctrl-C.
///
/// # Errors
/// The target has no address, or the address to listen on cannot be had.
pub(crate) async fn run(options: Proxy, interrupt: Interrupt) -> Result<(), Failure> {
    let target = interrupt.or(resolve(&options.to, options.connect.family)).await?;
    let listener = RaknetListener::bind_with(options.listen, listen_options(&options))
        .map_err(|error| fault::bind(options.listen, &error))?;
    let listener = Arc::new(listener);
    let progress = if options.json { Progress::hidden() } else { Progress::live("starting") };
    let journal = Arc::new(Journal::new(options.json, progress.clone()));
    let roster = Arc::new(Roster::default());
    let route = Arc::new(Route { target, session: session_config(), connect: options.connect.options() });
    journal.listening(listener.local_addr(), &options.to, target);

    let mut relays = JoinSet::new();
    let relaying = async {
        while let Ok(player) = listener.accept().await {
            relays.spawn(relay::relay(player, Arc::clone(&route), Arc::clone(&roster), Arc::clone(&journal)));
            while relays.try_join_next().is_some() {}
        }
    };
    let told = tokio::select! {
        () = relaying => Ok(()),
        () = advert::keep_up_to_date(&listener, target, options.refresh, &journal) => Ok(()),
        told = tell(&options, &roster, &journal) => told,
        () = interrupt.wait() => Ok(()),
    };
    progress.describe("closing");
    // The players leave; their relays then say goodbye to the target.
    listener.close().await;
    let _ = tokio::time::timeout(PATIENCE, relays.join_all()).await;
    progress.finish();
    journal.closed(&roster);
    told
}

fn listen_options(options: &Proxy) -> ListenOptions {
    ListenOptions {
        endpoint: Config {
            incoming: IncomingConfig {
                max_connections: options.max_connections as usize,
                cookies: options.cookies == Switch::On,
                ..IncomingConfig::default()
            },
            session: session_config(),
            ..Config::default()
        },
        ..ListenOptions::default()
    }
}

/// Returns the defaults, but whatever can come in on one side can go out on the other.
fn session_config() -> SessionConfig {
    let defaults = SessionConfig::default();
    SessionConfig { max_message_bytes: defaults.max_split_bytes, ..defaults }
}

/// Shows the statistics, live or periodically. Ends only when nobody reads the output any more.
async fn tell(options: &Proxy, roster: &Roster, journal: &Journal) -> Result<(), Failure> {
    let mut ticks = interval(if options.json { options.interval } else { LIVE_INTERVAL });
    loop {
        ticks.tick().await;
        journal.statistics(&roster.snapshot())?;
    }
}

const LIVE_INTERVAL: Duration = Duration::from_millis(500);
/// How long the sessions with the target may take to end.
const PATIENCE: Duration = Duration::from_secs(6);
