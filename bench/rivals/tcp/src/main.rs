//! tokio TCP with `TCP_NODELAY`: one write per record (`record`) or per batch of ready records (`batch`).
//!
//! A record is a four-byte little-endian length and the message.

mod records;

use std::net::SocketAddr;

use bench_peer::course::{self, Link};
use bench_peer::{Command, Exchange, Fault, Load, Role, announce};
use records::{Records, Writes};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let writes = command.choose(&[("record", Writes::PerRecord), ("batch", Writes::PerBatch)])?;
    match command.role {
        Role::Server => serve(command.address, writes, &command.load).await,
        Role::Client => client(command.address, writes, &command.load).await,
    }
}

async fn serve(address: SocketAddr, writes: Writes, load: &Load) -> Result<(), Fault> {
    let listener = TcpListener::bind(address).await?;
    announce(listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let records = Records::new(stream, writes, load)?;
        // An error is the end of that connection, which the client notices and reports.
        tokio::spawn(echo(records));
    }
}

async fn echo(mut records: Records) -> Result<(), Fault> {
    loop {
        records.exchange_bytes().await?;
        while records.echo_one()? {}
    }
}

async fn client(address: SocketAddr, writes: Writes, load: &Load) -> Result<(), Fault> {
    let report = course::run(load, |_| {
        let load = load.clone();
        async move { Ok(TcpLink(Records::new(TcpStream::connect(address).await?, writes, &load)?)) }
    })
    .await?;
    Ok(report.print()?)
}

struct TcpLink(Records);

impl Link for TcpLink {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        while exchange.sendable() > 0 {
            self.0.queue(|out| {
                exchange.append_next(out);
            });
        }
        Ok(())
    }

    async fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.0.exchange_bytes().await?;
        while let Some(echo) = self.0.next_record()? {
            exchange.accept(echo)?;
        }
        Ok(())
    }
}
