//! Whom a listener serves.

use proto_rns::{IdentityHash, identity::PublicIdentity, link::RequestPolicy};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
};

/// Everybody, or the holders of some identities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody, those that do not say who they are included.
    Everybody,
    /// These.
    Listed(Vec<IdentityHash>),
}

impl Access {
    /// Takes the identities of the command line together with those in the utility's files: `allowed_identities` in
    /// `/etc/NAME`, `~/.config/NAME` and `~/.NAME`, one hash a line.
    ///
    /// # Errors
    /// A file cannot be read or has a line that is no hash.
    pub(crate) fn of(everybody: bool, allowed: &[IdentityHash], utility: &str) -> Result<Self, Failure> {
        if everybody {
            return Ok(Self::Everybody);
        }
        let mut listed = allowed.to_vec();
        for file in files(utility, env::home_dir().as_deref()) {
            if let Ok(text) = fs::read_to_string(&file) {
                listed.extend(parse(&text).map_err(|line| {
                    Failure::file(format_args!("{}: line {line} is no identity's hash", file.display()))
                        .advise("write 32 hexadecimal digits a line")
                })?);
            }
        }
        if listed.is_empty() {
            output::note(format_args!(
                "{} nobody is allowed yet; allow identities with -a HASH, or everybody with -n",
                paint(style::ODD, "warning:")
            ));
        }
        Ok(Self::Listed(listed))
    }

    /// Says whether somebody is served.
    pub(crate) fn allows(&self, peer: Option<&PublicIdentity>) -> bool {
        match self {
            Self::Everybody => true,
            Self::Listed(listed) => peer.is_some_and(|peer| listed.contains(&peer.hash())),
        }
    }

    /// Returns the same as a rule for requests.
    pub(crate) fn policy(&self) -> RequestPolicy {
        match self {
            Self::Everybody => RequestPolicy::All,
            Self::Listed(listed) => RequestPolicy::List(listed.clone()),
        }
    }
}

/// Reads one hash a line. Fails with the number of the first line that is none.
fn parse(text: &str) -> Result<Vec<IdentityHash>, usize> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| line.parse().map_err(|_| number))
        .collect()
}

fn files(utility: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let folders = [
        Some(Path::new("/etc").join(utility)),
        home.map(|home| home.join(".config").join(utility)),
        home.map(|home| home.join(format!(".{utility}"))),
    ];
    folders.into_iter().flatten().map(|folder| folder.join("allowed_identities")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_rns::{crypto::Dalek, identity::Identity};

    #[test]
    fn a_list_lets_in_those_on_it_only() {
        let [friend, stranger] = [[1; 64], [2; 64]].map(|secret| Identity::from_bytes(&Dalek, &secret));
        let access = Access::Listed(vec![friend.hash()]);
        assert!(access.allows(Some(friend.public())));
        assert!(!access.allows(Some(stranger.public())));
        assert!(!access.allows(None));
        assert!(Access::Everybody.allows(None));
    }

    #[test]
    fn a_file_has_a_hash_a_line_and_remarks() {
        let text = "# friends\n00112233445566778899aabbccddeeff\n\n  ffeeddccbbaa99887766554433221100\n";
        assert_eq!(parse(text).map(|hashes| hashes.len()), Ok(2));
        assert_eq!(parse("00112233445566778899aabbccddeeff\n0011\n"), Err(2));
    }
}
