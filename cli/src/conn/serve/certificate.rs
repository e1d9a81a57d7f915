//! A certificate made on the spot, which vouches for itself.

use proto_conn::tls::Identity;

use crate::failure::Failure;

/// A certificate that vouches for itself.
#[derive(Debug)]
pub(crate) struct Certificate {
    /// For the server.
    pub(crate) identity: Identity,
    /// For clients that are to trust it.
    pub(crate) pem: String,
}

impl Certificate {
    /// Makes one for this host, and for what else it is called.
    ///
    /// # Errors
    /// A name is not one that a certificate can have.
    pub(crate) fn make(more: &[String]) -> Result<Self, Failure> {
        let names = ["localhost", "127.0.0.1", "::1"].into_iter().map(str::to_owned);
        let names: Vec<String> = names.chain(more.iter().cloned()).collect();
        let made = rcgen::generate_simple_self_signed(names)
            .map_err(|error| Failure::usage(format_args!("no certificate can have these names: {error}")))?;
        let identity = Identity::from_der(vec![made.cert.der().to_vec()], made.signing_key.serialize_der());
        Ok(Self { identity: identity.map_err(Failure::check)?, pem: made.cert.pem() })
    }
}
