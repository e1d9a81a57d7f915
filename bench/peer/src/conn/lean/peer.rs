//! The peer.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection};

use super::input::Input;
use super::stream::Stream;
use super::tls::TlsStream;
use super::{datagram, http, web_socket};
use crate::conn::{Arena, Command, Gauge, Identity, Scheme};
use crate::{Fault, announce};

/// Runs the peer of a command in a thread of this process.
///
/// # Errors
///
/// When it cannot listen, or has no identity where it needs one.
pub fn spawn(command: &Command) -> Result<Arena, Fault> {
    let gauge = Gauge::default();
    let address = listen(command, gauge.clone())?;
    Ok(Arena::with(address, gauge))
}

/// Is the peer of a command: announces its address, echoes until the input of this process ends, and tells its cost.
///
/// # Errors
///
/// When it cannot listen.
pub fn serve(command: &Command) -> Result<(), Fault> {
    let gauge = Gauge::default();
    announce(listen(command, gauge.clone())?)?;
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(gauge.read().print()?)
}

fn listen(command: &Command, gauge: Gauge) -> Result<SocketAddr, Fault> {
    let scheme = command.scheme;
    if scheme.is_datagram() {
        let socket = datagram::bind(scheme)?;
        let address = socket.local_addr()?;
        // An error is the end of the echo, which the client notices and reports.
        thread::spawn(move || datagram::echo(&socket, scheme, &gauge));
        return Ok(address);
    }
    let server = Server {
        scheme,
        tls: if scheme.is_secure() { Some(Identity::of(command)?.server()?) } else { None },
        piece: command.piece,
        gauge,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        // One after the other: a client has one connection at a time.
        while let Ok((socket, _)) = listener.accept() {
            if let Err(error) = server.echo(socket)
                && !is_end(error.as_ref())
            {
                eprintln!("lean peer: {error}");
            }
        }
    });
    Ok(address)
}

/// Whether an error only says that the client is gone.
fn is_end(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
        )
    })
}

struct Server {
    scheme: Scheme,
    tls: Option<Arc<ServerConfig>>,
    piece: Option<usize>,
    gauge: Gauge,
}

impl Server {
    fn echo(&self, socket: TcpStream) -> Result<(), Fault> {
        socket.set_nodelay(true)?;
        let mut stream = match &self.tls {
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config))?;
                Stream::Secure(Box::new(TlsStream::open(socket, session, self.piece)?))
            }
            None => Stream::Plain(socket),
        };
        let mut input = Input::new();
        let (mut head, mut body) = (Vec::new(), Vec::new());
        if self.scheme.is_web_socket() {
            web_socket::grant(&mut stream, &mut input)?;
            while web_socket::read(&mut stream, &mut input, true, &mut body)? {
                self.gauge.add(Duration::ZERO);
                web_socket::send(&mut stream, &mut head, &body)?;
            }
            return Ok(());
        }
        loop {
            http::read(&mut stream, &mut input, "POST ", &mut body)?;
            let arrived = Instant::now();
            http::write_response(&mut head, body.len())?;
            self.gauge.add(arrived.elapsed());
            stream.send(&head, &body)?;
        }
    }
}
