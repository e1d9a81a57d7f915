//! The client.

use std::net::TcpStream;

use rustls::ClientConnection;

use super::datagram::Channel;
use super::input::Input;
use super::stream::Stream;
use super::tls::TlsStream;
use super::web_socket::MaskedSender;
use super::{http, web_socket};
use crate::Fault;
use crate::conn::{Arena, Command, Identity};

/// A connection to a peer, for any scheme.
#[derive(Debug)]
pub struct Client {
    line: Line,
    body: Vec<u8>,
}

#[derive(Debug)]
enum Line {
    Http { stream: Stream, input: Input, head: Vec<u8> },
    WebSocket { stream: Stream, input: Input, sender: MaskedSender },
    Datagrams(Channel),
}

impl Client {
    /// Connects to the peer.
    ///
    /// # Errors
    ///
    /// When the peer does not take part in the handshakes of its scheme.
    pub fn connect(command: &Command, arena: &Arena) -> Result<Self, Fault> {
        let scheme = command.scheme;
        if scheme.is_datagram() {
            let line = Line::Datagrams(Channel::open(scheme, arena.address())?);
            return Ok(Self { line, body: Vec::new() });
        }
        let socket = TcpStream::connect(arena.address())?;
        socket.set_nodelay(true)?;
        let mut stream = if scheme.is_secure() {
            let session = ClientConnection::new(Identity::of(command)?.client()?, Identity::server_name()?)?;
            Stream::Secure(Box::new(TlsStream::open(socket, session, command.piece)?))
        } else {
            Stream::Plain(socket)
        };
        let mut input = Input::new();
        let line = if scheme.is_web_socket() {
            web_socket::ask(&mut stream, &mut input)?;
            Line::WebSocket { stream, input, sender: MaskedSender::new(command.piece) }
        } else {
            Line::Http { stream, input, head: Vec::new() }
        };
        Ok(Self { line, body: Vec::new() })
    }

    /// Sends a message and returns its echo.
    ///
    /// # Errors
    ///
    /// When the peer closes, or breaks the rules.
    pub fn exchange(&mut self, message: &[u8]) -> Result<&[u8], Fault> {
        match &mut self.line {
            Line::Http { stream, input, head } => {
                http::write_request(head, message.len())?;
                stream.send(head, message)?;
                Ok(http::read(stream, input, "HTTP/1.1 200 ", &mut self.body)?)
            }
            Line::WebSocket { stream, input, sender } => {
                sender.send(stream, message)?;
                if web_socket::read(stream, input, false, &mut self.body)? {
                    Ok(&self.body)
                } else {
                    Err("the peer closed".into())
                }
            }
            Line::Datagrams(channel) => Ok(channel.exchange(message)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::conn::{Role, Scheme};

    fn command(scheme: Scheme, size: usize) -> Command {
        Command {
            role: Role::Client,
            scheme,
            size,
            mode: String::new(),
            peer: None,
            identity: None,
            warmup: Duration::ZERO,
            time: Duration::ZERO,
            piece: None,
        }
    }

    #[test]
    fn what_the_client_sends_comes_back_over_every_scheme_without_tls() {
        for scheme in Scheme::ALL.into_iter().filter(|scheme| !scheme.is_secure()) {
            for size in [1, 125, 126, 60_000, 131_072] {
                if size > 65_507 && scheme.is_datagram() {
                    continue;
                }
                let command = command(scheme, size);
                let arena = Arena::open(&command).unwrap();
                let mut client = Client::connect(&command, &arena).unwrap();
                for round in 0..3 {
                    let message: Vec<u8> = (0..=u8::MAX).cycle().skip(round).take(size).collect();
                    assert!(client.exchange(&message).unwrap() == message, "{scheme} {size} {round}");
                }
            }
        }
    }
}
