//! One relayed player.

use proto_raknet::{Config, ConnectOptions, SessionConfig, wire::ProtocolVersion};
use runtime_tokio::raknet::{ClientOptions, CloseReason, ConnectFailed, RaknetStream};
use std::{net::SocketAddr, sync::Arc};

use super::{journal::Journal, pump::pump, roster::Roster};

/// Where players are relayed to, and how.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) target: SocketAddr,
    pub(super) session: SessionConfig,
    /// The protocol version counts only for players whose own is not known.
    pub(super) connect: ConnectOptions,
}

/// Who ended a relay, and how.
#[derive(Debug)]
pub(super) enum End {
    /// There was no session with the target to be had.
    Refused(ConnectFailed),
    /// The player's session ended.
    Player(CloseReason),
    /// The target's session ended.
    Target(CloseReason),
    /// This proxy is shutting down.
    Proxy(CloseReason),
}

impl End {
    fn of_player(reason: CloseReason) -> Self {
        if matches!(reason, CloseReason::LocalClose | CloseReason::LocalCloseUnacknowledged) {
            Self::Proxy(reason)
        } else {
            Self::Player(reason)
        }
    }
}

/// Relays between `player` and the target until one of them ends its session; then the other's is ended as well,
/// after everything that was sent before has gone through.
pub(super) async fn relay(
    player: RaknetStream,
    route: Arc<Route>,
    roster: Arc<Roster>,
    journal: Arc<Journal>,
) {
    let player = Arc::new(player);
    journal.opened(player.info());
    let attempt = tokio::select! {
        attempt = RaknetStream::connect_with(route.target, options(&route, &player)) => attempt,
        reason = player.closed() => {
            journal.ended(player.info(), &End::of_player(reason));
            return;
        }
    };
    let end = match attempt {
        Ok(target) => {
            let target = Arc::new(target);
            let entry = roster.enter(Arc::clone(&player), Arc::clone(&target));
            let end = tokio::select! {
                reason = pump(&player, &target, entry.to_target()) => End::of_player(reason),
                reason = pump(&target, &player, entry.to_player()) => End::Target(reason),
            };
            let _ = target.close().await;
            end
        }
        Err(error) => End::Refused(error),
    };
    let _ = player.close().await;
    journal.ended(player.info(), &end);
}

/// Speaks to the target in the protocol version that the player speaks.
fn options(route: &Route, player: &RaknetStream) -> ClientOptions {
    let version = player.protocol_version();
    let known = version != ProtocolVersion(0);
    ClientOptions {
        endpoint: Config { session: route.session.clone(), ..Config::client() },
        connect: ConnectOptions {
            protocol_version: if known { version } else { route.connect.protocol_version },
            ..route.connect.clone()
        },
        ..ClientOptions::default()
    }
}
