//! A server on tokio as the list of servers in a game shows it: its description (MOTD) with the number of players, and
//! its statistics. A few players come, are greeted together, and leave.
//!
//! Run it with `cargo run -p examples --example raknet_tokio_motd_server`.

use runtime_tokio::raknet::{Config, Motd, RaknetListener, RaknetStream, ping};
use std::{error::Error, time::Duration};

const MAX_PLAYERS: i32 = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = RaknetListener::bind("127.0.0.1:0".parse()?, Config::default())?;
    let address = listener.local_addr();
    describe(&listener)?;

    let mut sessions = Vec::new();
    for _ in 0..3 {
        let (player, session) = tokio::join!(RaknetStream::connect(address), listener.accept());
        sessions.push((player?, session?));
        describe(&listener)?;
    }

    let pong = ping(address, Duration::from_secs(2)).await?;
    let motd = pong.motd()?;
    println!("{} {}: {} of {} players", motd.name, motd.version, motd.players, motd.max_players);

    let reached = listener.broadcast("welcome", None);
    for (player, _) in &sessions {
        println!("player: {}", String::from_utf8_lossy(&player.recv().await?.payload));
    }
    println!("greeted {reached} players");

    for stats in listener.stats() {
        println!(
            "statistics: {} sessions, {} datagrams in, {} out, {} pings answered",
            stats.incoming, stats.datagrams_received, stats.datagrams_sent, stats.pings_answered
        );
    }
    listener.close().await;
    println!("closed with {} players left", listener.peer_count());
    Ok(())
}

/// Sets what the answer to a ping says.
fn describe(listener: &RaknetListener) -> Result<(), Box<dyn Error>> {
    let players = i32::try_from(listener.peer_count())?;
    let motd = Motd::new("An example", 800, "1.21.80")
        .with_players(players, MAX_PLAYERS)
        .with_guid(listener.guid())
        .with_level("Iolite");
    listener.set_pong_data(motd.to_pong_data()?)?;
    Ok(())
}
