//! The destinations of the daemon itself: probes, remote management, the list of refused identities.

use proto_rns::{
    DestinationHash, IdentityHash,
    dest::{DestinationName, LocalDestination},
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    wire::msgpack::Value,
};
use runtime_tokio::rns::{Destination, IncomingRequest, Link};
use std::{future::pending, sync::Arc, time::Duration};
use tokio::{sync::Semaphore, time::sleep};

use super::{
    answers::{answer, path_table, published_blackhole, rate_table},
    instance::Instance,
    log::Level,
};
use crate::failure::Failure;
use rns_host::rpc::RpcRequest;

/// What the daemon offers to others.
#[derive(Debug, Default)]
pub(super) struct Services {
    probe: Option<Destination>,
    management: Option<Destination>,
    blackhole: Option<Destination>,
}

impl Services {
    /// Offers what the config file wants.
    ///
    /// # Errors
    /// The node takes no more destinations.
    pub(super) fn offer(instance: &Instance) -> Result<Self, Failure> {
        let config = instance.config();
        let mut services = Self::default();
        if config.node.respond_to_probes && config.node.transport {
            let probe = register(instance, "rnstransport.probe", |destination| {
                destination.proofs = ProofStrategy::All;
                destination.accepts_links = false;
            })?;
            instance.answers_probes_at(probe.hash());
            services.probe = Some(probe);
        }
        if config.management.enabled {
            let allowed = RequestPolicy::List(config.management.allowed.clone());
            let paths = [("/status", allowed.clone()), ("/path", allowed)];
            services.management = Some(serving(instance, "rnstransport.remote.management", paths)?);
        }
        if config.blackhole.publish {
            let paths = [("/list", RequestPolicy::All)];
            services.blackhole = Some(serving(instance, "rnstransport.info.blackhole", paths)?);
        }
        Ok(services)
    }

    /// Returns what there is, and where.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (&'static str, DestinationHash)> {
        let all = [
            ("Answers probes to", &self.probe),
            ("Is managed from elsewhere on", &self.management),
            ("Publishes refused identities on", &self.blackhole),
        ];
        all.into_iter().filter_map(|(what, service)| Some((what, service.as_ref()?.hash())))
    }

    /// Announces and answers. Never ends.
    pub(super) async fn serve(&self, instance: &Arc<Instance>) {
        tokio::join!(
            self.announce_regularly(instance),
            answer_links(instance, self.management.as_ref()),
            answer_links(instance, self.blackhole.as_ref()),
        );
    }

    async fn announce_regularly(&self, instance: &Instance) {
        sleep(FIRST_ANNOUNCE).await;
        loop {
            for service in [&self.probe, &self.management, &self.blackhole].into_iter().flatten() {
                if let Err(error) = service.announce(None) {
                    instance.log().tell(Level::Error, format_args!("cannot announce a service: {error}"));
                }
            }
            sleep(ANNOUNCE_INTERVAL).await;
        }
    }
}

fn serving(
    instance: &Instance,
    name: &str,
    paths: impl IntoIterator<Item = (&'static str, RequestPolicy)>,
) -> Result<Destination, Failure> {
    let mut policies = RequestPolicies::default();
    paths.into_iter().for_each(|(path, policy)| policies.allow(path, policy));
    let links = LinkConfig { requests: Arc::new(policies), ..LinkConfig::default() };
    register(instance, name, |destination| destination.links = Some(links))
}

fn register(
    instance: &Instance,
    name: &str,
    change: impl FnOnce(&mut LocalDestination),
) -> Result<Destination, Failure> {
    let identity = instance.node().with_node(|node, _| node.identity().clone());
    let name = DestinationName::parse(name).map_err(Failure::check)?;
    let mut destination = LocalDestination::single(name, identity);
    change(&mut destination);
    instance.node().register(destination).map_err(Failure::network)
}

/// Serves the links that others open to a destination. Never ends.
async fn answer_links(instance: &Arc<Instance>, destination: Option<&Destination>) {
    let Some(destination) = destination else { return pending().await };
    let places = Arc::new(Semaphore::new(MOST_LINKS));
    while let Ok(link) = destination.accept().await {
        // Beyond the limit the link is dropped, which closes it.
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let instance = Arc::clone(instance);
            tokio::spawn(async move {
                while let Ok(Ok(request)) = tokio::time::timeout(LONGEST_LINK, link.next_request()).await {
                    answer_request(&instance, &link, &request);
                }
                drop(place);
            });
        }
    }
    pending().await
}

/// Answers, unless the request makes no sense: those get no answer, as from the reference.
fn answer_request(instance: &Instance, link: &Link, request: &IncomingRequest) {
    let asker = request.identity.as_ref().map_or_else(|| "somebody".into(), |it| format!("<{}>", it.hash()));
    instance.log().tell(Level::Verbose, format_args!("{asker} asks for {}", request.path));
    let reply = match request.path.as_str() {
        "/list" => Some(instance.node().with_node(|node, _| published_blackhole(node))),
        "/status" => Some(status(instance, &request.data)),
        "/path" => paths(instance, &request.data),
        _ => None,
    };
    if let Some(reply) = reply {
        // A peer that is gone needs no answer.
        let _ = link.respond(request.id, &reply);
    }
}

/// Returns the state of the interfaces, and the number of links where that is wanted.
fn status(instance: &Instance, data: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    let wants_links =
        matches!(Value::parse(data), Ok(Value::Array(items)) if items.first() == Some(&Value::Bool(true)));
    proto_rns::wire::msgpack::Writer::new(&mut reply).array(if wants_links { 2 } else { 1 });
    reply.extend(answer(instance, &RpcRequest::InterfaceStats));
    if wants_links {
        reply.extend(answer(instance, &RpcRequest::LinkCount));
    }
    reply
}

fn paths(instance: &Instance, data: &[u8]) -> Option<Vec<u8>> {
    let Ok(Value::Array(items)) = Value::parse(data) else { return None };
    let only = match items.get(1) {
        Some(Value::Bytes(hash)) => Some(DestinationHash::from_slice(hash)?),
        _ => None,
    };
    let max_hops = match items.get(2) {
        Some(Value::Unsigned(hops)) => Some(u8::try_from(*hops).unwrap_or(u8::MAX)),
        _ => None,
    };
    match items.first() {
        Some(Value::Text(what)) if what == "table" => Some(path_table(instance, only, max_hops)),
        Some(Value::Text(what)) if what == "rates" => Some(rate_table(instance, only)),
        _ => None,
    }
    .map(|table| table.to_vec())
}

/// Returns where a transport node publishes its list of refused identities.
pub(super) fn blackhole_of(source: IdentityHash) -> Option<DestinationHash> {
    DestinationName::parse("rnstransport.info.blackhole").ok().map(|name| name.of(source))
}

const FIRST_ANNOUNCE: Duration = Duration::from_secs(15);
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(2 * 60 * 60);
/// Links of others to one of the daemon's own destinations.
const MOST_LINKS: usize = 64;
const LONGEST_LINK: Duration = Duration::from_secs(120);
