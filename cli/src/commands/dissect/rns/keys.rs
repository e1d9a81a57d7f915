//! What the user gives to look behind access codes and encryption.

use proto_rns::{crypto::Dalek, identity::Identity, iface::Ifac};
use rns_host::store::read_identity_file;

use crate::{args::dissect::Dissect, failure::Failure};

/// Identities and the access code.
#[derive(Debug)]
pub(super) struct Keys {
    identities: Vec<Identity>,
    access: Option<Ifac>,
}

/// A frame without its access code.
#[derive(Debug)]
pub(super) enum Unmasked<'a> {
    /// It had none, or one that is known.
    Open(&'a [u8]),
    /// It has one that is not known.
    Masked,
}

impl Keys {
    /// Reads what the options name.
    ///
    /// # Errors
    /// A file is no identity's.
    pub(super) fn read(options: &Dissect) -> Result<Self, Failure> {
        let identities = options.identity.iter().map(|path| {
            let loaded = read_identity_file(path, &Dalek);
            loaded
                .map(|loaded| loaded.identity)
                .map_err(|error| Failure::file(format_args!("the identity in {}: {error}", path.display())))
        });
        let (name, pass) = (options.ifac_name.as_deref(), options.ifac_pass.as_deref());
        let access = Ifac::new(&Dalek, name, pass, usize::from(options.ifac_size / 8));
        Ok(Self { identities: identities.collect::<Result<_, _>>()?, access })
    }

    /// Takes the access code off a frame.
    pub(super) fn unmask<'a>(&self, frame: &'a mut [u8]) -> Unmasked<'a> {
        if !Ifac::is_flagged(frame) {
            return Unmasked::Open(frame);
        }
        match self.access.as_ref().map(|access| access.open(frame)) {
            Some(Ok(packet)) => Unmasked::Open(packet),
            Some(Err(_)) | None => Unmasked::Masked,
        }
    }

    /// Decrypts what was sent to one of the identities. What was encrypted for a ratchet stays closed.
    pub(super) fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        self.identities.iter().find_map(|identity| {
            let mut message = ciphertext.to_vec();
            let opened = identity.decrypt(&Dalek, [], false, &mut message).ok()?;
            Some(opened.plaintext.to_vec())
        })
    }

    /// Says whether the user gave any identity.
    pub(super) fn has_identities(&self) -> bool {
        !self.identities.is_empty()
    }
}
