//! Who may ask for what (spec 1.11).

use super::DropReason;
use crate::{IdentityHash, PathHash};
use alloc::{collections::BTreeMap, string::String, vec::Vec};

/// The paths that a destination answers, and to whom. One table serves all links of the destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestPolicies {
    paths: BTreeMap<PathHash, (String, RequestPolicy)>,
}

impl RequestPolicies {
    /// Offers `path`; what was said about it before is replaced.
    pub fn allow(&mut self, path: &str, policy: RequestPolicy) {
        self.paths.insert(PathHash::of(path), (path.into(), policy));
    }

    /// No longer offers `path`.
    pub fn remove(&mut self, path: &str) {
        self.paths.remove(&PathHash::of(path));
    }

    /// Says whether nothing is offered.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the path with this hash, if the peer may ask for it.
    pub(super) fn judge(&self, path: PathHash, peer: Option<IdentityHash>) -> Result<&str, DropReason> {
        let (path, policy) = self.paths.get(&path).ok_or(DropReason::UnknownPath)?;
        if policy.allows(peer) { Ok(path) } else { Err(DropReason::NotAllowed) }
    }
}

/// Who may ask for a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestPolicy {
    /// Nobody.
    #[default]
    None,
    /// Everybody.
    All,
    /// Initiators that identified themselves as one of these.
    List(Vec<IdentityHash>),
}

impl RequestPolicy {
    fn allows(&self, peer: Option<IdentityHash>) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::List(allowed) => peer.is_some_and(|peer| allowed.contains(&peer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_lets_in_those_on_it_and_nobody_unidentified() {
        let (friend, stranger) = (IdentityHash::new([1; 16]), IdentityHash::new([2; 16]));
        let mut policies = RequestPolicies::default();
        policies.allow("/list", RequestPolicy::List(alloc::vec![friend]));
        policies.allow("/all", RequestPolicy::All);
        policies.allow("/none", RequestPolicy::None);
        let judge = |path, peer| policies.judge(PathHash::of(path), peer);
        assert_eq!(judge("/list", Some(friend)), Ok("/list"));
        assert_eq!(judge("/list", Some(stranger)), Err(DropReason::NotAllowed));
        assert_eq!(judge("/list", None), Err(DropReason::NotAllowed));
        assert_eq!(judge("/all", None), Ok("/all"));
        assert_eq!(judge("/none", Some(friend)), Err(DropReason::NotAllowed));
        assert_eq!(judge("/other", Some(friend)), Err(DropReason::UnknownPath));
    }
}
