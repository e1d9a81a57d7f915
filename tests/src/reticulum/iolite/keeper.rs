//! What a destination does by itself: which packets it proves, what it answers, which resources it takes.

use proto_rns::{
    dest::{LocalDestination, Ratchets},
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
};
use std::sync::Arc;

use crate::reticulum::{
    Allowance, Answer, DestinationSpec, Proofs, Ratchets as Wanted, RequestHandler, WISH,
};

/// Who stands for one destination.
#[derive(Debug)]
pub(super) struct Keeper {
    proofs: Proofs,
    largest_resource: Option<usize>,
    handlers: Vec<RequestHandler>,
}

impl Keeper {
    /// Makes a destination what a test wants, as far as it can be that by itself, and returns who does the rest.
    pub(super) fn of(spec: &DestinationSpec, own: &mut LocalDestination) -> Self {
        own.proofs = match spec.proofs {
            Proofs::Never => ProofStrategy::None,
            Proofs::OnWish => ProofStrategy::App,
            Proofs::Always => ProofStrategy::All,
        };
        own.accepts_links = spec.accepts_links;
        own.app_data = spec.app_data.clone().unwrap_or_default();
        own.ratchets = (spec.ratchets != Wanted::Off).then(Ratchets::new);
        own.enforce_ratchets = spec.ratchets == Wanted::Enforced;
        let mut requests = RequestPolicies::default();
        for handler in &spec.handlers {
            requests.allow(&handler.path, policy(&handler.allowed));
        }
        let requests = Arc::new(requests);
        own.links = Some(LinkConfig { proofs: own.proofs, requests, ..LinkConfig::default() });
        Self { proofs: spec.proofs, largest_resource: spec.largest_resource, handlers: spec.handlers.clone() }
    }

    /// Says whether a packet is one to be proved that would not be without asking.
    pub(super) fn wishes_to_prove(&self, data: &[u8]) -> bool {
        self.proofs == Proofs::OnWish && data.starts_with(WISH)
    }

    /// Says whether it takes a resource of `size` bytes.
    pub(super) fn takes_resource(&self, size: usize) -> bool {
        self.largest_resource.is_none_or(|largest| size <= largest)
    }

    /// Returns the answer to requests for `path`.
    pub(super) fn answer(&self, path: &str) -> Option<Answer> {
        self.handlers.iter().find(|handler| handler.path == path).map(|handler| handler.answer)
    }
}

fn policy(allowed: &Allowance) -> RequestPolicy {
    match allowed {
        Allowance::Nobody => RequestPolicy::None,
        Allowance::Everyone => RequestPolicy::All,
        Allowance::Listed(identities) => RequestPolicy::List(identities.clone()),
    }
}
