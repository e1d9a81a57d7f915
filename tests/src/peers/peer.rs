//! A foreign implementation as a running peer.

use bytes::Bytes;
use proto_raknet::Message;
use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
};

use super::{
    implementation::Implementation,
    lines::{self, End, Told},
    process::Process,
};

/// A running peer with at most one session.
#[derive(Debug)]
pub struct Peer {
    process: Process,
    /// What it told that nobody has asked for yet.
    backlog: VecDeque<Told>,
}

impl Peer {
    /// Starts a server, and returns it with its address.
    ///
    /// # Panics
    /// It does not start.
    pub fn serve(implementation: Implementation, protocol: u8) -> (Self, SocketAddr) {
        let port = if implementation.tells_its_port() { 0 } else { free_port() };
        let mut peer = Self::start(implementation, &lines::serve(port, protocol));
        let port =
            peer.wait("its port", |told| if let Told::Listening(port) = told { Some(*port) } else { None });
        (peer, (Ipv4Addr::LOCALHOST, port).into())
    }

    /// Starts a client that connects to `server`.
    ///
    /// # Panics
    /// It does not start.
    pub fn visit(implementation: Implementation, protocol: u8, server: SocketAddr) -> Self {
        Self::start(implementation, &lines::visit(server, protocol, false))
    }

    /// Starts a client that pings `server`, and returns the data of the answer.
    ///
    /// # Panics
    /// There is no answer.
    pub fn ping(implementation: Implementation, protocol: u8, server: SocketAddr) -> Bytes {
        Self::start(implementation, &lines::visit(server, protocol, true))
            .wait("a pong", |told| if let Told::Pong(data) = told { Some(data.clone()) } else { None })
    }

    /// Waits until its session is open.
    pub fn connected(&mut self) {
        self.wait("a session", |told| (*told == Told::Connected).then_some(()));
    }

    /// Has it send a message, and returns the number it gave it where it gives receipts.
    pub fn send(&mut self, message: &Message) -> Option<u32> {
        self.process.tell(&lines::send(message));
        self.wait(
            "a message taken",
            |told| if let Told::Sent(receipt) = told { Some(*receipt) } else { None },
        )
    }

    /// Waits for the next message that it received.
    pub fn recv(&mut self) -> Bytes {
        self.wait(
            "a message",
            |told| if let Told::Message(payload) = told { Some(payload.clone()) } else { None },
        )
    }

    /// Waits for the fate of a message that it sent, and says whether it was acknowledged.
    pub fn was_acked(&mut self, number: u32) -> bool {
        self.wait("a receipt", |told| {
            if let Told::Receipt { receipt, acked } = told {
                (*receipt == number).then_some(*acked)
            } else {
                None
            }
        })
    }

    /// Has it close its session.
    pub fn close(&mut self) {
        self.process.tell(&lines::close());
    }

    /// Waits until it sees the end of its session, and says how.
    pub fn disconnected(&mut self) -> End {
        self.wait("the end of its session", |told| {
            if let Told::Disconnected(end) = told { Some(*end) } else { None }
        })
    }

    fn start(implementation: Implementation, wish: &str) -> Self {
        let mut command = implementation.command();
        let process = Process::start(implementation.name(), command.arg(wish));
        Self { process, backlog: VecDeque::new() }
    }

    /// Waits until it tells what is asked for. The rest stays for later questions.
    fn wait<T>(&mut self, what: &str, mut answer: impl FnMut(&Told) -> Option<T>) -> T {
        let found = self.backlog.iter().enumerate().find_map(|(at, told)| Some((at, answer(told)?)));
        if let Some((at, result)) = found {
            self.backlog.remove(at);
            return result;
        }
        loop {
            let told = Told::parse(&self.process.line(what));
            if let Some(result) = answer(&told) {
                return result;
            }
            self.backlog.push_back(told);
        }
    }
}

/// Asks the operating system for a port that is free now, for peers that cannot tell which one they got.
pub(crate) fn free_port() -> u16 {
    let probe = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    probe.local_addr().expect("a bound socket").port()
}
