//! Our side of a session, on the blocking loop or on tokio.

mod looped;
mod tokio;

use proto_raknet::{CloseReason, Config, ConnectOptions, Message, PeerInfo, Received};
use std::net::{Ipv4Addr, SocketAddr};

/// What drives our machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// [`BlockingEndpoint`](crate::blocking::BlockingEndpoint): a fault here is one of the machine.
    Loop,
    /// `runtime-tokio`: a fault only here is one of the driver or the face.
    Tokio,
}

/// Our server.
pub trait Listening {
    /// Returns its address.
    fn address(&self) -> SocketAddr;

    /// Waits for the next session.
    ///
    /// # Panics
    /// None comes.
    fn accept(&mut self) -> Box<dyn Session + '_>;
}

/// A session with a peer. Everything waits for a while, and panics when it waited in vain.
pub trait Session {
    /// Returns what is known of the peer.
    fn info(&self) -> PeerInfo;

    /// Sends a message. With a receipt, its fate can be asked for by the number.
    fn send(&mut self, message: Message) -> Option<usize>;

    /// Waits for the next message.
    fn recv(&mut self) -> Received;

    /// Waits for the fate of a message, and says whether it was acknowledged.
    fn was_acked(&mut self, receipt: usize) -> bool;

    /// Closes the session in good order, and says how it ended.
    fn close(&mut self) -> CloseReason;

    /// Waits until the session ends by itself, and says how.
    fn closed(&mut self) -> CloseReason;
}

impl Drive {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Loop, Self::Tokio];

    /// Listens on a port of the operating system's choice.
    ///
    /// # Panics
    /// The configuration cannot work.
    pub fn listen(self, config: Config) -> Box<dyn Listening> {
        match self {
            Self::Loop => Box::new(looped::Listener::bind(LOCAL, config)),
            Self::Tokio => Box::new(tokio::Listener::bind(LOCAL, config)),
        }
    }

    /// Connects to `server`.
    ///
    /// # Panics
    /// There is no session.
    pub fn connect(self, server: SocketAddr, config: Config, options: ConnectOptions) -> Box<dyn Session> {
        match self {
            Self::Loop => Box::new(looped::connect(LOCAL, server, config, options)),
            Self::Tokio => Box::new(tokio::connect(LOCAL, server, config, options)),
        }
    }
}

/// Any free port of this machine alone.
const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
