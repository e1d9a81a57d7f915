//! Files with signatures.

use host_crypto::provider;
use proto_rns::identity::Identity;
use serde_json::json;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{
    Id,
    encoding::Encoding,
    find::Known,
    signature::{self, Invalid},
    written::{self, read},
};
use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
};

/// Signs files.
pub(super) fn sign(options: &Id, identity: &Identity) -> Result<(), Failure> {
    for path in &options.sign {
        let data = read(path)?;
        let signature =
            if options.raw { signature::sign_raw(identity, &data) } else { signature::sign(identity, &data) };
        let target = written::target(options, options.sign.len(), path, RSG)?;
        if options.wants_text() {
            output::line(options.encoding().armour(RSG, &signature))?;
        } else {
            written::write(&target, &signature, options.force)?;
        }
        if options.json {
            output::json(&json!({
                "file": path.display().to_string(),
                "signer": identity.hash().to_string(),
                "signature": target.display().to_string(),
            }))?;
        } else {
            output::line(format_args!("Signed file {} with <{}>", path.display(), identity.hash()))?;
        }
    }
    Ok(())
}

/// Validates signatures, each beside the file of its name without `.rsg`.
pub(super) fn validate(options: &Id, signer: Option<&Known>) -> Result<(), Failure> {
    let signer = signer.map(Known::public);
    let mut invalid = 0;
    for path in &options.validate {
        let (signed, signature) = pair(path);
        let data = read(&signed)?;
        let bytes = read(&signature)?;
        let opened = str::from_utf8(&bytes).ok().and_then(Encoding::open_armour);
        let found =
            signature::validate(&*provider(), opened.as_deref().unwrap_or(&bytes), &data, signer.as_ref());
        invalid += u32::from(found.is_err());
        let by = found.map(|hash| hash.to_string());
        if options.json {
            output::json(&json!({
                "file": signed.display().to_string(),
                "valid": by.is_ok(),
                "signer": by.as_ref().ok(),
                "reason": by.as_ref().err().map(why),
            }))?;
            continue;
        }
        let file = signed.display();
        output::line(match by {
            Ok(by) => {
                format!("{}, the file {file} was signed by <{by}>", paint(style::GOOD, "Signature is valid"))
            }
            Err(invalid) => {
                format!(
                    "{} for the file {file}: {}",
                    paint(style::BAD, "Signature is invalid"),
                    why(&invalid)
                )
            }
        })?;
    }
    match invalid {
        0 => Ok(()),
        count => {
            Err(Failure::check(format_args!("{count} of {} signatures do not count", options.validate.len())))
        }
    }
}

/// Returns what is signed and where the signature is; either may be named.
fn pair(named: &Path) -> (PathBuf, PathBuf) {
    if named.extension() == Some(OsStr::new(RSG)) {
        return (named.with_extension(""), named.to_path_buf());
    }
    (named.to_path_buf(), written::with_suffix(named, RSG))
}

fn why(invalid: &Invalid) -> String {
    match invalid {
        Invalid::Malformed => "it is no signature".into(),
        Invalid::UnknownHash => "it uses a hash that is not known here".into(),
        Invalid::OtherData => "the file is not the one that was signed".into(),
        Invalid::OtherSigner(signer) => format!("it is by <{signer}>"),
        Invalid::NoSigner => "it does not say whose it is; name the signer with -i".into(),
        Invalid::Forged => "it is forged or damaged".into(),
    }
}

const RSG: &str = "rsg";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_and_what_it_signs_stand_beside_each_other() {
        let expected = (PathBuf::from("a/note.txt"), PathBuf::from("a/note.txt.rsg"));
        assert_eq!(pair(Path::new("a/note.txt.rsg")), expected);
        assert_eq!(pair(Path::new("a/note.txt")), expected);
    }
}
