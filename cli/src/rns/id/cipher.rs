//! Encrypted files in the format of the reference's `.rfe` files: a token for each piece of 16 MiB.

use host_crypto::provider;
use proto_rns::{
    crypto::Entropy,
    identity::{Identity, PublicIdentity},
};
use serde_json::json;
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use super::{
    Id,
    written::{self, NewFile},
};
use crate::{failure::Failure, output, rns::keys};

/// Encrypts files for an identity.
pub(super) fn encrypt(options: &Id, identity: &PublicIdentity) -> Result<(), Failure> {
    let mut entropy = keys::entropy()?;
    for path in &options.encrypt {
        let target = written::target(options, options.encrypt.len(), path, RFE)?;
        let encrypted = |from: &mut File, to: &mut NewFile| encrypt_pieces(from, to, identity, &mut entropy);
        convert(path, &target, options.force, encrypted)?;
        tell(options, path, &target, "encrypted", &format!("for <{}> ", identity.hash()))?;
    }
    Ok(())
}

/// Decrypts files.
pub(super) fn decrypt(options: &Id, identity: &Identity) -> Result<(), Failure> {
    for path in &options.decrypt {
        if options.write.is_none() && path.extension() != Some(OsStr::new(RFE)) {
            return Err(Failure::usage(format_args!("the name of {} does not end in .rfe", path.display()))
                .advise("say where to write with -w"));
        }
        let target = match &options.write {
            Some(_) => written::target(options, options.decrypt.len(), path, RFE)?,
            None => path.with_extension(""),
        };
        convert(path, &target, options.force, |from, to| decrypt_pieces(from, to, identity))?;
        tell(options, path, &target, "decrypted", "")?;
    }
    Ok(())
}

/// Reads one file and writes another, which appears only when all went well.
fn convert(
    from: &Path,
    to: &Path,
    force: bool,
    pieces: impl FnOnce(&mut File, &mut NewFile) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut source = File::open(from)
        .map_err(|error| Failure::file(format_args!("cannot read {}: {error}", from.display())))?;
    let mut target = NewFile::create(to, force)?;
    pieces(&mut source, &mut target).map_err(|error| {
        Failure::file(format_args!("cannot make {} of {}: {error}", to.display(), from.display()))
    })?;
    target.finish()
}

fn encrypt_pieces(
    from: &mut impl Read,
    to: &mut impl Write,
    identity: &PublicIdentity,
    entropy: &mut dyn Entropy,
) -> io::Result<()> {
    while let Some(piece) = next_piece(from, PIECE)? {
        let useless = || io::Error::other("the identity's public key is useless");
        to.write_all(&identity.encrypt(&*provider(), entropy, None, &piece).ok_or_else(useless)?)?;
    }
    Ok(())
}

fn decrypt_pieces(from: &mut impl Read, to: &mut impl Write, identity: &Identity) -> io::Result<()> {
    while let Some(mut piece) = next_piece(from, ENCRYPTED_PIECE)? {
        let decrypted = identity
            .decrypt(&*provider(), [], false, &mut piece)
            .map_err(|_| io::Error::other("it is damaged, or encrypted for another identity"))?;
        to.write_all(decrypted.plaintext)?;
    }
    Ok(())
}

/// Reads as much as a piece has, or what is left; `None` at the end.
fn next_piece(from: &mut impl Read, len: u64) -> io::Result<Option<Vec<u8>>> {
    let mut piece = Vec::new();
    from.take(len).read_to_end(&mut piece)?;
    Ok((!piece.is_empty()).then_some(piece))
}

fn tell(options: &Id, from: &Path, to: &Path, what: &str, whom: &str) -> Result<(), Failure> {
    if options.json {
        return output::json(&json!({
            "file": from.display().to_string(),
            "done": what,
            "written": to.display().to_string(),
        }));
    }
    output::line(format_args!("File {} {what} {whom}to {}", from.display(), to.display()))
}

const RFE: &str = "rfe";
const PIECE: u64 = 16 << 20;
/// An ephemeral key, a vector, a whole block of padding and a code are added.
const ENCRYPTED_PIECE: u64 = PIECE + 32 + 16 + 16 + 32;

#[cfg(test)]
mod tests {
    use super::*;
    use proto_rns::crypto::Dalek;

    fn identity(number: u8) -> Identity {
        Identity::from_bytes(&Dalek, &[number; 64])
    }

    fn encrypted(data: &[u8]) -> Vec<u8> {
        let (mut out, mut entropy) = (Vec::new(), keys::entropy().unwrap());
        encrypt_pieces(&mut &*data, &mut out, identity(1).public(), &mut entropy).unwrap();
        out
    }

    #[test]
    fn files_of_every_number_of_pieces_come_back_whole() {
        let piece = usize::try_from(PIECE).unwrap();
        for len in [0, 1, piece, piece + 1] {
            let data = vec![7; len];
            let sealed = encrypted(&data);
            let mut opened = Vec::new();
            decrypt_pieces(&mut sealed.as_slice(), &mut opened, &identity(1)).unwrap();
            assert!(opened == data, "{len}");
        }
    }

    #[test]
    fn nobody_else_and_nothing_damaged_is_opened() {
        let sealed = encrypted(b"hello");
        let open =
            |sealed: &[u8], number| decrypt_pieces(&mut &*sealed, &mut Vec::new(), &identity(number)).is_ok();
        assert!(open(&sealed, 1));
        assert!(!open(&sealed, 2));
        (1..sealed.len()).for_each(|len| assert!(!open(&sealed[..len], 1), "{len}"));
    }
}
