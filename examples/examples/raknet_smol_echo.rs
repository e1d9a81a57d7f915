//! An echo server and its client on smol. The same code runs on async-std's executor, and on any other.
//!
//! Run it with `cargo run -p examples --example raknet_smol_echo`.

use runtime_smol::raknet::{Config, RaknetListener, RaknetStream};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(async {
        let listener = RaknetListener::bind("127.0.0.1:0".parse()?, Config::default())?;
        let address = listener.local_addr();
        smol::spawn(async move {
            while let Ok(stream) = listener.accept().await {
                smol::spawn(echo(stream)).detach();
            }
        })
        .detach();

        let client = RaknetStream::connect(address).await?;
        for text in ["hello from smol", "and good bye"] {
            client.send(text).await?;
            println!("echo: {}", String::from_utf8_lossy(&client.recv().await?.payload));
        }
        client.close().await?;
        println!("closed");
        Ok(())
    })
}

async fn echo(stream: RaknetStream) {
    while let Ok(message) = stream.recv().await {
        if stream.send(message.payload).await.is_err() {
            break;
        }
    }
}
