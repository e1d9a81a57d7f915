//! Files with an identity: 64 bytes, its private keys.

use super::atomic::{self, WriteMode};
use proto_rns::{crypto::CryptoProvider, identity::Identity};
use std::{io, path::Path};
use zeroize::Zeroizing;

/// An identity from a file.
#[derive(Clone, Debug)]
pub struct LoadedIdentity {
    /// The identity.
    pub identity: Identity,
    /// What should be told to whoever owns it.
    pub warning: Option<IdentityFileWarning>,
}

/// Something about an identity's file that is not as it should be.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityFileWarning {
    /// Others on this host may read the private keys.
    #[error("others may read the private keys: set the file's permissions to 600")]
    ReadableByOthers,
}

/// An identity's file that cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityFileError {
    /// There is no such file.
    #[error("there is no such file; `rns id` creates one")]
    Missing,
    /// There is a file already, which may hold keys that exist nowhere else.
    #[error("there is a file already; choose another name, or move it away")]
    Exists,
    /// It has another length than private keys.
    #[error("it has {len} bytes instead of the 64 of an identity's private keys")]
    Length {
        /// How long it is; at most 1025 are counted.
        len: usize,
    },
    /// It holds public keys or a hash as text.
    #[error("it holds hexadecimal digits; an identity's file holds 64 raw bytes")]
    Text,
    /// The operating system refused.
    #[error("{0}")]
    Refused(io::ErrorKind),
}

const LEN: usize = 64;
/// More than any file that is taken for an identity by mistake needs to be told from one.
const LIMIT: u64 = 1_024;

/// Reads an identity.
///
/// # Errors
/// The file cannot be read, or is no identity's.
pub fn read_identity_file(
    path: &Path,
    crypto: &dyn CryptoProvider,
) -> Result<LoadedIdentity, IdentityFileError> {
    let bytes = match atomic::read(path, LIMIT) {
        Ok(Some(bytes)) => Zeroizing::new(bytes),
        Ok(None) => return Err(IdentityFileError::Missing),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(IdentityFileError::Length { len: 1_025 });
        }
        Err(error) => return Err(IdentityFileError::Refused(error.kind())),
    };
    let Ok(secret) = <&[u8; LEN]>::try_from(bytes.as_slice()) else {
        let text = bytes.trim_ascii();
        let is_text = text.len() >= 32 && text.iter().all(u8::is_ascii_hexdigit);
        return Err(if is_text {
            IdentityFileError::Text
        } else {
            IdentityFileError::Length { len: bytes.len() }
        });
    };
    let warning = is_readable_by_others(path).then_some(IdentityFileWarning::ReadableByOthers);
    Ok(LoadedIdentity { identity: Identity::from_bytes(crypto, secret), warning })
}

/// Writes an identity to a new file that only its owner may read.
///
/// # Errors
/// There is a file already, or it cannot be written.
pub fn create_identity_file(path: &Path, identity: &Identity) -> Result<(), IdentityFileError> {
    let mode = WriteMode { secret: true, durable: true };
    atomic::create(path, identity.secret_bytes().as_slice(), mode).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            IdentityFileError::Exists
        } else {
            IdentityFileError::Refused(error.kind())
        }
    })
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;
    use proto_rns::crypto::Dalek;
    use std::fs;

    #[test]
    fn an_identity_is_read_as_it_was_written_and_never_overwritten() {
        let dir = TestDir::new("identity");
        let path = dir.path().join("me");
        let identity = Identity::from_bytes(&Dalek, &[3; 64]);
        create_identity_file(&path, &identity).unwrap();
        let loaded = read_identity_file(&path, &Dalek).unwrap();
        assert_eq!((loaded.identity.hash(), loaded.warning), (identity.hash(), None));
        let other = Identity::from_bytes(&Dalek, &[4; 64]);
        assert_eq!(create_identity_file(&path, &other), Err(IdentityFileError::Exists));
        assert_eq!(fs::read(&path).unwrap(), [3; 64]);
    }

    #[test]
    fn a_file_that_is_no_identity_says_why() {
        let dir = TestDir::new("no-identity");
        let path = dir.path().join("me");
        let error = || read_identity_file(&path, &Dalek).unwrap_err();
        assert_eq!(error(), IdentityFileError::Missing);
        let with = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            error()
        };
        assert_eq!(with(b""), IdentityFileError::Length { len: 0 });
        assert_eq!(with(&[7; 63]), IdentityFileError::Length { len: 63 });
        assert_eq!(with(&[7; 5_000]), IdentityFileError::Length { len: 1_025 });
        assert_eq!(with(format!("{}\n", "ab".repeat(64)).as_bytes()), IdentityFileError::Text);
        let is_refused = read_identity_file(dir.path(), &Dalek).is_err();
        assert!(is_refused);
    }

    #[cfg(unix)]
    #[test]
    fn keys_that_others_may_read_are_warned_of() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TestDir::new("open-identity");
        let path = dir.path().join("me");
        fs::write(&path, [3; 64]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let loaded = read_identity_file(&path, &Dalek).unwrap();
        assert_eq!(loaded.warning, Some(IdentityFileWarning::ReadableByOthers));
    }
}
