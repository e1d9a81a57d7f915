//! The files that come in over one link.

use proto_rns::resource::{FailReason, Offer, ResourceId};
use runtime_tokio::rns::{Link, LinkClosed, ReceivedResource};
use std::{collections::BTreeMap, io, path::Path};

use super::{
    arrival::{Arrival, Saved},
    protocol::name_in,
};

/// Takes in the files that were accepted.
#[derive(Debug)]
pub(super) struct Intake<'a> {
    link: &'a Link,
    folder: &'a Path,
    overwrite: bool,
    arrivals: BTreeMap<ResourceId, Arrival>,
}

/// What happens next.
#[derive(Debug)]
pub(super) enum Happening {
    /// The peer offers a file; accept or refuse it.
    Offered(Offer),
    /// A file is there.
    Saved(Saved),
    /// A file that was accepted will not be there.
    Failed(Fault),
}

/// Why a file did not arrive.
#[derive(Debug)]
pub(super) enum Fault {
    /// It came to nothing on the way.
    Lost(FailReason),
    /// The link closed before it was whole.
    Closed,
    /// It could not be saved.
    Disk(io::Error),
}

impl<'a> Intake<'a> {
    /// Creates the intake of `link`, which saves in `folder`.
    pub(super) const fn new(link: &'a Link, folder: &'a Path, overwrite: bool) -> Self {
        Self { link, folder, overwrite, arrivals: BTreeMap::new() }
    }

    /// Accepts an offered file.
    ///
    /// # Errors
    /// It could not be saved; it is refused then.
    pub(super) fn accept(&mut self, offer: &Offer) -> io::Result<()> {
        match Arrival::begin(self.folder) {
            Ok(arrival) => {
                self.arrivals.insert(offer.id, arrival);
                self.link.accept_resource(offer.id);
                Ok(())
            }
            Err(error) => {
                self.refuse(offer);
                Err(error)
            }
        }
    }

    /// Refuses an offered file.
    pub(super) fn refuse(&self, offer: &Offer) {
        self.link.reject_resource(offer.id);
    }

    /// Waits for what happens next; `None` once the link is closed and nothing is left. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Happening> {
        loop {
            let link = self.link;
            let step = tokio::select! {
                biased;
                resource = link.next_resource() => resource.map(Step::Arrived),
                lost = link.next_lost_resource() => lost.map(|lost| Step::Lost(lost.id, lost.reason)),
                offer = link.next_offer() => offer.map(Step::Offered),
            };
            // What arrived last may still be there when the link is closed.
            let step = match step {
                Ok(step) => Ok(step),
                Err(LinkClosed { .. }) => link.next_resource().await.map(Step::Arrived),
            };
            match step {
                Ok(Step::Offered(offer)) => return Some(Happening::Offered(offer)),
                Ok(Step::Arrived(resource)) => {
                    if let Some(happening) = self.take(&resource) {
                        return Some(happening);
                    }
                }
                Ok(Step::Lost(id, reason)) => {
                    if self.arrivals.remove(&id).is_some() {
                        return Some(Happening::Failed(Fault::Lost(reason)));
                    }
                }
                Err(LinkClosed { .. }) => {
                    return self.arrivals.pop_first().map(|_| Happening::Failed(Fault::Closed));
                }
            }
        }
    }

    /// Saves a piece of a file; returns what came of the file if it was the last.
    fn take(&mut self, resource: &ReceivedResource) -> Option<Happening> {
        let arrival = self.arrivals.get_mut(&resource.id)?;
        if let Some(name) = resource.metadata.as_deref().and_then(name_in) {
            arrival.set_name(name);
        }
        if let Err(error) = arrival.write(&resource.data) {
            self.arrivals.remove(&resource.id);
            self.link.cancel_resource(resource.id);
            return Some(Happening::Failed(Fault::Disk(error)));
        }
        if resource.segment < resource.segments {
            return None;
        }
        let arrival = self.arrivals.remove(&resource.id)?;
        // A device may take long to have everything.
        let finished = tokio::task::block_in_place(|| arrival.finish(self.folder, self.overwrite));
        Some(match finished {
            Ok(saved) => Happening::Saved(saved),
            Err(error) => Happening::Failed(Fault::Disk(error)),
        })
    }
}

enum Step {
    Arrived(ReceivedResource),
    Lost(ResourceId, FailReason),
    Offered(Offer),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost(reason) => f.write_str(why(*reason)),
            Self::Closed => f.write_str("the link closed before it was whole"),
            Self::Disk(error) => write!(f, "it cannot be saved: {error}"),
        }
    }
}

/// Returns why a file did not get through, in words.
pub(super) const fn why(reason: FailReason) -> &'static str {
    match reason {
        FailReason::Cancelled => "the link closed before it was whole",
        FailReason::CancelledByPeer => "the other node gave it up",
        FailReason::Rejected => "the other node does not accept it",
        FailReason::Unanswered => "the other node did not answer the offer",
        FailReason::TimedOut => "the other node fell silent",
        FailReason::Unproved => "the other node did not confirm it",
        FailReason::OutOfSequence => "the other node asked for impossible parts",
        FailReason::Corrupt => "it was damaged on the way",
        FailReason::TooLarge => "it is larger than was announced",
        FailReason::Unreadable => "it cannot be read to its end",
        #[allow(clippy::wildcard_enum_match_arm, reason = "there may be more reasons one day")]
        _ => "it came to nothing",
    }
}
