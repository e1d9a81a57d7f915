//! What the node answers to the calls of programs and of those who look after it from elsewhere.

use proto_core::{Instant, UnixTime};
use proto_rns::{
    DestinationHash, IdentityHash,
    node::Node,
    transport::{PathInfo, RateInfo},
    wire::msgpack::Value,
};
use rns_host::rpc::RpcRequest;
use std::time::Duration;

use super::{instance::Instance, interface_stats::interface_stats, interfaces, log::Level};
use crate::rns::shown::unix_now;

/// Returns the reply to a call, one MessagePack value.
#[allow(clippy::wildcard_enum_match_arm, reason = "the node itself knows the rest")]
pub(super) fn answer(instance: &Instance, request: &RpcRequest) -> Vec<u8> {
    match request {
        RpcRequest::InterfaceStats => interface_stats(instance),
        RpcRequest::AttachInterface(name) => or_nil(interfaces::attach(instance, name)),
        RpcRequest::DetachInterface(name) => or_nil(interfaces::detach(instance, name)),
        RpcRequest::ReloadInterface(name) => or_nil(interfaces::reload(instance, name)),
        RpcRequest::PathTable { max_hops } => path_table(instance, None, *max_hops),
        RpcRequest::RateTable => rate_table(instance, None),
        request => instance.node().with_node(|node, _| answer_from(node, request)),
    }
    .to_vec()
}

/// Returns the paths, as a list of maps.
pub(super) fn path_table(instance: &Instance, only: Option<DestinationHash>, max_hops: Option<u8>) -> Value {
    instance.node().with_node(|node, now| {
        let clock = Clock { now, wall: unix_now() };
        let wanted = |path: &PathInfo| {
            only.is_none_or(|only| path.destination == only) && max_hops.is_none_or(|most| path.hops <= most)
        };
        let paths = node.router().paths().filter(wanted);
        Value::Array(paths.map(|path| shown_path(node, &clock, &path)).collect())
    })
}

/// Returns how often destinations announce, as a list of maps.
pub(super) fn rate_table(instance: &Instance, only: Option<DestinationHash>) -> Value {
    instance.node().with_node(|node, now| {
        let clock = Clock { now, wall: unix_now() };
        let rates = node.router().rate_table().into_iter();
        let wanted = rates.filter(|rate| only.is_none_or(|only| rate.destination == only));
        Value::Array(wanted.map(|rate| shown_rate(&clock, &rate)).collect())
    })
}

/// Returns the list of refused identities, as others may fetch it.
pub(super) fn published_blackhole(node: &Node) -> Vec<u8> {
    node.router().blackhole().encode(node.transport_id())
}

/// Builds a map with text keys.
pub(super) fn map(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Builds bytes.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    bytes.into()
}

/// Builds a count.
pub(super) fn number(count: usize) -> Value {
    Value::Unsigned(u64::try_from(count).unwrap_or(u64::MAX))
}

fn answer_from(node: &mut Node, request: &RpcRequest) -> Value {
    let wall = UnixTime::new(Duration::try_from_secs_f64(unix_now()).unwrap_or_default());
    match request {
        RpcRequest::NextHopInterface(to) => {
            let path = node.router().path(*to);
            path.map_or(Value::Nil, |path| interface_name(node, &path))
        }
        RpcRequest::NextHop(to) => node.router().path(*to).map_or(Value::Nil, |path| next_hop(&path)),
        RpcRequest::FirstHopTimeout(to) => Value::Float(node.first_hop_timeout(*to).as_secs_f64()),
        RpcRequest::LowestInterfaceBitrate => {
            let bitrates = node.interfaces().map(|(_, interface)| interface.properties().bitrate);
            bitrates.min().map_or(Value::Nil, Value::Unsigned)
        }
        RpcRequest::MediumPathTimeout => Value::Float(node.medium_path_timeout().as_secs_f64()),
        RpcRequest::LinkCount => number(node.router().sizes().links),
        RpcRequest::ActiveLinkCount => number(node.links().count()),
        RpcRequest::BlackholedIdentities => blackholed(node),
        RpcRequest::IsBlackholed(identity) => {
            Value::Bool(node.router().blackhole().is_refused(*identity, wall))
        }
        RpcRequest::DropPath(to) => Value::Bool(node.drop_path(*to)),
        RpcRequest::DropAllVia(hop) => number(node.drop_all_via(*hop)),
        RpcRequest::DropAnnounceQueues => {
            node.drop_announce_queues();
            Value::Nil
        }
        RpcRequest::Blackhole { identity, until, reason } => {
            true_or_nil(node.refuse(*identity, *until, reason.clone()))
        }
        RpcRequest::Unblackhole(identity) => true_or_nil(node.accept_again(*identity)),
        RpcRequest::UseDestination(to) => {
            node.known_mut().mark_used(*to, wall);
            Value::Bool(node.known().get(*to).is_some())
        }
        RpcRequest::RetainDestination(to) => Value::Bool(node.known_mut().retain(*to)),
        RpcRequest::UnretainDestination(to) => Value::Bool(node.known_mut().unretain(*to, wall)),
        RpcRequest::RetainIdentity(identity) => Value::Bool(retain_all(node, *identity)),
        // No interface of this node measures signals, and nothing profiles it. The rest is answered elsewhere.
        RpcRequest::PacketRssi(_)
        | RpcRequest::PacketSnr(_)
        | RpcRequest::PacketQuality(_)
        | RpcRequest::ProfilingResults
        | RpcRequest::InterfaceStats
        | RpcRequest::PathTable { .. }
        | RpcRequest::RateTable
        | RpcRequest::AttachInterface(_)
        | RpcRequest::DetachInterface(_)
        | RpcRequest::ReloadInterface(_) => Value::Nil,
    }
}

