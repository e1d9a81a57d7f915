//! Two endpoints in a simulated network: 40 ms each way, one datagram in twenty lost. Simulated minutes take
//! milliseconds, and with the same seed everything happens again in the same way.
//!
//! Run it with `cargo run -p examples --example raknet_simulated -- [SEED]`.

use netsim::{Conditions, Network};
use proto_raknet::{Config, ConnectOptions, Endpoint, Event, Message};
use std::{error::Error, time::Duration};

const MESSAGES: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(7), |text| text.parse())?;
    let mut net = Network::new(seed);
    let machine_seed = net.machine_seed();
    let server = net.add_node(Endpoint::new(Config::default(), machine_seed)?);
    let machine_seed = net.machine_seed();
    let client = net.add_node(Endpoint::new(Config::client(), machine_seed)?);
    net.set_paths(&Conditions::lossy(Duration::from_millis(40), 0.05));

    let address = net.address(server);
    let peer =
        net.command(client, |endpoint, now| endpoint.connect(now, address, ConnectOptions::default()))?;
    let connected = net.run_until(
        |net| net.node(client).machine.peer(peer).is_some_and(|peer| peer.address == address),
        Duration::from_secs(10),
    );
    println!("connected: {connected}");
    net.run_for(Duration::from_secs(1));

    let began = net.now();
    for number in 0..MESSAGES {
        let message = Message::new(format!("message {number}"));
        net.command(client, |endpoint, now| endpoint.send(now, peer, message))?;
    }
    let (mut arrived, mut in_order) = (0, true);
    while arrived < MESSAGES {
        net.run_for(Duration::from_millis(10));
        for event in net.take_events(server) {
            if let Event::Readable { peer } = event {
                while let Some(received) = net.command(server, |endpoint, _| endpoint.recv(peer)) {
                    in_order &= received.payload == format!("message {arrived}");
                    arrived += 1;
                }
            }
        }
    }
    println!("{arrived} messages in {:?}, in order: {in_order}", net.now().saturating_since(began));

    let path = net.stats(client, server);
    println!("network: {} datagrams sent, {} delivered", path.sent.datagrams, path.delivered.datagrams);
    if let Some(stats) = net.node(client).machine.peer_stats(peer) {
        println!(
            "client: {} datagrams, {} lost, {} frames sent again, RTT {:?}",
            stats.totals.datagrams_sent,
            stats.totals.datagrams_lost,
            stats.totals.frames_resent,
            stats.rtt.unwrap_or_default()
        );
    }
    Ok(())
}
