//! Sessions on tokio, through the face that applications use.

use proto_raknet::{CloseReason, Config, ConnectOptions, Message, PeerInfo, Received};
use runtime_tokio::raknet::{ClientOptions, Delivery, RaknetListener, RaknetStream, Receipt};
use std::{borrow::Borrow, net::SocketAddr};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use super::{Listening, Session};
use crate::peers::patience::PATIENCE;

/// A server on tokio.
pub(super) struct Listener {
    runtime: Runtime,
    listener: RaknetListener,
}

impl Listener {
    pub(super) fn bind(address: SocketAddr, config: Config) -> Self {
        let runtime = new_runtime();
        let entered = runtime.enter();
        let listener = RaknetListener::bind(address, config).expect("a listener");
        drop(entered);
        Self { runtime, listener }
    }
}

impl Listening for Listener {
    fn address(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    fn accept(&mut self) -> Box<dyn Session + '_> {
        let accepted = wait(&self.runtime, "a session", self.listener.accept());
        Box::new(Visit {
            runtime: &self.runtime,
            stream: accepted.expect("an open listener"),
            receipts: Vec::new(),
        })
    }
}

/// Opens a session from a socket of its own.
pub(super) fn connect(
    from: SocketAddr,
    server: SocketAddr,
    config: Config,
    options: ConnectOptions,
) -> impl Session {
    let runtime = new_runtime();
    let options =
        ClientOptions { endpoint: config, connect: options, bind: Some(from), ..ClientOptions::default() };
    let stream = wait(&runtime, "a session", RaknetStream::connect_with(server, options))
        .unwrap_or_else(|failure| panic!("no session with {server}: {failure}"));
    Visit { runtime, stream, receipts: Vec::new() }
}

/// A session whose runtime is its own or its listener's.
struct Visit<R> {
    /// Dropped last: the stream closes in the background.
    stream: RaknetStream,
    receipts: Vec<Option<Receipt>>,
    runtime: R,
}

impl<R: Borrow<Runtime>> Session for Visit<R> {
    fn info(&self) -> PeerInfo {
        *self.stream.info()
    }

    fn send(&mut self, message: Message) -> Option<usize> {
        let sent = wait(self.runtime.borrow(), "room to send", self.stream.send_with(message));
        let receipt = sent.expect("a message that can be sent")?;
        self.receipts.push(Some(receipt));
        Some(self.receipts.len() - 1)
    }

    fn recv(&mut self) -> Received {
        wait(self.runtime.borrow(), "a message", self.stream.recv()).expect("an open session")
    }

    fn was_acked(&mut self, receipt: usize) -> bool {
        let receipt = self.receipts.get_mut(receipt).and_then(Option::take);
        let receipt = receipt.expect("a receipt that was given and not asked for before");
        wait(self.runtime.borrow(), "a receipt", receipt) == Delivery::Acknowledged
    }

    fn close(&mut self) -> CloseReason {
        match wait(self.runtime.borrow(), "the session's end", self.stream.close()) {
            Ok(()) => CloseReason::LocalClose,
            Err(reason) => reason,
        }
    }

    fn closed(&mut self) -> CloseReason {
        wait(self.runtime.borrow(), "the session's end", self.stream.closed())
    }
}

fn new_runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

fn wait<T>(runtime: &Runtime, what: &str, future: impl Future<Output = T>) -> T {
    runtime
        .block_on(async { timeout(PATIENCE, future).await })
        .unwrap_or_else(|_| panic!("waited in vain for {what} on tokio"))
}
