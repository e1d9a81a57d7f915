//! Sending a file.

use proto_rns::{DestinationHash, identity::Identity, link::LinkConfig, resource::FailReason};
use runtime_tokio::rns::{Progress as Done, Transfer, TransferFailed};
use serde_json::json;
use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{Cp, departure, intake::why, protocol};
use crate::{
    failure::Failure,
    output::{
        self,
        progress::Progress,
        quantity::{bytes, per_second, throughput, time},
    },
    rns::{attach::attach, call},
};

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
    let node = attach(options.config.as_deref()).await?;
    let link = call::open_link(&node, destination, &LinkConfig::default(), options.wait, &progress).await?;
    call::identify(&link, identity)?;
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
    report(options, file, destination, len, taken)
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

fn report(
    options: &Cp,
    file: &str,
    destination: DestinationHash,
    len: u64,
    taken: Duration,
) -> Result<(), Failure> {
    if options.json {
        return output::json(&json!({
            "file": file,
            "destination": destination.to_string(),
            "bytes": len,
            "seconds": taken.as_secs_f64(),
            "bytes_per_second": per_second(len, taken),
        }));
    }
    output::line(format_args!(
        "{file} copied to <{destination}>: {} in {} ({})",
        bytes(len),
        time(taken),
        throughput(len, taken)
    ))
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
