//! Who a utility is: an identity in a file, made when it is first needed.

use proto_rns::{DestinationHash, IdentityHash, crypto::Dalek, identity::Identity};
use rns_host::store::{IdentityFileError, create_identity_file, read_identity_file};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

use super::keys::entropy;
use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
};

/// Reads the identity in `chosen`, or that of the utility with this name, as the reference keeps it.
///
/// # Errors
/// The file is no identity's, or cannot be written.
pub(crate) fn own_identity(
    config_dir: &Path,
    chosen: Option<&Path>,
    utility: &str,
) -> Result<Identity, Failure> {
    let path = chosen.map_or_else(|| default_path(config_dir, utility), Path::to_path_buf);
    match read_identity_file(&path, &Dalek) {
        Ok(loaded) => {
            if let Some(warning) = loaded.warning {
                let what = format_args!("{} {}: {warning}", paint(style::ODD, "warning:"), path.display());
                output::note(what);
            }
            Ok(loaded.identity)
        }
        Err(IdentityFileError::Missing) => create(&path),
        Err(error) => Err(fault(&path, error)),
    }
}

/// Prints who a utility is, and where its listener would be.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn print_identity(
    identity: &IdentityHash,
    listener: &DestinationHash,
    json: bool,
) -> Result<(), Failure> {
    if json {
        return output::json(&json!({
            "identity": identity.to_string(),
            "destination": listener.to_string(),
        }));
    }
    output::line(format_args!("Identity     : <{identity}>"))?;
    output::line(format_args!("Listening on : <{listener}>"))
}

fn create(path: &Path) -> Result<Identity, Failure> {
    let identity = Identity::generate(&Dalek, &mut entropy()?);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::file(format_args!("cannot create {}: {error}", folder.display())))?;
    }
    match create_identity_file(path, &identity) {
        Ok(()) => Ok(identity),
        // Another program was faster.
        Err(IdentityFileError::Exists) => {
            read_identity_file(path, &Dalek).map(|loaded| loaded.identity).map_err(|error| fault(path, error))
        }
        Err(error) => Err(fault(path, error)),
    }
}

fn default_path(config_dir: &Path, utility: &str) -> PathBuf {
    config_dir.join("storage").join("identities").join(utility)
}

fn fault(path: &Path, error: IdentityFileError) -> Failure {
    Failure::file(format_args!("the identity in {}: {error}", path.display()))
}
