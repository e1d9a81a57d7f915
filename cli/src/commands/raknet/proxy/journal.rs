//! What the proxy tells, to people or to machines.

use proto_raknet::{Motd, OfflineError, PeerInfo, PeerStats};
use runtime_tokio::raknet::PingFailed;
use serde_json::{Value, json};
use std::{net::SocketAddr, time::Duration};

use super::{
    relay::End,
    roster::{Count, Roster, Snapshot, mean_rtt},
};
use crate::{
    args::values::HostPort,
    failure::Failure,
    output::{
        self,
        progress::Progress,
        quantity::{count, millis, rate, time},
        style::{self, paint},
    },
    raknet::motd,
};

/// Prints what happens. A reader that has left does not stop the relays; only the statistics notice.
#[derive(Debug)]
pub(super) struct Journal {
    json: bool,
    progress: Progress,
}

impl Journal {
    /// Creates the journal.
    pub(super) const fn new(json: bool, progress: Progress) -> Self {
        Self { json, progress }
    }

    /// The proxy is ready.
    pub(super) fn listening(&self, address: SocketAddr, name: &HostPort, target: SocketAddr) {
        self.tell(
            || json!({ "event": "listening", "address": address.to_string(), "target": target.to_string() }),
            || {
                format!(
                    "listening on {}, relaying to {name} ({target}); Ctrl-C ends it",
                    paint(style::STRONG, address)
                )
            },
        );
    }

    /// A player came.
    pub(super) fn opened(&self, player: &PeerInfo) {
        self.tell(
            || {
                json!({
                    "event": "opened",
                    "player": player.address.to_string(),
                    "guid": player.guid.to_string(),
                    "protocol": player.protocol_version.0,
                    "mtu": player.mtu,
                })
            },
            || {
                format!(
                    "{} {} protocol {} mtu {} guid {}",
                    paint(style::GOOD, "+"),
                    player.address,
                    player.protocol_version.0,
                    player.mtu,
                    player.guid
                )
            },
        );
    }

    /// A player's relay is over.
    pub(super) fn ended(&self, player: &PeerInfo, end: &End) {
        let (by, reason) = match end {
            End::Refused(error) => ("target", format!("no session with the target: {error}")),
            End::Player(reason) => ("player", reason.to_string()),
            End::Target(reason) => ("target", reason.to_string()),
            End::Proxy(reason) => ("proxy", reason.to_string()),
        };
        self.tell(
            || json!({ "event": "ended", "player": player.address.to_string(), "by": by, "reason": reason }),
            || {
                let sign = match end {
                    End::Refused(_) => paint(style::BAD, "!"),
                    End::Player(_) | End::Target(_) | End::Proxy(_) => paint(style::FAINT, "-"),
                };
                format!("{sign} {} ended by the {by}: {reason}", player.address)
            },
        );
    }

    /// The target says something new about itself.
    pub(super) fn target_speaks(&self, data: &[u8]) {
        let description = Motd::parse(data);
        self.tell(
            || json!({ "event": "target", "answers": true, "motd": description.as_ref().ok().map(motd::json) }),
            || match &description {
                Ok(motd) => format!(
                    "{} the target is {:?}, {} of {} players, version {}",
                    paint(style::FAINT, "i"),
                    motd::printable(&motd.name),
                    motd.players,
                    motd.max_players,
                    motd::printable(&motd.version)
                ),
                Err(_) => format!("{} the target answers pings with data of its own", paint(style::FAINT, "i")),
            },
        );
    }

    /// The target does not answer pings.
    pub(super) fn target_silent(&self, target: SocketAddr, error: &PingFailed) {
        self.tell(
            || json!({ "event": "target", "answers": false, "reason": error.to_string() }),
            || format!("{} {target} does not answer pings: {error}", paint(style::ODD, "!")),
        );
    }

    /// The target's description does not fit into our pongs.
    pub(super) fn description_refused(&self, error: &OfflineError) {
        self.tell(
            || json!({ "event": "target", "answers": true, "refused": error.to_string() }),
            || format!("{} the target's description cannot be passed on: {error}", paint(style::ODD, "!")),
        );
    }

    /// How all relays go.
    ///
    /// # Errors
    /// Nobody reads the output any more.
    pub(super) fn statistics(&self, relays: &[Snapshot]) -> Result<(), Failure> {
        let total = |value: fn(&Snapshot) -> u64| relays.iter().map(value).sum::<u64>();
        let to_target = total(|relay| relay.target_side.send_rate);
        let to_player = total(|relay| relay.player_side.send_rate);
        let player_rtt = mean_rtt(relays.iter().map(|relay| &relay.player_side));
        let target_rtt = mean_rtt(relays.iter().map(|relay| &relay.target_side));
        if self.json {
            return output::json(&json!({
                "event": "statistics",
                "sessions": relays.len(),
                "to_target_bytes_per_second": to_target,
                "to_player_bytes_per_second": to_player,
                "player_rtt_ms": player_rtt.map(millis),
                "target_rtt_ms": target_rtt.map(millis),
                "relays": relays.iter().map(relay_as_json).collect::<Vec<_>>(),
            }));
        }
        let rtt = |rtt: Option<Duration>| rtt.map_or_else(|| "-".into(), time);
        self.progress.describe(format!(
            "{} sessions | to target {}, {} messages, rtt {} | to players {}, {} messages, rtt {}",
            relays.len(),
            rate(to_target),
            count(total(|relay| relay.to_target.messages)),
            rtt(target_rtt),
            rate(to_player),
            count(total(|relay| relay.to_player.messages)),
            rtt(player_rtt),
        ));
        Ok(())
    }

    /// The proxy is done.
    pub(super) fn closed(&self, roster: &Roster) {
        let relays = roster.entered();
        self.tell(
            || json!({ "event": "closed", "relayed_sessions": relays }),
            || format!("closed after {} relayed sessions", count(relays)),
        );
    }

    fn tell(&self, machine: impl FnOnce() -> Value, person: impl FnOnce() -> String) {
        let _ = if self.json { output::json(&machine()) } else { self.progress.line(person()) };
    }
}

fn relay_as_json(relay: &Snapshot) -> Value {
    json!({
        "player": relay.player.to_string(),
        "player_side": session_as_json(&relay.player_side),
        "target_side": session_as_json(&relay.target_side),
        "to_target": count_as_json(relay.to_target),
        "to_player": count_as_json(relay.to_player),
    })
}

fn session_as_json(stats: &PeerStats) -> Value {
    json!({
        "rtt_ms": stats.rtt.map(millis),
        "loss": stats.loss(),
        "frames_resent": stats.totals.frames_resent,
        "sent_bytes_per_second": stats.send_rate,
        "received_bytes_per_second": stats.receive_rate,
        "waiting_bytes": stats.reliable_queue_bytes + stats.unreliable_queue_bytes,
        "unread_bytes": stats.receive_queue_bytes,
    })
}

fn count_as_json(count: Count) -> Value {
    json!({ "messages": count.messages, "bytes": count.bytes, "dropped": count.dropped })
}
