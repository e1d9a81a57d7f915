//! Commands that are single functions.

mod announce;
mod compression;
mod config;
mod constants;
mod crypto;
mod destination;
mod framing;
mod identity;
mod interface;
mod packet;
mod ratchet;
mod token;

use crate::{
    call::{Answer, Failure, Params, exactly},
    tools::Workbench,
};
use proto_rns::{
    dest::DestinationName,
    identity::{Identity, PublicIdentity},
};

/// Answers a command; `None` for one that is not known.
pub(crate) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    let subjects = [
        crypto::answer,
        token::answer,
        identity::answer,
        destination::answer,
        announce::answer,
        packet::answer,
        ratchet::answer,
        framing::answer,
        interface::answer,
        constants::answer,
        config::answer,
        compression::answer,
    ];
    subjects.into_iter().find_map(|subject| subject(bench, command, params))
}

/// Returns the identity with the private keys `name`.
fn identity(bench: &Workbench, params: Params<'_>, name: &str) -> Result<Identity, Failure> {
    Ok(Identity::from_bytes(&*bench.crypto, &params.array(name)?))
}

/// Returns the identity with the public keys `public_key`.
fn public_identity(params: Params<'_>) -> Result<PublicIdentity, Failure> {
    Ok(PublicIdentity::from_bytes(&params.array("public_key")?))
}

/// Returns the name that `app_name` and `aspects` make.
fn destination_name(params: Params<'_>) -> Result<DestinationName, Failure> {
    Ok(DestinationName::new(params.text("app_name")?, &params.texts("aspects"))?)
}

/// Returns an array of a list of bytes in hexadecimal digits.
pub(crate) fn arrays<const N: usize>(params: Params<'_>, name: &str) -> Result<Vec<[u8; N]>, Failure> {
    params.texts(name).into_iter().map(|digits| exactly(name, &crate::call::unhex(digits)?)).collect()
}
