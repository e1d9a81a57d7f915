//! Options of TLS, which take effect together.

use proto_conn::{
    Error,
    tls::{Identity, KeyLog, Roots, TlsClient, TlsConfig},
};
use runtime_blocking::conn::system_clock;

/// What was chosen of TLS.
#[derive(Clone, Debug, Default)]
pub(super) struct Tls {
    /// Certificates of one's own authorities, in PEM.
    pub(super) authorities: Vec<u8>,
    pub(super) certificate: Option<Vec<u8>>,
    pub(super) key: Option<Vec<u8>>,
    pub(super) pins: Vec<[u8; 32]>,
    pub(super) is_pin_only: bool,
    pub(super) server_name: Option<String>,
    pub(super) skips_verify: bool,
    pub(super) key_log: Option<KeyLog>,
}

impl Tls {
    /// Prepares what was chosen; `None` where nothing was.
    pub(super) fn client(&self) -> Result<Option<TlsClient>, Error> {
        let roots = match (self.is_pin_only, self.authorities.is_empty()) {
            (true, _) => Roots::none(),
            (false, true) => Roots::default(),
            (false, false) => Roots::from_pem(&self.authorities)?,
        };
        let own = || (self.certificate.as_deref(), self.key.as_deref());
        let identity = match own() {
            (None, None) => None,
            // Both may stand in one text, given as either.
            (chain, key) => {
                let chain = chain.or(key).unwrap_or_default();
                Some(Identity::from_pem(chain, key.unwrap_or(chain))?)
            }
        };
        let config = TlsConfig {
            roots,
            pins: self.pins.clone(),
            server_name: self.server_name.clone(),
            identity,
            key_log: self.key_log.clone(),
            insecure_skip_verify: self.skips_verify,
            ..TlsConfig::default()
        };
        TlsClient::new(config, &system_clock()).map(Some)
    }
}
