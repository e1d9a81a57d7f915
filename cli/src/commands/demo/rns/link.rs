//! A link: a handshake, an identity, packets both ways.

use bench_peer::Payload;
use proto_rns::{crypto::Dalek, identity::Identity, link::LinkConfig};
use std::time::Instant;

use super::network::{Network, within};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::{count, time},
    rns::keys,
};

/// Opens a link, identifies, and echoes packets.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let network = Network::joined(LinkConfig::default()).await?;
    let (near, far) = network.link().await?;
    let handshake = near.established().await.map_err(Failure::network)?;
    let me = Identity::generate(&Dalek, &mut keys::entropy()?);
    near.identify(&me).map_err(Failure::network)?;
    let told = within("the identity", async { far.identified().await.map_err(Failure::network) }).await?;
    check(told.hash() == me.hash(), || {
        format!("<{}> was identified instead of <{}>", told.hash(), me.hash())
    })?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(200);
    let start = Instant::now();
    for number in 0..total {
        let mut sent = Vec::with_capacity(SIZE);
        payload.append(0, number, &mut sent);
        near.send(&sent).map_err(Failure::network)?;
        let there = within("a packet", async { far.recv().await.map_err(Failure::network) }).await?;
        far.send(&there).map_err(Failure::network)?;
        let back = within("its echo", async { near.recv().await.map_err(Failure::network) }).await?;
        payload.check(0, number, &back).map_err(Failure::check)?;
    }
    let transfer = start.elapsed();
    near.close();
    within("the farewell", async { Ok(far.closed().await) }).await?;
    network.end().await;
    let found = format!(
        "established in {}, initiator identified, {} packets echoed, closed at both ends",
        time(handshake),
        count(total.into())
    );
    let messages = 2 * u64::from(total);
    Ok(Outcome { found, messages, bytes: messages * SIZE as u64, transfer })
}

const SIZE: usize = 300;
