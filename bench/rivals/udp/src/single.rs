//! One system call per datagram.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bench_peer::{Exchange, Fault, announce};

use crate::{PATIENCE, lost};

pub(crate) fn serve(address: SocketAddr) -> Result<(), Fault> {
    let socket = UdpSocket::bind(address)?;
    announce(socket.local_addr()?)?;
    let mut buffer = [0; 2048];
    loop {
        let (len, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..len], from)?;
    }
}

pub(crate) struct Client {
    socket: UdpSocket,
    message: Vec<u8>,
}

impl Client {
    pub(crate) fn new(server: SocketAddr) -> Result<Self, Fault> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { socket, message: Vec::new() })
    }
}

impl crate::Client for Client {
    fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        self.message.clear();
        while exchange.append_next(&mut self.message) {
            self.socket.send(&self.message)?;
            self.message.clear();
        }
        Ok(())
    }

    fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let mut buffer = [0; 2048];
        let len = self.socket.recv(&mut buffer).map_err(lost)?;
        Ok(exchange.accept(&buffer[..len])?)
    }
}
