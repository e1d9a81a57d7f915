//! quinn with its default transport settings: one bidirectional stream a connection, TLS on.
//!
//! A record is a four-byte little-endian length and the message; all records that are ready leave in one
//! write, which is quinn's best way to send them.

mod tls;

use std::net::{Ipv4Addr, SocketAddr};

use bench_peer::course::{self, Link};
use bench_peer::{Command, Exchange, Fault, Load, Role, announce};
use quinn::{Connection, Endpoint, RecvStream, SendStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Server => serve(command.address, &command.load).await,
        Role::Client => client(command.address, &command.load).await,
    }
}

async fn serve(address: SocketAddr, load: &Load) -> Result<(), Fault> {
    let endpoint = Endpoint::server(tls::server()?, address)?;
    announce(endpoint.local_addr()?)?;
    let size = load.size;
    while let Some(incoming) = endpoint.accept().await {
        // An error is the end of that connection, which the client notices and reports.
        tokio::spawn(async move { echo(incoming.await?, size).await });
    }
    Ok(())
}

async fn echo(connection: Connection, size: usize) -> Result<(), Fault> {
    let (mut send, recv) = connection.accept_bi().await?;
    let mut records = Records::new(recv, size);
    loop {
        records.read_more().await?;
        let whole = records.whole();
        send.write_all(&records.input[..whole]).await?;
        records.drop_front(whole);
    }
}

async fn client(address: SocketAddr, load: &Load) -> Result<(), Fault> {
    let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    endpoint.set_default_client_config(tls::client()?);
    let size = load.size;
    let report = course::run(load, |_| {
        let endpoint = endpoint.clone();
        async move {
            let connection = endpoint.connect(address, tls::SERVER_NAME)?.await?;
            let (send, recv) = connection.open_bi().await?;
            Ok(QuinnLink {
                send,
                records: Records::new(recv, size),
                output: Vec::new(),
                _connection: connection,
            })
        }
    })
    .await?;
    Ok(report.print()?)
}

struct QuinnLink {
    send: SendStream,
    records: Records,
    output: Vec<u8>,
    _connection: Connection,
}

impl Link for QuinnLink {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.output.clear();
        let prefix = (exchange.message_size() as u32).to_le_bytes();
        while exchange.sendable() > 0 {
            self.output.extend_from_slice(&prefix);
            exchange.append_next(&mut self.output);
        }
        Ok(self.send.write_all(&self.output).await?)
    }

    async fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.records.read_more().await?;
        let whole = self.records.whole();
        for record in self.records.input[..whole].chunks_exact(self.records.record) {
            exchange.accept(&record[PREFIX..])?;
        }
        self.records.drop_front(whole);
        Ok(())
    }
}

/// Gathers stream bytes into whole records.
struct Records {
    stream: RecvStream,
    record: usize,
    input: Vec<u8>,
}

impl Records {
    fn new(stream: RecvStream, size: usize) -> Self {
        Self { stream, record: PREFIX + size, input: Vec::new() }
    }

    async fn read_more(&mut self) -> Result<(), Fault> {
        let chunk = self.stream.read_chunk(LARGEST_READ, true).await?.ok_or("the stream ended")?;
        self.input.extend_from_slice(&chunk.bytes);
        Ok(())
    }

    /// Bytes of the complete records at hand.
    fn whole(&self) -> usize {
        self.input.len() / self.record * self.record
    }

    fn drop_front(&mut self, bytes: usize) {
        self.input.drain(..bytes);
    }
}

const PREFIX: usize = 4;
const LARGEST_READ: usize = 64 * 1024;
