//! The echo server: one socket, all connections.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;

use bench_peer::{Fault, Load, announce};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use crate::core::{Outlet, conversation};
use crate::session::{Clock, DATAGRAMS_PER_WAKE, Flush, LARGEST_DATAGRAM, Session};

pub(crate) fn run(address: SocketAddr, policy: Flush, load: &Load) -> Result<(), Fault> {
    let mut socket = UdpSocket::bind(address)?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    announce(socket.local_addr()?)?;
    let mut server = Server {
        socket: Rc::new(socket),
        policy,
        clock: Clock::new(),
        sessions: HashMap::new(),
        touched: Vec::new(),
        message: vec![0; load.size],
    };
    let mut events = Events::with_capacity(4);
    loop {
        // Readiness is edge-triggered: after a full batch there may be more without another event.
        if !server.wake()? {
            poll.poll(&mut events, Some(server.clock.until_tick()))?;
        }
        if server.clock.is_tick() {
            server.sessions.values_mut().for_each(|session| session.tick(&server.clock));
        }
    }
}

struct Server {
    socket: Rc<UdpSocket>,
    policy: Flush,
    clock: Clock,
    sessions: HashMap<u32, Session<Reply>>,
    touched: Vec<u32>,
    message: Vec<u8>,
}

/// Sends a connection's datagrams back over the common socket.
struct Reply {
    socket: Rc<UdpSocket>,
    to: SocketAddr,
}

impl Outlet for Reply {
    fn send(&self, datagram: &[u8]) {
        // A datagram that the kernel does not take is a lost one: KCP sends it again.
        let _ = self.socket.send_to(datagram, self.to);
    }
}

impl Server {
    /// Handles one batch of datagrams; false when there was no more than that.
    fn wake(&mut self) -> Result<bool, Fault> {
        let mut buffer = [0; LARGEST_DATAGRAM];
        let mut drained = false;
        for _ in 0..DATAGRAMS_PER_WAKE {
            match self.socket.recv_from(&mut buffer) {
                Ok((len, from)) => self.on_datagram(&buffer[..len], from)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    drained = true;
                    break;
                }
                // An earlier datagram met a closed port: that client is gone.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error.into()),
            }
        }
        for conversation in self.touched.drain(..) {
            if let Some(session) = self.sessions.get_mut(&conversation) {
                session.end_wake(&self.clock);
            }
        }
        Ok(!drained)
    }

    fn on_datagram(&mut self, datagram: &[u8], from: SocketAddr) -> Result<(), Fault> {
        let Some(conversation) = conversation(datagram) else { return Ok(()) };
        if !self.sessions.contains_key(&conversation) {
            let reply = Reply { socket: Rc::clone(&self.socket), to: from };
            let session = Session::new(conversation, self.policy, reply, &self.clock)?;
            self.sessions.insert(conversation, session);
        }
        let Some(session) = self.sessions.get_mut(&conversation) else { return Ok(()) };
        session.input(datagram)?;
        while let Some(message) = session.recv(&mut self.message) {
            session.send(message, &self.clock)?;
        }
        session.end_datagram(&self.clock);
        if self.touched.last() != Some(&conversation) {
            self.touched.push(conversation);
        }
        Ok(())
    }
}
