//! What programs of this host ask, on sockets.

use rns_host::rpc::{RpcServer, RpcServerEvent};
use std::{future::pending, io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Semaphore,
    time::timeout,
};

use super::{answers::answer, instance::Instance, log::Level, start::shown_address};
use crate::{
    failure::Failure,
    rns::{
        keys,
        local_socket::{LocalListener, LocalStream},
    },
};

/// Begins to listen, where programs of this host may use the node.
///
/// # Errors
/// Another program has the socket.
pub(super) fn listen(instance: &Instance) -> Result<Option<LocalListener>, Failure> {
    let shared = &instance.config().shared;
    if !shared.enabled {
        return Ok(None);
    }
    let at = shared.rpc_address();
    let refused = |error: io::Error| {
        Failure::network(format_args!("cannot listen for calls on {}: {error}", shown_address(&at))).advise(
            "end the program that uses it, or choose another instance_name or instance_control_port in the config file",
        )
    };
    LocalListener::bind(&at).map(Some).map_err(refused)
}

/// Answers calls. Never ends.
pub(super) async fn serve(instance: &Arc<Instance>, listener: Option<LocalListener>) {
    let Some(listener) = listener else { return pending().await };
    let places = Arc::new(Semaphore::new(MOST_CALLS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return pending().await };
        match listener.accept().await {
            Ok(stream) => {
                let instance = Arc::clone(instance);
                tokio::spawn(async move {
                    if timeout(LONGEST_CALL, talk(&instance, stream)).await.is_err() {
                        instance.log().tell(Level::Debug, "a call took too long and was ended");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                instance.log().tell(Level::Warning, format_args!("a call could not be taken: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Has one call.
async fn talk(instance: &Instance, mut stream: Box<dyn LocalStream>) {
    let Ok(mut entropy) = keys::entropy() else { return };
    let mut server = RpcServer::new(&instance.rpc_key(), &mut entropy);
    let mut buffer = vec![0; 4_096];
    loop {
        match server.poll_event() {
            Some(RpcServerEvent::Request(request)) => {
                instance.log().tell(Level::Debug, format_args!("asked for {request:?}"));
                server.reply(&answer(instance, &request));
            }
            Some(RpcServerEvent::NotUnderstood(error)) => {
                instance
                    .log()
                    .tell(Level::Warning, format_args!("a program asks what is not known: {error}"));
            }
            Some(RpcServerEvent::Failed(error)) => {
                instance.log().tell(Level::Debug, format_args!("a call failed: {error}"));
            }
            None => {}
        }
        while let Some(bytes) = server.poll_output() {
            if stream.write_all(&bytes).await.is_err() {
                return;
            }
        }
        if server.is_over() {
            let _ = stream.shutdown().await;
            return;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => server.handle_eof(),
            Ok(len) => server.handle_bytes(buffer.get(..len).unwrap_or_default()),
        }
    }
}

/// Calls at a time; each has a few KiB.
const MOST_CALLS: usize = 32;
const LONGEST_CALL: Duration = Duration::from_secs(10);
