//! personal-rns, with its own runtime facade, as initiator, responder or relay.
//!
//! `PRNS_CRYPTO_POOL=0` in the environment turns its pool of cryptography threads off.

mod initiator;
mod interface;
mod responder;

use bench_peer::{
    Fault,
    rns::{Command, Ready, Role, wait_for_end_of_input},
};
use personal_rns::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Initiator => initiator::run(&command).await?,
        Role::Responder => return responder::run(&command).await,
        Role::Relay => return relay(&command).await,
        Role::Driver => return Err("the driver is a program of its own: rns-driver".into()),
    }
    // The report is printed; the benchmark still reads this process's memory.
    Ok(tokio::task::spawn_blocking(wait_for_end_of_input).await?)
}

async fn relay(command: &Command) -> Result<(), Fault> {
    let node = PrnsNode::new(PrnsNodeRecipe {
        transport_identity: Some(try_generate_identity_secret().map_err(|error| format!("{error:?}"))?),
        pre_configured_destinations: [destination(
            ResourceStrategy::AcceptNone,
            ServeMyRequestEndpoints::No,
        )?],
        app_state: (),
        storage: GrowableHeap,
        request_endpoints: request_endpoints![],
        on_event: |_event, _state| {},
        interfaces: ManuallyAttached,
        persistence: NoPersistence,
    });
    let server = interface::server(command).await?;
    let address = server.local_addr()?;
    let _server = node.handle().supervise(server);
    Ready { address, destination: String::new() }.print()?;
    tokio::select! {
        ended = node.run() => Ok(ended.map_err(|error| format!("the node ended: {error:?}"))?),
        ended = tokio::task::spawn_blocking(wait_for_end_of_input) => Ok(ended?),
    }
}

/// A destination with a fresh identity that proves everything.
fn destination(
    resource_strategy: ResourceStrategy,
    request_endpoints: ServeMyRequestEndpoints,
) -> Result<PreConfiguredDestination<'static>, Fault> {
    Ok(PreConfiguredDestination::Single {
        app_name: Command::APPLICATION,
        aspects: &Command::ASPECTS,
        identity: try_generate_identity_secret().map_err(|error| format!("{error:?}"))?,
        announce_app_data: b"",
        proof: ProofStrategy::ProveAll,
        link_requests: LinkRequestPolicy::AcceptAll,
        ratchet: RatchetPolicy::NoRatchets,
        resource_strategy,
        maximum_request_bytes: Default::default(),
        request_endpoints,
    })
}
