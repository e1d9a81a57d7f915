//! Data of any size over a link, with progress.

use bench_peer::Payload;
use proto_rns::{link::LinkConfig, resource::Strategy};
use std::time::Instant;

use super::network::{Network, within};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
};
use runtime_tokio::rns::Progress;

/// Sends a MiB that cannot be compressed, and its metadata, and watches how far it is.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let mut links = LinkConfig::default();
    links.resources.strategy = Strategy::All;
    let network = Network::joined(links).await?;
    let (near, far) = network.link().await?;
    let mut data = Vec::with_capacity(SIZE);
    Payload::new(SIZE).append(0, 0, &mut data);
    stage.progress.start_bar(SIZE as u64);
    let start = Instant::now();
    let transfer =
        near.send_resource(data.clone(), Some(METADATA.to_vec()), true).map_err(Failure::network)?;
    let (mut steps, mut at) = (0_u64, Progress::default());
    let watched = async {
        while let Some(progress) = transfer.progressed(at).await {
            check(progress.done >= at.done, || "the progress goes backwards".into())?;
            at = progress;
            steps += 1;
            stage.progress.set(progress.done);
        }
        Ok(())
    };
    within("the end of the resource", watched).await?;
    transfer.await.map_err(Failure::network)?;
    let arrived =
        within("the resource", async { far.next_resource().await.map_err(Failure::network) }).await?;
    let taken = start.elapsed();
    check(arrived.data == data, || "the resource changed on the way".into())?;
    check(arrived.metadata.as_deref() == Some(METADATA), || "the metadata changed on the way".into())?;
    network.end().await;
    let found = format!("it arrived whole with its metadata, and told {} times how far it was", count(steps));
    Ok(Outcome { found, messages: 1, bytes: SIZE as u64, transfer: taken })
}

const SIZE: usize = 1 << 20;
/// The MessagePack of the text `demo`.
const METADATA: &[u8] = b"\xa4demo";
