//! The certificate that all peers of a run present and all clients trust.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};

/// A folder with a self-signed certificate and its key, ECDSA on P-256.
#[derive(Debug)]
pub(crate) struct Identity(PathBuf);

impl Identity {
    /// Makes a fresh one in `folder`.
    pub(crate) fn make(folder: PathBuf) -> anyhow::Result<Self> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let names = NAMES.map(str::to_owned);
        let certificate = CertificateParams::new(names)?.self_signed(&key)?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let write = |name, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))
                .context("cannot keep a key to its owner")
        };
        write(bench_peer::conn::Identity::CERTIFICATE, certificate.pem())?;
        write(bench_peer::conn::Identity::KEY, key.serialize_pem())?;
        Ok(Self(folder))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }
}

/// The peers' name, and their address for clients that do not ask for a name.
const NAMES: [&str; 2] = [bench_peer::conn::Identity::HOST, "127.0.0.1"];
