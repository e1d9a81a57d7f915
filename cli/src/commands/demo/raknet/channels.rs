//! Messages of one channel keep their order; channels do not wait for each other.

use bench_peer::Payload;
use proto_raknet::{Channel, Message};
use std::{collections::VecDeque, time::Instant};

use super::loopback::{connect, echo_server, message, receive, say_goodbye};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
    raknet::fault,
};

/// Sends on all channels in turn and checks the order of the echoes in each.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let server = echo_server()?;
    let stream = connect(server.address()).await?;
    let each = stage.amount(2_000);
    let payload = Payload::new(SIZE);
    let channels: Vec<Channel> = (0..proto_raknet::limits::CHANNELS).filter_map(Channel::new).collect();
    let sending = async {
        for number in 0..each {
            let mut messages: VecDeque<Message> = channels
                .iter()
                .map(|&channel| {
                    Message::new(message(&payload, channel.get().into(), number)).channel(channel)
                })
                .collect();
            let sent = stream.send_batch(&mut messages).await;
            sent.map_err(|error| fault::send(server.address(), error))?;
        }
        Ok(())
    };
    let total = u64::from(each) * channels.len() as u64;
    stage.progress.start_bar(total);
    let receiving = async {
        let mut next = vec![0; channels.len()];
        for arrived in 1..=total {
            let echo = receive(&stream).await?;
            let channel = echo.channel.get();
            let Some(next) = next.get_mut(usize::from(channel)) else { continue };
            payload.check(channel.into(), *next, &echo.payload).map_err(Failure::check)?;
            *next += 1;
            stage.progress.set(arrived);
        }
        check(next.iter().all(|&count| count == each), || "some channels are short of messages".into())
    };
    let start = Instant::now();
    tokio::try_join!(sending, receiving)?;
    let transfer = start.elapsed();
    say_goodbye(&stream).await?;
    server.close().await;
    let found = format!("{} messages over {} channels, each in order", count(total), channels.len());
    Ok(Outcome { found, messages: total, bytes: total * SIZE as u64, transfer })
}

const SIZE: usize = 100;
