//! `iolite raknet serve`: an echo server with a live line.

use bytes::Bytes;
use proto_raknet::{Config, IncomingConfig, Motd, PeerInfo, wire::ProtocolVersion};
use runtime_tokio::raknet::ListenOptions;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::time::interval;

use crate::{
    args::raknet::{Serve, Switch},
    failure::Failure,
    interrupt::Interrupt,
    output::{
        self,
        progress::Progress,
        quantity::{count, per_second, rate},
        style::{self, paint},
    },
    raknet::echo::{EchoServer, Happening, Watcher},
};

/// Echoes until Ctrl-C.
///
/// # Errors
/// The address cannot be listened on, or an option makes no sense.
pub(crate) async fn run(options: Serve, interrupt: Interrupt) -> Result<(), Failure> {
    let progress = if options.json { Progress::hidden() } else { Progress::live("starting") };
    let server = EchoServer::start(options.listen, listen_options(&options)?, watcher(&options, &progress))?;
    announce(&options, &server, &progress)?;
    let told = tokio::select! {
        told = tell(&options, &server, &progress) => told,
        () = interrupt.wait() => Ok(()),
    };
    progress.describe("closing");
    let (sessions, messages) = (server.tally().opened(), server.tally().messages());
    server.close().await;
    progress.finish();
    if options.json {
        output::json(&json!({ "event": "closed", "sessions": sessions, "messages": messages }))?;
    } else {
        output::line(format_args!(
            "closed after {} sessions and {} messages",
            count(sessions),
            count(messages)
        ))?;
    }
    told
}

fn listen_options(options: &Serve) -> Result<ListenOptions, Failure> {
    let limit = options.max_connections as usize;
    Ok(ListenOptions {
        endpoint: Config {
            incoming: IncomingConfig {
                max_connections: limit,
                protocol_versions: options.protocol.iter().copied().map(ProtocolVersion).collect(),
                cookies: options.cookies == Switch::On,
                password: options.password.clone().unwrap_or_default().into(),
                pong_data: pong_data(options, 0, None)?,
                ..IncomingConfig::default()
            },
            ..Config::default()
        },
        shards: usize::from(options.shards),
        ..ListenOptions::default()
    })
}

/// Makes what pings are answered with.
fn pong_data(options: &Serve, players: u64, server: Option<&EchoServer>) -> Result<Bytes, Failure> {
    let number = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
    let mut motd = Motd::new(&options.motd, 0, env!("CARGO_PKG_VERSION"))
        .with_players(number(players), number(options.max_connections.into()))
        .with_level("echo")
        .with_mode("Survival", 0);
    if let Some(server) = server {
        let port = server.address().port();
        motd = motd.with_guid(server.listener().guid()).with_ports(port, port);
    }
    motd.to_pong_data().map(Bytes::from).map_err(|error| {
        Failure::usage(format_args!("the name given with --motd cannot be used: {error}"))
            .advise("choose a shorter name without a backslash at its end")
    })
}

fn watcher(options: &Serve, progress: &Progress) -> Watcher {
    let (json, progress) = (options.json, progress.clone());
    Arc::new(move |info: &PeerInfo, happening| {
        // Nothing is lost when nobody reads the lines: the server goes on.
        let _ = if json { tell_machine(info, happening) } else { tell_person(&progress, info, happening) };
    })
}

fn tell_machine(info: &PeerInfo, happening: Happening) -> Result<(), Failure> {
    let (event, reason) = match happening {
        Happening::Opened => ("opened", None),
        Happening::Closed(reason) => ("ended", Some(reason.to_string())),
    };
    output::json(&json!({
        "event": event,
        "peer": info.address.to_string(),
        "guid": info.guid.to_string(),
        "protocol": info.protocol_version.0,
        "mtu": info.mtu,
        "reason": reason,
    }))
}

fn tell_person(progress: &Progress, info: &PeerInfo, happening: Happening) -> Result<(), Failure> {
    match happening {
        Happening::Opened => progress.line(format_args!(
            "{} {} protocol {} mtu {} guid {}",
            paint(style::GOOD, "+"),
            info.address,
            info.protocol_version.0,
            info.mtu,
            info.guid
        )),
        Happening::Closed(reason) => {
            progress.line(format_args!("{} {} {reason}", paint(style::FAINT, "-"), info.address))
        }
    }
}

fn announce(options: &Serve, server: &EchoServer, progress: &Progress) -> Result<(), Failure> {
    let address = server.address();
    if options.json {
        return output::json(&json!({
            "event": "listening",
            "address": address.to_string(),
            "guid": server.listener().guid().to_string(),
        }));
    }
    progress.line(format_args!(
        "listening on {} as {:?}; Ctrl-C ends it",
        paint(style::STRONG, address),
        options.motd
    ))
}

/// Keeps the description and the live line up to date. Ends only when nobody reads the output any more.
async fn tell(options: &Serve, server: &EchoServer, progress: &Progress) -> Result<(), Failure> {
    let mut ticks = interval(if options.json { options.interval } else { LIVE_INTERVAL });
    let mut before = server.stats();
    let mut players = u64::MAX;
    loop {
        let period = ticks.period();
        ticks.tick().await;
        let (now, tally) = (server.stats(), server.tally());
        if tally.open() != players {
            players = tally.open();
            server
                .listener()
                .set_pong_data(pong_data(options, players, Some(server))?)
                .map_err(Failure::usage)?;
        }
        let speed = |new: u64, old: u64| per_second(new.saturating_sub(old), period);
        let received = speed(now.bytes_received, before.bytes_received);
        let sent = speed(now.bytes_sent, before.bytes_sent);
        before = now;
        if options.json {
            output::json(&json!({
                "event": "statistics",
                "sessions": players,
                "handshakes": now.handshakes,
                "messages": tally.messages(),
                "message_bytes": tally.bytes(),
                "received_bytes_per_second": received,
                "sent_bytes_per_second": sent,
                "pings_answered": now.pings_answered,
            }))?;
        } else {
            progress.describe(format!(
                "{players} sessions, {} messages, in {}, out {}, {} pings answered",
                count(tally.messages()),
                rate(received),
                rate(sent),
                count(now.pings_answered)
            ));
        }
    }
}

const LIVE_INTERVAL: Duration = Duration::from_millis(500);
