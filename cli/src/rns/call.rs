//! Reaching another node: a path, a link, and saying who calls.

use proto_rns::{DestinationHash, identity::Identity, link::LinkConfig};
use runtime_tokio::rns::{ConnectFailed, Link, PathFailed, RnsNode};
use std::time::Duration;
use tokio::time::{Instant, timeout};

use crate::{failure::Failure, output::progress::Progress};

/// Opens a link to a destination.
///
/// # Errors
/// Nobody knows a path, or the destination does not answer, within `patience` each.
pub(crate) async fn open_link(
    node: &RnsNode,
    destination: DestinationHash,
    config: &LinkConfig,
    patience: Duration,
    progress: &Progress,
) -> Result<Link, Failure> {
    progress.describe(format!("asking for a path to {destination}"));
    find_path(node, destination, patience).await?;
    progress.describe(format!("opening a link to {destination}"));
    let connecting = timeout(patience, node.connect_with(destination, Some(config)));
    match connecting.await {
        Ok(Ok(link)) => Ok(link),
        Ok(Err(ConnectFailed::NoAnswer(_))) | Err(_) => {
            Err(Failure::network(format_args!("{destination} does not answer"))
                .advise("does its program still run? -w gives it more time"))
        }
        Ok(Err(error)) => Err(Failure::network(format_args!("cannot reach {destination}: {error}"))),
    }
}

/// Says who calls, where the peer is to know.
///
/// # Errors
/// The link is closed.
pub(crate) fn identify(link: &Link, identity: &Identity) -> Result<(), Failure> {
    link.identify(identity).map_err(|error| Failure::network(format_args!("cannot identify: {error}")))
}

/// Asks again and again: interfaces may still be connecting, and requests get lost.
pub(crate) async fn find_path(
    node: &RnsNode,
    destination: DestinationHash,
    patience: Duration,
) -> Result<(), Failure> {
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match node.find_path(destination, left.min(ASK_AGAIN)).await {
            Ok(_) => return Ok(()),
            Err(PathFailed::TimedOut) if left > ASK_AGAIN => {}
            Err(PathFailed::TimedOut) => {
                return Err(Failure::network(format_args!("nobody knows a path to {destination}"))
                    .advise("is its program running and in reach? -w gives the network more time"));
            }
            Err(error) => return Err(Failure::network(error)),
        }
    }
}

const ASK_AGAIN: Duration = Duration::from_secs(4);
