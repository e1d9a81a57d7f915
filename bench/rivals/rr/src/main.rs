//! rust-raknet, through its ordinary calls (`send`) or its batch calls (`batch`).
//!
//! The settings are those of its author's own benchmark: reliable ordered messages, a nominal MTU of 1,428
//! bytes for one connection and its default for many, at most 16 messages in a batch.

use std::net::SocketAddr;

use bench_peer::course::{self, Link};
use bench_peer::{Command, Exchange, Fault, Load, Role, announce};
use bytes::Bytes;
use rust_raknet::{RaknetListener, RaknetSocket, Reliability};

#[derive(Clone, Copy)]
enum Mode {
    Send,
    Batch,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let mode = command.choose(&[("send", Mode::Send), ("batch", Mode::Batch)])?;
    match command.role {
        Role::Server => serve(command.address, mode, &command.load).await,
        Role::Client => client(command.address, mode, &command.load).await,
    }
}

async fn serve(address: SocketAddr, mode: Mode, load: &Load) -> Result<(), Fault> {
    let mut listener = match lone_mtu(load) {
        Some(mtu) => RaknetListener::bind_with_maximum_mtu(&address, mtu).await,
        None => RaknetListener::bind(&address).await,
    }
    .map_err(fault)?;
    listener.listen().await;
    announce(listener.local_addr().map_err(fault)?)?;
    loop {
        let socket = listener.accept().await.map_err(fault)?;
        // An error is the end of that connection, which the client notices and reports.
        tokio::spawn(async move {
            match mode {
                Mode::Send => echo_each(&socket).await,
                Mode::Batch => echo_batches(&socket).await,
            }
        });
    }
}

async fn echo_each(socket: &RaknetSocket) -> Result<(), Fault> {
    loop {
        let message = socket.recv().await.map_err(fault)?;
        socket.send(&message, Reliability::ReliableOrdered).await.map_err(fault)?;
    }
}

async fn echo_batches(socket: &RaknetSocket) -> Result<(), Fault> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        socket.recv_bytes_batch(&mut batch, BATCH).await.map_err(fault)?;
        socket.send_bytes_batch(&batch, Reliability::ReliableOrdered).await.map_err(fault)?;
    }
}

async fn client(address: SocketAddr, mode: Mode, load: &Load) -> Result<(), Fault> {
    let report = match mode {
        Mode::Send => {
            let connect = connector(address, load, |socket| SendLink { socket, message: Vec::new() });
            course::run(load, connect).await
        }
        Mode::Batch => {
            let connect = connector(address, load, |socket| BatchLink { socket, batch: Vec::new() });
            course::run(load, connect).await
        }
    }?;
    Ok(report.print()?)
}

fn connector<L: Link>(
    address: SocketAddr,
    load: &Load,
    link: impl Fn(RaknetSocket) -> L + Clone + Send + 'static,
) -> impl Fn(u32) -> std::pin::Pin<Box<dyn Future<Output = Result<L, Fault>> + Send>> {
    let mtu = lone_mtu(load);
    move |_| {
        let link = link.clone();
        Box::pin(async move {
            let socket = match mtu {
                Some(mtu) => RaknetSocket::connect_with_version_and_mtu(&address, RAKNET_VERSION, mtu).await,
                None => RaknetSocket::connect(&address).await,
            };
            Ok(link(socket.map_err(fault)?))
        })
    }
}

struct SendLink {
    socket: RaknetSocket,
    message: Vec<u8>,
}

impl Link for SendLink {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.message.clear();
        while exchange.append_next(&mut self.message) {
            self.socket.send(&self.message, Reliability::ReliableOrdered).await.map_err(fault)?;
            self.message.clear();
        }
        Ok(())
    }

    async fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let echo = self.socket.recv().await.map_err(fault)?;
        Ok(exchange.accept(&echo)?)
    }
}

struct BatchLink {
    socket: RaknetSocket,
    batch: Vec<Bytes>,
}

impl Link for BatchLink {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let size = exchange.message_size();
        while exchange.sendable() > 0 {
            // One allocation a batch: its messages are slices of it.
            let mut batch = Vec::with_capacity(size * BATCH.min(exchange.sendable() as usize));
            while batch.len() < batch.capacity() && exchange.append_next(&mut batch) {}
            let batch = Bytes::from(batch);
            self.batch.clear();
            self.batch.extend((0..batch.len()).step_by(size).map(|at| batch.slice(at..at + size)));
            self.socket.send_bytes_batch(&self.batch, Reliability::ReliableOrdered).await.map_err(fault)?;
        }
        Ok(())
    }

    async fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.socket.recv_bytes_batch(&mut self.batch, BATCH).await.map_err(fault)?;
        for echo in &self.batch {
            exchange.accept(echo)?;
        }
        Ok(())
    }
}

/// One connection may use the larger MTU, many use the library's default.
fn lone_mtu(load: &Load) -> Option<u16> {
    (load.connections == 1).then_some(1428)
}

/// rust-raknet's error has no text of its own.
fn fault(error: rust_raknet::error::RaknetError) -> Fault {
    format!("rust-raknet: {error:?}").into()
}

const BATCH: usize = 16;
/// The version that rust-raknet uses when none is given.
const RAKNET_VERSION: u8 = 10;
