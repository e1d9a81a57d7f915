//! The sender learns what became of a message.

use bench_peer::Payload;
use proto_raknet::{Message, Reliability};
use runtime_tokio::raknet::Delivery;
use std::time::Instant;

use super::loopback::{accept, connect, listener, message, receive};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
    raknet::fault,
};

/// Collects the receipts of messages that arrive, and of one that cannot.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let listener = listener(proto_raknet::Config::default())?;
    let (stream, peer) = tokio::try_join!(connect(listener.local_addr()), accept(&listener))?;
    let payload = Payload::new(SIZE);
    let modes: Vec<Reliability> = Reliability::ALL.into_iter().filter(|mode| mode.has_receipt()).collect();
    let total = stage.amount(1_000);
    let (start, mut receipts) = (Instant::now(), Vec::new());
    for (number, &mode) in (0..total).zip(modes.iter().cycle()) {
        let sent = stream.send_with(Message::new(message(&payload, 0, number)).reliability(mode)).await;
        receipts.extend(sent.map_err(|error| fault::send(stream.peer_addr(), error))?);
    }
    check(receipts.len() == total as usize, || format!("{} receipts for {total} messages", receipts.len()))?;
    for _ in 0..total {
        receive(&peer).await?;
    }
    for (number, receipt) in receipts.into_iter().enumerate() {
        let delivery = receipt.await;
        check(delivery == Delivery::Acknowledged, || {
            format!("message {number} arrived, but its receipt says lost")
        })?;
    }
    let transfer = start.elapsed();
    let orphan = Message::new(message(&payload, 0, total)).reliability(Reliability::ReliableWithReceipt);
    peer.abort();
    let orphan = stream.send_with(orphan).await.map_err(|error| fault::send(stream.peer_addr(), error))?;
    stream.abort();
    let told = match orphan {
        Some(receipt) => receipt.await,
        None => return Err(Failure::check("a message with receipt was sent without one")),
    };
    check(told == Delivery::Lost, || "the receipt of a message to nobody says that it arrived".into())?;
    listener.close().await;
    let found = format!("{} messages acknowledged, one to nobody reported as lost", count(total.into()));
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * SIZE as u64, transfer })
}

const SIZE: usize = 200;
