//! Which identity is meant.

use host_crypto::provider;
use proto_rns::{
    DestinationHash, IdentityHash,
    identity::{Identity, KnownDestinations, PublicIdentity},
    storage::{Storage as _, StoredItem},
};
use rns_host::store::{DirectoryStore, IdentityFileError, read_identity_file};
use std::{fs, path::Path};
use zeroize::Zeroizing;

use super::{Id, encoding::Encoding};
use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
    rns::{attach, call},
};

/// An identity, as far as it is known.
#[derive(Debug)]
pub(super) enum Known {
    /// With its private keys.
    Private(Identity),
    /// Its public keys only.
    Public(PublicIdentity),
}

impl Known {
    /// Returns what everybody may know.
    pub(super) const fn public(&self) -> PublicIdentity {
        match self {
            Self::Private(identity) => *identity.public(),
            Self::Public(public) => *public,
        }
    }
}

/// Finds the identity that the options name; `None` where they name none.
///
/// # Errors
/// It is not there, or not what it should be.
pub(super) async fn find(options: &Id) -> Result<Option<Known>, Failure> {
    if let Some(keys) = &options.import_prv {
        let bytes = Zeroizing::new(import(keys, "private")?);
        return Ok(Some(Known::Private(Identity::from_bytes(&*provider(), &bytes))));
    }
    if let Some(keys) = &options.import_pub {
        return Ok(Some(Known::Public(PublicIdentity::from_bytes(&import(keys, "public")?))));
    }
    let Some(name) = &options.identity else { return Ok(None) };
    let path = Path::new(name);
    match read_identity_file(path, &*provider()) {
        Ok(loaded) => {
            if let Some(warning) = loaded.warning {
                output::note(format_args!("{} {name}: {warning}", paint(style::ODD, "warning:")));
            }
            if !options.json {
                output::note(format_args!("Loaded Identity <{}> from {name}", loaded.identity.hash()));
            }
            Ok(Some(Known::Private(loaded.identity)))
        }
        Err(IdentityFileError::Missing) => match name.trim_matches(['<', '>']).parse() {
            Ok(hash) => recall(options, hash).await.map(|public| Some(Known::Public(public))),
            Err(_) => Err(Failure::file(format_args!("there is no file {name}, and it is no hash either"))
                .advise("`iolite rns id -g FILE` makes an identity")),
        },
        Err(error) => Err(Failure::file(format_args!("the identity in {name}: {error}"))),
    }
}

/// Finds an identity by its hash or by that of one of its destinations: in what was heard, or by asking the network.
async fn recall(options: &Id, hash: DestinationHash) -> Result<PublicIdentity, Failure> {
    let heard = || {
        let directory = attach::directory(options.config.as_deref());
        // A look at a directory that is not there must not make one.
        let bytes = directory
            .join("storage")
            .is_dir()
            .then(|| DirectoryStore::open(&directory).read(StoredItem::KnownDestinations))??;
        let known = KnownDestinations::decode(&bytes, MOST_KNOWN).ok()?;
        let of_identity = known.identity_of(IdentityHash::new(*hash.as_bytes()));
        of_identity.or_else(|| known.identity(hash)).copied()
    };
    if let Some(identity) = (!options.no_cache).then(heard).flatten() {
        return Ok(identity);
    }
    if !options.request {
        return Err(Failure::check(format_args!("nothing was heard of <{hash}>"))
            .advise("-R asks the network for it, if it is the hash of a destination"));
    }
    let node = attach::attach(options.config.as_deref()).await?;
    call::find_path(&node, hash, options.timeout).await?;
    let found = node.with_node(|node, _| node.known().identity(hash).copied());
    node.shutdown().await;
    found.ok_or_else(|| Failure::network(format_args!("the network knows no identity of <{hash}>")))
}

/// Reads keys as text, or from a file that holds them as text or as bytes.
fn import(given: &str, kind: &str) -> Result<[u8; 64], Failure> {
    let wrong = || {
        Failure::file(format_args!("these are no {kind} keys: they have 64 bytes"))
            .advise("write them in hexadecimal digits, base32 or base64, or name a file that holds them")
    };
    let content = if Path::new(given).is_file() {
        let read =
            fs::read(given).map_err(|error| Failure::file(format_args!("cannot read {given}: {error}")));
        Zeroizing::new(read?)
    } else {
        Zeroizing::new(given.as_bytes().to_vec())
    };
    if let Ok(keys) = content.as_slice().try_into() {
        return Ok(keys);
    }
    let text = str::from_utf8(&content).map_err(|_| wrong())?;
    let keys = Encoding::decode_any(text, 64).map(Zeroizing::new).ok_or_else(wrong)?;
    keys.as_slice().try_into().map_err(|_| wrong())
}

/// As many as a node keeps at most.
const MOST_KNOWN: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_from_text_and_from_files_with_text_or_bytes() {
        let (folder, keys) = (tempfile::tempdir().unwrap(), [7; 64]);
        let text = Encoding::Base32.encode(&keys);
        let file = |content: &[u8]| {
            let path = folder.path().join(content.len().to_string());
            fs::write(&path, content).unwrap();
            import(path.to_str().unwrap(), "public").unwrap()
        };
        assert_eq!(import(&text, "public").unwrap(), keys);
        assert_eq!(file(text.as_bytes()), keys);
        assert_eq!(file(&keys), keys);
        assert!(import("no such file", "public").unwrap_err().what().contains("64 bytes"));
    }
}
