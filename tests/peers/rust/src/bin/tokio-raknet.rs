//! tokio-raknet behind the line protocol.

use rust_peers::{
    Command, Commands, Role, tell_connected, tell_disconnected, tell_failed, tell_listening, tell_message,
    tell_sent,
};
use tokio_raknet::{RaknetListener, RaknetStream, protocol::reliability::Reliability, transport::Message};

#[tokio::main]
async fn main() {
    let mut commands = Commands::new();
    match Role::from_arguments() {
        Role::Server { port } => {
            let mut listener =
                RaknetListener::bind(([127, 0, 0, 1], port).into()).await.expect("the port is free");
            tell_listening(listener.local_addr().port());
            let stream = listener.accept().await.expect("the listener accepts");
            serve(stream, &mut commands).await;
            // Dropping the listener would end its sessions; this one is to end in its own way.
            loop {
                commands.next().await;
            }
        }
        Role::Client { server } => match RaknetStream::connect(server).await {
            Ok(stream) => serve(stream, &mut commands).await,
            Err(error) => tell_failed(&format!("{error:?}")),
        },
    }
    // The end of the input ends the process.
    loop {
        commands.next().await;
    }
}

/// Passes messages both ways. There is no call that closes a stream: it is dropped.
async fn serve(mut stream: RaknetStream, commands: &mut Commands) {
    tell_connected();
    loop {
        tokio::select! {
            received = stream.recv() => match received {
                Some(Ok(payload)) => tell_message(&payload),
                Some(Err(_)) | None => return tell_disconnected(),
            },
            command = commands.next() => match command {
                Command::Send { payload, reliability, channel } => {
                    let message = Message::new(payload).reliability(mode(reliability)).channel(channel);
                    match stream.send(message).await {
                        Ok(()) => tell_sent(),
                        Err(error) => tell_failed(&format!("{error:?}")),
                    }
                }
                Command::Close => return,
            },
        }
    }
}

fn mode(reliability: u8) -> Reliability {
    match reliability {
        0 => Reliability::Unreliable,
        1 => Reliability::UnreliableSequenced,
        2 => Reliability::Reliable,
        3 => Reliability::ReliableOrdered,
        4 => Reliability::ReliableSequenced,
        other => panic!("{other} is no base mode"),
    }
}
