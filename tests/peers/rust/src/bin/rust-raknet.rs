//! rust-raknet behind the line protocol.

use rust_peers::{
    Command, Commands, Role, tell_connected, tell_disconnected, tell_failed, tell_listening, tell_message,
    tell_sent,
};
use rust_raknet::{RaknetListener, RaknetSocket, Reliability};

#[tokio::main]
async fn main() {
    let mut commands = Commands::new();
    match Role::from_arguments() {
        Role::Server { port } => {
            let address = ([127, 0, 0, 1], port).into();
            let mut listener = RaknetListener::bind(&address).await.expect("the port is free");
            listener.listen().await;
            tell_listening(listener.local_addr().expect("a bound socket").port());
            let socket = listener.accept().await.expect("the listener accepts");
            serve(&socket, &mut commands).await;
        }
        Role::Client { server } => match RaknetSocket::connect(&server).await {
            Ok(socket) => serve(&socket, &mut commands).await,
            Err(error) => tell_failed(&error.to_string()),
        },
    }
    // The end of the input ends the process.
    loop {
        commands.next().await;
    }
}

async fn serve(socket: &RaknetSocket, commands: &mut Commands) {
    tell_connected();
    loop {
        tokio::select! {
            received = socket.recv_bytes() => match received {
                Ok(payload) => tell_message(&payload),
                Err(_) => return tell_disconnected(),
            },
            command = commands.next() => match command {
                Command::Send { payload, reliability, channel } => {
                    let reliability = Reliability::from(reliability).expect("a base mode");
                    match socket.send_bytes_with_order_channel(payload, reliability, channel).await {
                        Ok(()) => tell_sent(),
                        Err(error) => tell_failed(&error.to_string()),
                    }
                }
                Command::Close => {
                    // Without it, close drops what is not sent yet.
                    drop(socket.flush().await);
                    drop(socket.close().await);
                }
            },
        }
    }
}
