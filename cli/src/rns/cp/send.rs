//! Sending a file.

use proto_rns::{DestinationHash, identity::Identity, link::LinkConfig, resource::FailReason};
use runtime_tokio::rns::{Progress as Done, Transfer, TransferFailed};
use std::{path::Path, time::Instant};

use super::{Cp, copied::Copied, departure, intake::why, protocol};
use crate::{failure::Failure, output::progress::Progress};

/// Sends `file` to `destination`.
///
/// # Errors
/// The file cannot be read, or the other node is not reached, does not accept it, or goes away.
pub(super) async fn run(
    options: &Cp,
    file: &str,
    destination: DestinationHash,
    identity: &Identity,
) -> Result<(), Failure> {
    let path = Path::new(file);
    let opened = departure::open(path);
    let (content, len) =
        opened.map_err(|error| Failure::file(format_args!("cannot read {file}: {error}")))?;
    let Some(name) = path.file_name() else {
        return Err(Failure::file(format_args!("{file} is not the name of a file")));
    };
    let progress = options.progress("connecting");
    let (node, link) = options.call(destination, identity, &LinkConfig::default(), &progress).await?;
    progress.describe("offering the file");
    let start = Instant::now();
    let metadata = Some(protocol::metadata(name));
    let transfer = link
        .send_resource(content, metadata, !options.no_compress)
        .map_err(|error| fault(file, destination, &error))?;
    follow(transfer, file, len, &progress).await.map_err(|error| fault(file, destination, &error))?;
    let taken = start.elapsed();
    progress.finish();
    node.shutdown().await;
    Copied { file, destination, saved: None, len, taken }.report(options.json)
}

/// Follows a transfer to its end. The machine itself notices a peer that does not answer or falls silent.
async fn follow(transfer: Transfer, file: &str, len: u64, progress: &Progress) -> Result<(), TransferFailed> {
    let mut seen = Done::default();
    while let Some(done) = transfer.progressed(seen).await {
        if seen == Done::default() {
            progress.start_bytes(file, len);
        }
        seen = done;
        progress.set(protocol::of_file(done, len));
    }
    transfer.await
}

fn fault(file: &str, destination: DestinationHash, error: &TransferFailed) -> Failure {
    match error {
        TransferFailed::Failed(reason @ (FailReason::Rejected | FailReason::CancelledByPeer)) => {
            Failure::network(format_args!("{destination} did not take {file}: {}", why(*reason)))
                .advise("its listener must allow this identity; see iolite rns cp -p")
        }
        TransferFailed::Failed(reason) => {
            Failure::network(format_args!("cannot send {file} to {destination}: {}", why(*reason)))
        }
        TransferFailed::Closed(_) => Failure::network(format_args!(
            "cannot send {file} to {destination}: {error}"
        ))
        .advise("a listener that does not allow this identity may close the link; see iolite rns cp -p"),
        TransferFailed::Refused(_) | _ => Failure::file(format_args!("cannot send {file}: {error}")),
    }
}
