//! An echo server and its client on tokio.
//!
//! Run it with `cargo run -p examples --example raknet_tokio_echo`.

use runtime_tokio::raknet::{Config, Message, Priority, RaknetListener, RaknetStream, Reliability};
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = RaknetListener::bind("127.0.0.1:0".parse()?, Config::default())?;
    let address = listener.local_addr();
    tokio::spawn(async move {
        while let Ok(stream) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    });

    let client = RaknetStream::connect(address).await?;
    println!("connected to {address} with an MTU of {}", client.mtu());

    // Reliable and in order, as most messages are.
    client.send("hello from tokio").await?;
    let answer = client.recv().await?;
    println!("echo: {}", String::from_utf8_lossy(&answer.payload));

    // With everything that a message can ask for.
    let message = Message::new("and with a receipt")
        .reliability(Reliability::ReliableWithReceipt)
        .priority(Priority::Immediate);
    if let Some(receipt) = client.send_with(message).await? {
        println!("receipt: {:?}", receipt.await);
    }

    client.close().await?;
    println!("closed");
    Ok(())
}

async fn echo(stream: RaknetStream) {
    while let Ok(message) = stream.recv().await {
        if stream.send(message.payload).await.is_err() {
            break;
        }
    }
}
