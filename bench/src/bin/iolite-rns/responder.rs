//! The side that receives, proves and answers.

use std::{future::pending, sync::Arc};

use bench_peer::{
    Fault,
    rns::{Command, Content, Reading, Ready, Witness},
};
use proto_rns::{
    crypto::SecureEntropy,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    resource::{Deliver, ResourceConfig, Strategy},
    wire::msgpack::{Reader, Writer},
};
use runtime_tokio::rns::{Link, LinkClosed, RnsNode};

use crate::interface;

/// Serves until the process is ended.
pub(crate) async fn run(command: &Command) -> Result<(), Fault> {
    let node = RnsNode::builder().spawn()?;
    let address = interface::listen(&node, command.address, command.work.mtu).await?;
    let destination = Arc::new(node.register(destination()?)?);
    let witness = Witness::new(Content::new(&command.work));
    Ready { address, destination: destination.hash().to_string() }.print()?;
    tokio::spawn({
        let (destination, witness) = (Arc::clone(&destination), witness.clone());
        async move {
            while let Ok(packet) = destination.recv().await {
                witness.see(&packet.data);
            }
        }
    });
    while let Ok(link) = destination.accept().await {
        tokio::spawn(messages(link.clone(), witness.clone()));
        tokio::spawn(requests(link.clone(), witness.clone()));
        tokio::spawn(resources(link, witness.clone()));
    }
    pending().await
}

/// Proves everything and takes resources segment by segment.
fn destination() -> Result<LocalDestination, Fault> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
    let identity = Identity::generate(&*host_crypto::provider(), &mut SecureEntropy::new(seed));
    let name = DestinationName::new(Command::APPLICATION, &Command::ASPECTS)?;
    let mut requests = RequestPolicies::default();
    requests.allow(Command::PATH, RequestPolicy::All);
    let links = LinkConfig {
        proofs: ProofStrategy::All,
        requests: Arc::new(requests),
        resources: ResourceConfig {
            strategy: Strategy::All,
            deliver: Deliver::Segments,
            max_incoming_size: u64::MAX,
            ..ResourceConfig::default()
        },
        ..LinkConfig::default()
    };
    let mut destination = LocalDestination::single(name, identity);
    destination.proofs = ProofStrategy::All;
    destination.links = Some(links);
    Ok(destination)
}

async fn messages(link: Link, witness: Witness) -> Result<(), LinkClosed> {
    loop {
        witness.see(&link.recv().await?);
    }
}

async fn requests(link: Link, witness: Witness) -> Result<(), LinkClosed> {
    loop {
        let request = link.next_request().await?;
        let number = Reader::new(&request.data).bytes().unwrap_or_default();
        let mut response = Vec::new();
        Writer::new(&mut response).bytes(&witness.answer(number));
        if let Err(error) = link.respond(request.id, &response) {
            witness.fault(error);
        }
    }
}

async fn resources(link: Link, witness: Witness) -> Result<(), LinkClosed> {
    let mut reading = Reading::default();
    loop {
        let resource = link.next_resource().await?;
        if let Err(fault) = reading.read(witness.content(), &resource.data) {
            witness.fault(fault);
        }
        if resource.segment == resource.segments {
            witness.see_read(std::mem::take(&mut reading));
        }
    }
}
