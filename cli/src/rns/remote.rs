//! Asking a transport node elsewhere.

use host_crypto::provider;
use proto_rns::{IdentityHash, dest::DestinationName, link::LinkConfig, wire::msgpack::Value};
use rns_host::store::read_identity_file;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{attach, call};
use crate::{failure::Failure, output::progress::Progress};

/// A transport node, and who asks it.
#[derive(Debug)]
pub(crate) struct Remote {
    /// The directory with the config file of this host.
    pub(crate) config: Option<PathBuf>,
    /// The node's transport identity.
    pub(crate) transport: IdentityHash,
    /// How long each step may take.
    pub(crate) patience: Duration,
}

impl Remote {
    /// Asks the remote management of the node as the identity in a file.
    ///
    /// # Errors
    /// The file is no identity's, the node is out of reach, or does not let this identity ask.
    pub(crate) async fn manage(
        &self,
        identity: Option<&Path>,
        path: &str,
        data: &Value,
    ) -> Result<Value, Failure> {
        let Some(identity) = identity else {
            return Err(Failure::usage("remote management needs an identity that the other node allows")
                .advise("name its file with -i; `iolite rns id -g FILE` makes one"));
        };
        self.ask("rnstransport.remote.management", Some(identity), path, data).await
    }

    /// Fetches the list of refused identities that the node publishes.
    ///
    /// # Errors
    /// The node is out of reach, or publishes none.
    pub(crate) async fn blackhole_list(&self) -> Result<Value, Failure> {
        self.ask("rnstransport.info.blackhole", None, "/list", &Value::Nil).await
    }

    async fn ask(
        &self,
        service: &str,
        identity: Option<&Path>,
        path: &str,
        data: &Value,
    ) -> Result<Value, Failure> {
        let read = |file: &Path| {
            read_identity_file(file, &*provider())
                .map_err(|error| Failure::file(format_args!("the identity in {}: {error}", file.display())))
        };
        let identity = identity.map(read).transpose()?;
        let name = DestinationName::parse(service).map_err(Failure::check)?;
        let progress = Progress::live("joining the network");
        let node = attach::attach(self.config.as_deref()).await?;
        let destination = name.of(self.transport);
        let link =
            call::open_link(&node, destination, &LinkConfig::default(), self.patience, &progress).await?;
        if let Some(loaded) = identity {
            call::identify(&link, &loaded.identity)?;
        }
        progress.describe(format!("asking for {path}"));
        let asked = link.request_with(path, &data.to_vec(), Some(self.patience), None).await;
        progress.finish();
        let response = asked.map_err(|error| {
            Failure::network(format_args!("the transport node <{}> does not answer: {error}", self.transport))
                .advise("does its config file enable this, and allow your identity?")
        })?;
        let value = Value::parse(&response.data);
        node.shutdown().await;
        value.map_err(|error| Failure::network(format_args!("the answer is damaged: {error}")))
    }
}
