//! Benchmark peer: Iolite's RakNet through tokio, with the batch calls of `RaknetStream`.

#![forbid(unsafe_code)]

mod settings;

use std::collections::VecDeque;

use bench_peer::course::{self, Link};
use bench_peer::{Command, Exchange, Fault, Role, announce};
use bytes::Bytes;
use runtime_tokio::raknet::{ListenOptions, Message, RaknetClient, RaknetListener, RaknetStream, Received};
use settings::{Side, config, connect_options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Server => serve(&command).await,
        Role::Client => client(&command).await,
    }
}

async fn serve(command: &Command) -> Result<(), Fault> {
    let endpoint = config(&command.load, Side::Server);
    let options = ListenOptions { endpoint, ..ListenOptions::default() };
    let listener = RaknetListener::bind_with(command.address, options)?;
    announce(listener.local_addr())?;
    loop {
        let stream = listener.accept().await?;
        // An error is the end of that connection, which the client notices and reports.
        tokio::spawn(echo(stream));
    }
}

async fn echo(stream: RaknetStream) -> Result<(), Fault> {
    let mut received = Vec::new();
    let mut replies = VecDeque::new();
    loop {
        stream.recv_batch(&mut received, BATCH).await?;
        replies.extend(received.drain(..).map(|message| Message::new(message.payload)));
        stream.send_batch(&mut replies).await?;
    }
}

async fn client(command: &Command) -> Result<(), Fault> {
    let (server, load) = (command.address, &command.load);
    let client = RaknetClient::new(config(load, Side::Client))?;
    let report = course::run(load, |_| {
        let (client, options) = (client.clone(), connect_options(load));
        async move {
            let stream = client.connect_with(server, None, options).await?;
            Ok(StreamLink { stream, received: Vec::new(), outgoing: VecDeque::new() })
        }
    })
    .await?;
    Ok(report.print()?)
}

struct StreamLink {
    stream: RaknetStream,
    received: Vec<Received>,
    outgoing: VecDeque<Message>,
}

impl Link for StreamLink {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let mut batch = Vec::with_capacity(exchange.message_size() * exchange.sendable() as usize);
        while exchange.append_next(&mut batch) {}
        // One allocation a batch: its messages are slices of it.
        let mut batch = Bytes::from(batch);
        while !batch.is_empty() {
            self.outgoing.push_back(Message::new(batch.split_to(exchange.message_size())));
        }
        Ok(self.stream.send_batch(&mut self.outgoing).await?)
    }

    async fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.received.clear();
        self.stream.recv_batch(&mut self.received, BATCH).await?;
        for echo in &self.received {
            exchange.accept(&echo.payload)?;
        }
        Ok(())
    }
}

const BATCH: usize = 64;