fn shown_path(node: &Node, clock: &Clock, path: &PathInfo) -> Value {
    map([
        ("hash", bytes(path.destination.as_bytes())),
        ("timestamp", clock.unix(path.refreshed)),
        ("via", next_hop(path)),
        ("hops", Value::Unsigned(path.hops.into())),
        ("expires", clock.unix(path.expires)),
        ("interface", interface_name(node, path)),
    ])
}

fn shown_rate(clock: &Clock, rate: &RateInfo) -> Value {
    let is_blocked = rate.blocked_until > clock.now;
    map([
        ("hash", bytes(rate.destination.as_bytes())),
        ("last", clock.unix(rate.last)),
        ("rate_violations", Value::Unsigned(rate.violations.into())),
        ("blocked_until", if is_blocked { clock.unix(rate.blocked_until) } else { Value::Unsigned(0) }),
        ("timestamps", Value::Array(rate.timestamps.iter().map(|at| clock.unix(*at)).collect())),
    ])
}

/// The destination itself is the next hop where it is in reach.
fn next_hop(path: &PathInfo) -> Value {
    match &path.next_hop {
        Some(hop) => bytes(hop.as_bytes()),
        None => bytes(path.destination.as_bytes()),
    }
}

fn interface_name(node: &Node, path: &PathInfo) -> Value {
    node.interface(path.interface).map_or(Value::Nil, |it| Value::Text(it.properties().name.clone()))
}

fn blackholed(node: &Node) -> Value {
    let refusals = node.router().blackhole().iter().map(|(identity, refusal)| {
        let until = refusal.until.map_or(Value::Nil, |until| Value::Float(until.since_epoch().as_secs_f64()));
        let details = map([
            ("source", bytes(refusal.source.as_bytes())),
            ("until", until),
            ("reason", refusal.reason.clone().map_or(Value::Nil, Value::Text)),
        ]);
        (bytes(identity.as_bytes()), details)
    });
    Value::Map(refusals.collect())
}

fn retain_all(node: &mut Node, identity: IdentityHash) -> bool {
    let of_identity = node.known().iter().filter(|(_, known)| known.identity.hash() == identity);
    let destinations: Vec<DestinationHash> = of_identity.map(|(destination, _)| destination).collect();
    // Each must be retained, whatever came of the others.
    let retained = destinations.into_iter().filter(|destination| node.known_mut().retain(*destination));
    retained.count() > 0
}

const fn true_or_nil(done: bool) -> Value {
    if done { Value::Bool(true) } else { Value::Nil }
}

fn or_nil(done: Option<bool>) -> Value {
    done.map_or(Value::Nil, Value::Bool)
}

/// Translates from the node's clock.
struct Clock {
    now: Instant,
    wall: f64,
}

impl Clock {
    fn unix(&self, at: Instant) -> Value {
        let ahead = at.saturating_since(self.now).as_secs_f64();
        let behind = self.now.saturating_since(at).as_secs_f64();
        Value::Float(self.wall + ahead - behind)
    }
}

/// Tells what somebody changed from elsewhere or from another program.
pub(super) fn tell_change(instance: &Instance, what: impl std::fmt::Display) {
    instance.log().tell(Level::Notice, what);
}
