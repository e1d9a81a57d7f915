//! A channel: messages in their order, and a stream.

use bench_peer::Payload;
use proto_rns::{
    link::LinkConfig,
    wire::{MessageType, StreamId},
};
use std::time::Instant;

use super::network::{Network, within};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::{bytes, count},
};

/// Sends messages and a stream at the same time, and compares both.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let network = Network::joined(LinkConfig { channel: true, ..LinkConfig::default() }).await?;
    let (near, far) = network.link().await?;
    let message_type = MessageType(1);
    let stream = StreamId::new(0).ok_or_else(|| Failure::check("no stream may have number 0"))?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(500);
    let mut written = Vec::new();
    for number in 0..total {
        payload.append(1, number, &mut written);
    }
    let start = Instant::now();
    let (reader, writer) = (far.stream(stream).0, near.stream(stream).1);
    let send = async {
        for number in 0..total {
            let mut message = Vec::with_capacity(SIZE);
            payload.append(0, number, &mut message);
            near.send_message(message_type, &message).await.map_err(Failure::network)?;
        }
        Ok(())
    };
    let receive = async {
        for number in 0..total {
            let (_, message) = far.next_message().await.map_err(Failure::network)?;
            payload.check(0, number, &message).map_err(Failure::check)?;
        }
        Ok(())
    };
    let all = async { tokio::try_join!(send, receive, write(writer, &written), read(reader, written.len())) };
    let ((), (), (), read) = within("the channel's contents", all).await?;
    let transfer = start.elapsed();
    check(read == written, || "the stream changed on the way".into())?;
    network.end().await;
    let found = format!(
        "{} messages in order, and a stream of {} beside them",
        count(total.into()),
        bytes(written.len() as u64)
    );
    Ok(Outcome { found, messages: total.into(), bytes: 2 * written.len() as u64, transfer })
}

async fn write(
    mut writer: runtime_tokio::rns::LinkWriter<runtime_tokio::Tokio>,
    data: &[u8],
) -> Result<(), Failure> {
    writer.write_all(data).await.map_err(Failure::network)?;
    writer.finish().await.map_err(Failure::network)
}

async fn read(
    mut reader: runtime_tokio::rns::LinkReader<runtime_tokio::Tokio>,
    len: usize,
) -> Result<Vec<u8>, Failure> {
    let mut data = Vec::with_capacity(len);
    while let Some(piece) = reader.next().await.map_err(Failure::network)? {
        data.extend_from_slice(&piece);
    }
    Ok(data)
}

const SIZE: usize = 200;
