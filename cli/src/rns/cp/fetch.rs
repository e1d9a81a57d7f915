//! Fetching a file.

use proto_rns::{
    DestinationHash,
    identity::Identity,
    resource::{Offer, ResourceId},
};
use runtime_tokio::rns::{Link, RequestFailed};
use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{
    Cp,
    arrival::Saved,
    copied::Copied,
    intake::{Happening, Intake},
    protocol::{self, Answer},
};
use crate::{failure::Failure, output::progress::Progress};

/// Fetches `file` from `destination`.
///
/// # Errors
/// The other node is not reached, does not have the file, does not give it, or goes away; or it cannot be saved.
pub(super) async fn run(
    options: &Cp,
    file: &str,
    destination: DestinationHash,
    identity: &Identity,
) -> Result<(), Failure> {
    let folder = options.folder()?;
    let progress = options.progress("connecting");
    let config = protocol::link_config();
    let (node, link) = options.call(destination, identity, &config, &progress).await?;
    progress.describe("asking for the file");
    let start = Instant::now();
    // The file may be there before the answer.
    let answer = ask(&link, file, destination, options.wait);
    let arrival = take(&link, file, &folder, options, &progress);
    let (_, saved) = tokio::try_join!(answer, arrival)?;
    let taken = start.elapsed();
    progress.finish();
    node.shutdown().await;
    let copied = Copied { file, destination, saved: Some(&saved.path), len: saved.len, taken };
    copied.report(options.json)
}

/// Asks for the file; fails unless it follows.
async fn ask(
    link: &Link,
    file: &str,
    destination: DestinationHash,
    patience: Duration,
) -> Result<(), Failure> {
    let answer = link.request_with(protocol::FETCH, &protocol::request(file), Some(patience), None).await;
    let answer = answer.map_err(|error| unanswered(destination, &error))?;
    match Answer::parse(&answer.data) {
        Answer::Follows => Ok(()),
        Answer::Missing => Err(Failure::check(format_args!("{destination} has no file {file}"))),
        Answer::NotAllowed => Err(Failure::check(format_args!("{destination} does not give {file}"))
            .advise("its listener gives only what is in the directory that it was told with --jail")),
        Answer::Failed => Err(Failure::check(format_args!("{destination} could not give {file}"))),
    }
}

/// Takes in the first file that is offered.
async fn take(
    link: &Link,
    file: &str,
    folder: &Path,
    options: &Cp,
    progress: &Progress,
) -> Result<Saved, Failure> {
    let mut intake = Intake::new(link, folder, options.overwrite);
    let mut wanted: Option<Offer> = None;
    let mut tick = tokio::time::interval(REDRAW);
    loop {
        let happening = tokio::select! {
            happening = intake.next() => happening,
            _ = tick.tick() => {
                if let Some(offer) = &wanted {
                    progress.set(came(link, offer.id, offer.total_size));
                }
                continue;
            }
        };
        match happening {
            Some(Happening::Offered(offer)) if wanted.is_none() => {
                progress.start_bytes(file, offer.total_size);
                intake.accept(&offer).map_err(|error| {
                    Failure::file(format_args!("cannot save in {}: {error}", folder.display()))
                })?;
                wanted = Some(offer);
            }
            Some(Happening::Offered(offer)) => intake.refuse(&offer),
            Some(Happening::Saved(saved)) => return Ok(saved),
            Some(Happening::Failed(fault)) => {
                return Err(Failure::network(format_args!("{file} did not arrive: {fault}")));
            }
            None => return Err(Failure::network(format_args!("{file} did not arrive: the link closed"))),
        }
    }
}

fn came(link: &Link, id: ResourceId, len: u64) -> u64 {
    link.resource_progress(id).map_or(0, |done| protocol::of_file(done, len))
}

fn unanswered(destination: DestinationHash, error: &RequestFailed) -> Failure {
    Failure::network(format_args!("{destination} does not answer: {error}"))
        .advise("its listener must let files be fetched (-F) and allow this identity; see iolite rns cp -p")
}

const REDRAW: Duration = Duration::from_millis(100);
