//! Single encrypted packets, each proved by the destination's signature.

use bench_peer::Payload;
use proto_rns::link::LinkConfig;
use std::time::{Duration, Instant};

use super::network::{Network, within};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::{count, time},
};

/// Sends packets one after the other, compares what arrives, and waits for each proof.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let network = Network::joined(LinkConfig::default()).await?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(200);
    stage.progress.start_bar(total.into());
    let (start, mut fastest) = (Instant::now(), Duration::MAX);
    for number in 0..total {
        let mut sent = Vec::with_capacity(SIZE);
        payload.append(0, number, &mut sent);
        let (rtt, arrived) = within("the proof of a packet", async {
            tokio::try_join!(
                async {
                    network.near.deliver(network.destination.hash(), &sent).await.map_err(Failure::network)
                },
                async { network.destination.recv().await.map_err(Failure::network) },
            )
        })
        .await?;
        payload.check(0, number, &arrived.data).map_err(Failure::check)?;
        fastest = fastest.min(rtt);
        stage.progress.set(u64::from(number) + 1);
    }
    let transfer = start.elapsed();
    let lost = network.destination.lost();
    check(lost == 0, || format!("{lost} packets were dropped"))?;
    network.end().await;
    let found =
        format!("{} packets decrypted and proved, the fastest in {}", count(total.into()), time(fastest));
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * SIZE as u64, transfer })
}

const SIZE: usize = 300;
