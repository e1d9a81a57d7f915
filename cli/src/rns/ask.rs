//! Asking the shared instance of this host.

use proto_rns::{iface::LocalAddress, wire::msgpack::Value};
use rns_host::{
    config::{Diagnostic, HostConfig, SharedInstance},
    rpc::{RpcClient, RpcClientEvent, RpcError, RpcKey, RpcRequest},
    store::DirectoryStore,
};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use super::{attach, keys, local_socket};
use crate::failure::Failure;

/// The shared instance of a config directory: this program's or the reference's.
#[derive(Debug)]
pub(crate) struct SharedInstanceCalls {
    at: LocalAddress,
    key: RpcKey,
    directory: PathBuf,
    mistakes: Vec<Diagnostic>,
}

impl SharedInstanceCalls {
    /// Finds the shared instance and the key to ask it.
    ///
    /// # Errors
    /// The config wants none, or there is no key yet.
    pub(crate) fn find(chosen: Option<&Path>) -> Result<Self, Failure> {
        let directory = attach::directory(chosen);
        let (HostConfig { shared, .. }, mistakes) = attach::read(&directory)?;
        if !shared.enabled {
            let config = directory.join("config");
            return Err(Failure::network(format_args!(
                "{} says share_instance = no, so that there is nobody to ask",
                config.display()
            ))
            .advise("set share_instance = yes, and restart the daemon"));
        }
        let key = key(&shared, &directory).ok_or_else(|| nobody(&shared, &directory))?;
        Ok(Self { at: shared.rpc_address(), key, directory, mistakes })
    }

    /// Asks something.
    ///
    /// # Errors
    /// Nobody is there, has the same key, or answers in time.
    pub(crate) async fn ask(&self, request: &RpcRequest) -> Result<Value, Failure> {
        let answered = timeout(PATIENCE, self.talk(request)).await;
        answered.unwrap_or_else(|_| {
            Err(Failure::network("the shared instance does not answer").advise("is it busy, or stopped?"))
        })
    }

    async fn talk(&self, request: &RpcRequest) -> Result<Value, Failure> {
        let lost = |error: io::Error| {
            Failure::network(format_args!("the connection to the shared instance broke: {error}"))
        };
        let mut stream = local_socket::connect(&self.at).await.map_err(|error| {
            attach::tell_mistakes(&self.directory, &self.mistakes);
            Failure::network(format_args!("no shared instance runs: {error}"))
                .advise("start `iolite rns daemon` or rnsd, or name its directory with --config")
        })?;
        let mut client = RpcClient::new(&self.key, request, &mut keys::entropy()?);
        let mut buffer = vec![0; 16_384];
        loop {
            while let Some(bytes) = client.poll_output() {
                stream.write_all(&bytes).await.map_err(lost)?;
            }
            match client.poll_event() {
                Some(RpcClientEvent::Reply(reply)) => {
                    return Value::parse(&reply).map_err(|error| failed(&error.into()));
                }
                Some(RpcClientEvent::Failed(error)) => return Err(failed(&error)),
                None => {}
            }
            match stream.read(&mut buffer).await.map_err(lost)? {
                0 => client.handle_eof(),
                len => client.handle_bytes(buffer.get(..len).unwrap_or_default()),
            }
        }
    }
}

fn key(shared: &SharedInstance, directory: &Path) -> Option<RpcKey> {
    // A look at a directory that is not there must not make one.
    let stored = || {
        directory
            .join("storage")
            .is_dir()
            .then(|| RpcKey::stored(&mut DirectoryStore::open(directory)))
            .flatten()
    };
    shared.rpc_key.clone().or_else(stored)
}

fn nobody(shared: &SharedInstance, directory: &Path) -> Failure {
    Failure::network(format_args!(
        "no shared instance {:?} has ever run on the directory {}",
        shared.name,
        directory.display()
    ))
    .advise("start `iolite rns daemon` or rnsd, or name its directory with --config")
}

fn failed(error: &RpcError) -> Failure {
    Failure::network(format_args!("the shared instance was not asked: {error}"))
}

const PATIENCE: Duration = Duration::from_secs(15);
