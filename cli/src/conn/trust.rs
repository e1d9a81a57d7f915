//! Whom to trust, and what to present: the options of TLS.

use clap::Args;
use proto_conn::tls::{Identity, Roots, TlsClient, TlsConfig};
use runtime_blocking::conn::system_clock;
use std::path::{Path, PathBuf};

use super::values;
use crate::failure::Failure;

/// Whom to trust, and what to present.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(super) struct Trust {
    /// Trust those who are in this PEM file, in place of the usual authorities. May be repeated.
    #[arg(long, value_name = "FILE")]
    cacert: Vec<PathBuf>,

    /// The certificate to present to the server, in PEM, with those of its issuers.
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,

    /// The private key of --cert, in PEM, if it is not in the same file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// The SHA-256 of the key that the server must have, in hexadecimal or as sha256//BASE64. May be repeated. With -k
    /// the key alone decides.
    #[arg(long, value_name = "SHA256", value_parser = values::pin)]
    pin: Vec<[u8; 32]>,

    /// Believe any certificate: everybody on the way can read and change everything.
    #[arg(short = 'k', long)]
    insecure: bool,
}

impl Trust {
    /// Prepares TLS.
    ///
    /// # Errors
    /// A file cannot be read, or is not what it should be.
    pub(super) fn client(&self) -> Result<TlsClient, Failure> {
        let config = TlsConfig {
            roots: self.roots()?,
            pins: self.pin.clone(),
            identity: match &self.cert {
                Some(cert) => Some(identity(cert, self.key.as_deref())?),
                None => None,
            },
            insecure_skip_verify: self.insecure,
            ..TlsConfig::default()
        };
        TlsClient::new(config, &system_clock()).map_err(|error| {
            Failure::file(format_args!("certificate and key cannot be used: {}", error.detail))
                .advise("check that the key belongs to the certificate")
        })
    }

    fn roots(&self) -> Result<Roots, Failure> {
        if self.cacert.is_empty() {
            return Ok(Roots::default());
        }
        let mut roots = Roots::none();
        for path in &self.cacert {
            add_to(&mut roots, path)?;
        }
        Ok(roots)
    }
}

/// Reads those who are trusted.
///
/// # Errors
/// The file cannot be read, or has no certificates.
pub(super) fn roots(path: &Path) -> Result<Roots, Failure> {
    let mut roots = Roots::none();
    add_to(&mut roots, path)?;
    Ok(roots)
}

/// Reads a certificate and its key, which may be in the same file.
///
/// # Errors
/// A file cannot be read, or has something else in it.
pub(super) fn identity(cert: &Path, key: Option<&Path>) -> Result<Identity, Failure> {
    let chain = values::file(cert)?;
    let key_path = key.unwrap_or(cert);
    Identity::from_pem(&chain, &values::file(key_path)?).map_err(|error| {
        Failure::file(format_args!(
            "no identity in {} and {}: {}",
            cert.display(),
            key_path.display(),
            error.detail
        ))
        .advise("give the certificates in PEM with --cert, and their unencrypted key with --key")
    })
}

fn add_to(roots: &mut Roots, path: &Path) -> Result<(), Failure> {
    roots.add_pem(&values::file(path)?).map_err(|error| {
        Failure::file(format_args!("no certificates in {}: {}", path.display(), error.detail))
            .advise("give them in PEM, with the lines BEGIN CERTIFICATE and END CERTIFICATE")
    })
}
