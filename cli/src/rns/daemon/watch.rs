//! What changes, and how fast it flows.

use proto_rns::{iface::InterfaceId, node::Node};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::{MissedTickBehavior, interval};

use super::{instance::Instance, log::Level};
use crate::output::quantity::count;

/// How fast traffic flows over each interface.
#[derive(Debug, Default)]
pub(super) struct Speeds {
    seen: BTreeMap<InterfaceId, Traffic>,
    speeds: BTreeMap<InterfaceId, Traffic>,
}

/// Bytes, or bits a second, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// In.
    pub(super) received: u64,
    /// Out.
    pub(super) sent: u64,
}

impl Traffic {
    /// Returns what an interface and the connections that it accepted carried.
    pub(super) fn of(node: &Node, id: InterfaceId) -> Self {
        let counted = node.interfaces().filter(|(other, it)| *other == id || it.parent() == Some(id));
        counted.fold(Self::default(), |sum, (_, interface)| {
            let counters = interface.counters();
            Self {
                received: sum.received.wrapping_add(counters.received_bytes),
                sent: sum.sent.wrapping_add(counters.sent_bytes),
            }
        })
    }
}

impl Speeds {
    /// Returns bits a second.
    pub(super) fn of(&self, id: InterfaceId) -> Traffic {
        self.speeds.get(&id).copied().unwrap_or_default()
    }

    /// Takes what was carried until now, a second after the last time.
    fn take(&mut self, carried: BTreeMap<InterfaceId, Traffic>) {
        let bits = |now: u64, before: u64| now.saturating_sub(before).saturating_mul(8);
        let speed = |(id, now): (&InterfaceId, &Traffic)| {
            let before = self.seen.get(id).copied().unwrap_or_default();
            let speed =
                Traffic { received: bits(now.received, before.received), sent: bits(now.sent, before.sent) };
            (*id, speed)
        };
        self.speeds = carried.iter().map(speed).collect();
        self.seen = carried;
    }
}

/// Tells of interfaces that begin or cease to work, and measures. Never ends.
pub(super) async fn watch(instance: &Instance) {
    let mut ticks = interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut online = BTreeSet::new();
    let mut patience = TICKS_TO_START;
    loop {
        ticks.tick().await;
        let (carried, now, paths, links) = instance.node().with_node(|node, _| {
            let carried = node.interfaces().map(|(id, _)| (id, Traffic::of(node, id))).collect();
            (carried, names_online(node), node.router().sizes().paths, node.links().count())
        });
        instance.speeds().take(carried);
        tell_changes(instance, &online, &now);
        instance.log().describe(|| {
            let number = |number: usize| count(u64::try_from(number).unwrap_or(u64::MAX));
            format!("{} interfaces up, {} paths, {} links", number(now.len()), number(paths), number(links))
        });
        online = now;
        patience = patience.saturating_sub(1);
        if patience == 1 {
            tell_missing(instance);
        }
    }
}

/// Tells which interfaces have not come to work since the start.
fn tell_missing(instance: &Instance) {
    let missing: Vec<String> = instance.node().with_node(|node, _| {
        let down = node.interfaces().filter(|(_, interface)| !interface.properties().online);
        down.map(|(_, interface)| interface.properties().name.clone()).collect()
    });
    for name in missing {
        instance.log().tell(Level::Warning, format_args!("{name} does not work yet, and is tried again"));
    }
}

/// Returns the interfaces that work: those of the config file, and connections.
fn names_online(node: &Node) -> BTreeSet<(bool, String)> {
    let working = node.interfaces().filter(|(_, interface)| interface.properties().online);
    working.map(|(_, it)| (it.parent().is_some(), it.properties().name.clone())).collect()
}

fn tell_changes(instance: &Instance, before: &BTreeSet<(bool, String)>, now: &BTreeSet<(bool, String)>) {
    let level = |accepted| if accepted { Level::Verbose } else { Level::Info };
    for (accepted, name) in now.difference(before) {
        instance.log().tell(level(*accepted), format_args!("{name} is up"));
    }
    for (accepted, name) in before.difference(now) {
        let level = if *accepted { Level::Verbose } else { Level::Warning };
        let what = if *accepted { "is gone" } else { "is down, and tried again" };
        instance.log().tell(level, format_args!("{name} {what}"));
    }
}

/// How many seconds interfaces have to come to work before it is told that they do not.
const TICKS_TO_START: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_what_was_carried_since_the_last_time() {
        let (id, mut speeds) = (InterfaceId(1), Speeds::default());
        let carried = |received, sent| BTreeMap::from([(id, Traffic { received, sent })]);
        speeds.take(carried(100, 0));
        speeds.take(carried(350, 10));
        assert_eq!(speeds.of(id), Traffic { received: 2_000, sent: 80 });
        speeds.take(carried(350, 10));
        assert_eq!(speeds.of(id), Traffic::default());
        assert_eq!(speeds.of(InterfaceId(2)), Traffic::default());
    }
}
