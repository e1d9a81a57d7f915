//! An identity's keys and addresses, for people.

use proto_rns::{
    dest::DestinationName,
    identity::{Identity, PublicIdentity},
};
use serde_json::json;

use super::{Id, find::Known};
use crate::{failure::Failure, output};

/// Shows an identity.
pub(super) fn identity(options: &Id, known: &Known) -> Result<(), Failure> {
    let public = known.public();
    let keys = options.encoding().encode(&public.to_bytes());
    let private = match known {
        Known::Private(identity) if options.print_private => {
            Some(options.encoding().encode(&*identity.secret_bytes()))
        }
        Known::Private(_) | Known::Public(_) => None,
    };
    if options.json {
        return output::json(&json!({
            "identity": public.hash().to_string(),
            "public_key": keys,
            "private_key": private,
        }));
    }
    output::line(format_args!("Identity Hash : <{}>", public.hash()))?;
    output::line(format_args!("Public Key    : {keys}"))?;
    match (known, private) {
        (Known::Private(_), private) => {
            output::line(format_args!("Private Key   : {}", private.as_deref().unwrap_or("Hidden")))
        }
        (Known::Public(_), _) => Ok(()),
    }
}

/// Prints public keys.
pub(super) fn public_keys(options: &Id, public: &PublicIdentity) -> Result<(), Failure> {
    let keys = options.encoding().encode(&public.to_bytes());
    if options.json {
        return output::json(&json!({ "identity": public.hash().to_string(), "public_key": keys }));
    }
    output::line(format_args!("Public Identity Keys  : {keys}"))
}

/// Prints private keys.
pub(super) fn private_keys(options: &Id, identity: &Identity) -> Result<(), Failure> {
    let keys = options.encoding().encode(&*identity.secret_bytes());
    if options.json {
        return output::json(&json!({ "identity": identity.hash().to_string(), "private_key": keys }));
    }
    output::line(format_args!("Private Identity Keys : {keys}"))
}

/// Shows the destination that an identity has under a name.
pub(super) fn destination(options: &Id, public: &PublicIdentity, name: &str) -> Result<(), Failure> {
    let parsed = DestinationName::parse(name)
        .map_err(|error| Failure::usage(format_args!("{name:?} is no destination's name: {error}")))?;
    let destination = parsed.of(public.hash());
    if options.json {
        return output::json(&json!({
            "identity": public.hash().to_string(),
            "name": name,
            "destination": destination.to_string(),
        }));
    }
    output::line(format_args!("The {name} destination for this Identity is <{destination}>"))?;
    output::line(format_args!("The full destination specifier is <{name}.{}:{destination}>", public.hash()))
}
