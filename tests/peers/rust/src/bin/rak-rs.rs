//! rak-rs behind the line protocol.

use rak_rs::{
    Listener,
    client::{Client, DEFAULT_MTU},
    connection::Connection,
    protocol::reliability::Reliability,
};
use rust_peers::{
    Command, Commands, Role, tell_connected, tell_disconnected, tell_failed, tell_listening, tell_message,
    tell_sent,
};

#[tokio::main]
async fn main() {
    let mut commands = Commands::new();
    match Role::from_arguments() {
        Role::Server { port } => {
            let mut listener = Listener::bind(format!("127.0.0.1:{port}")).await.expect("the port is free");
            listener.start().await.expect("the listener starts");
            tell_listening(port);
            let connection = listener.accept().await.expect("the listener accepts");
            serve(connection, &mut commands).await;
        }
        Role::Client { server } => {
            let mut client = Client::new(11, DEFAULT_MTU);
            match client.connect(server).await {
                Ok(()) => {
                    tokio::time::sleep(TWO_PINGS).await;
                    visit(client, &mut commands).await;
                }
                Err(error) => tell_failed(&format!("{error:?}")),
            }
        }
    }
    // The end of the input ends the process.
    loop {
        commands.next().await;
    }
}

/// Passes messages both ways on the server. Its connections send reliable ordered messages on channel 0 only.
async fn serve(mut connection: Connection, commands: &mut Commands) {
    tell_connected();
    loop {
        tokio::select! {
            received = connection.recv() => match received {
                Ok(payload) => tell_message(&payload),
                Err(_) => return tell_disconnected(),
            },
            command = commands.next() => match command {
                Command::Send { payload, .. } => match connection.send(&payload, false).await {
                    Ok(()) => tell_sent(),
                    Err(error) => tell_failed(&format!("{error:?}")),
                },
                Command::Close => connection.close().await,
            },
        }
    }
}

/// Passes messages both ways on the client, which hands out RakNet's own messages too, the end among them.
async fn visit(mut client: Client, commands: &mut Commands) {
    tell_connected();
    loop {
        tokio::select! {
            received = client.recv() => match received {
                Ok(payload) if payload.first() == Some(&DISCONNECTION_NOTIFICATION) => tell_disconnected(),
                Ok(payload) if payload.first().is_none_or(|id| *id < FIRST_USER_MESSAGE) => {}
                Ok(payload) => tell_message(&payload),
                Err(_) => return tell_disconnected(),
            },
            command = commands.next() => match command {
                Command::Send { payload, reliability, channel } => {
                    let mode = Reliability::from_flags(reliability << 5);
                    match client.send(&payload, mode, channel).await {
                        Ok(()) => tell_sent(),
                        Err(error) => tell_failed(&format!("{error:?}")),
                    }
                }
                Command::Close => client.close().await,
            },
        }
    }
}

/// The id of the message that ends a session.
const DISCONNECTION_NOTIFICATION: u8 = 0x15;

/// Ids below it are RakNet's own.
const FIRST_USER_MESSAGE: u8 = 0x80;

/// In this time the client sends two pings. It counts its datagrams anew after the handshake, so that the first two
/// are duplicates for the server: better these than a test's messages.
const TWO_PINGS: std::time::Duration = std::time::Duration::from_secs(2);
