//! The peer: Iolite's server.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use bench_peer::conn::{Arena, Command, Gauge, Scheme, groups};
use bench_peer::{Fault, announce};
use proto_core::DatagramOptions;
use runtime_blocking::conn::http::BodyKind;
use runtime_blocking::conn::machine::Event;
use runtime_blocking::conn::{Message, Server};

use crate::settings;

/// Runs the peer of a command in a thread of this process.
pub(crate) fn spawn(command: &Command) -> Result<Arena, Fault> {
    let gauge = Gauge::default();
    let address = listen(command, gauge.clone())?;
    Ok(Arena::with(address, gauge))
}

/// Is the peer of a command, as [`bench_peer::conn::lean::serve`] is the lean one.
pub(crate) fn serve(command: &Command) -> Result<(), Fault> {
    let gauge = Gauge::default();
    announce(listen(command, gauge.clone())?)?;
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(gauge.read().print()?)
}

fn listen(command: &Command, gauge: Gauge) -> Result<SocketAddr, Fault> {
    let mut server = Server::new(settings::config(command)?)?;
    server.set_receive_mode(settings::mode(command)?);
    let scheme = command.scheme;
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    server.with(|server, _| match scheme {
        Scheme::Http | Scheme::Https | Scheme::Ws | Scheme::Wss => server.listen(anywhere),
        Scheme::Udp => server.listen_udp(anywhere, DatagramOptions::default()),
        Scheme::UdpMulticast => {
            let group = SocketAddr::from((groups::REQUESTS, 0));
            server.join(group, settings::loopback(), None, settings::near())
        }
    });
    let (listening, address) = mpsc::channel();
    thread::spawn(move || {
        if let Err(error) = echo(&mut server, scheme, &gauge, &listening) {
            eprintln!("iolite's peer: {error}");
        }
    });
    Ok(address.recv().map_err(|_| "iolite's peer does not listen")?)
}

/// Answers whatever comes with its own content.
fn echo(
    server: &mut Server,
    scheme: Scheme,
    gauge: &Gauge,
    listening: &Sender<SocketAddr>,
) -> Result<(), Fault> {
    loop {
        let Some(event) = server.event(None)? else { return Err("it was woken for nothing".into()) };
        match event {
            Event::Listening { local, .. } => listening.send(local.ok_or("it listens nowhere")?)?,
            Event::Down { error, .. } => return Err(error.into()),
            Event::Request { peer, message } => {
                let answer = Message::response(200, message.body.clone());
                gauge.add(Duration::ZERO);
                server.with(|server, now| server.respond(now, peer, &answer, BodyKind::Whole))?;
                server.with(|server, _| {
                    drop(answer);
                    server.recycle(peer, message);
                });
            }
            Event::Message { peer, message } => {
                let answer = Message::binary(message.body);
                gauge.add(Duration::ZERO);
                server.with(|server, now| server.send(now, peer, &answer))?;
            }
            Event::Datagram { socket, message } => {
                let from = message.peer_addr.ok_or("a datagram came from nowhere")?;
                let to = if scheme == Scheme::UdpMulticast {
                    SocketAddr::from((groups::ANSWERS, from.port()))
                } else {
                    from
                };
                gauge.add(Duration::ZERO);
                server.with(|server, _| server.send_datagram(socket, to, message.body))?;
            }
            Event::Connected { .. }
            | Event::Part { .. }
            | Event::End { .. }
            | Event::Opened { .. }
            | Event::Writable { .. }
            | Event::Closed { .. } => {}
        }
    }
}
