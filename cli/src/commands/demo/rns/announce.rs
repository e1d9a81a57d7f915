//! A destination makes itself known over a transport node.

use proto_rns::link::LinkConfig;
use std::time::Instant;

use super::network::{Network, within};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
};

/// Announces, and compares what arrives at the other end.
pub(super) async fn run(_: Stage) -> Result<Outcome, Failure> {
    let network = Network::start(LinkConfig::default()).await?;
    let mut announces = network.near.announces();
    let start = Instant::now();
    network.destination.announce(Some(APP_DATA)).map_err(Failure::network)?;
    let heard = async { announces.next().await.ok_or_else(|| Failure::check("the node ended")) };
    let announced = within("the announce", heard).await?;
    let transfer = start.elapsed();
    check(announced.destination == network.destination.hash(), || {
        format!("<{}> was announced instead of <{}>", announced.destination, network.destination.hash())
    })?;
    check(announced.app_data == APP_DATA, || "the announce tells something else than was said".into())?;
    check(announced.hops == HOPS, || format!("it came over {} hops instead of {HOPS}", announced.hops))?;
    drop(announces);
    network.end().await;
    let found = format!("heard over a transport node, {HOPS} hops away, signature verified");
    Ok(Outcome { found, messages: 1, bytes: 0, transfer })
}

const APP_DATA: &[u8] = b"the demo";
/// To the transport node, and to the destination.
const HOPS: u8 = 2;
