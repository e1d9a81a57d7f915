//! Batches of datagrams through segmentation offload (GSO) and receive offload (GRO).

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bench_peer::{Exchange, Fault, announce};
use quinn_udp::{RecvMeta, Transmit, UdpSocketState};

use crate::{PATIENCE, lost};

pub(crate) fn serve(address: SocketAddr) -> Result<(), Fault> {
    let socket = Socket::bind(address)?;
    announce(socket.socket.local_addr()?)?;
    let mut buffer = vec![0; LARGEST_BATCH];
    loop {
        let meta = socket.recv(&mut buffer)?;
        socket.send(&buffer[..meta.len], meta.stride, meta.addr)?;
    }
}

pub(crate) struct Client {
    socket: Socket,
    server: SocketAddr,
    output: Vec<u8>,
    input: Vec<u8>,
}

impl Client {
    pub(crate) fn new(server: SocketAddr) -> Result<Self, Fault> {
        let socket = Socket::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        socket.socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { socket, server, output: Vec::new(), input: vec![0; LARGEST_BATCH] })
    }
}

impl crate::Client for Client {
    fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let size = exchange.message_size();
        while exchange.sendable() > 0 {
            self.output.clear();
            for _ in 0..self.socket.largest_run(size) {
                if !exchange.append_next(&mut self.output) {
                    break;
                }
            }
            self.socket.send(&self.output, size, self.server)?;
        }
        Ok(())
    }

    fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault> {
        let meta = self.socket.recv(&mut self.input).map_err(lost)?;
        for echo in self.input[..meta.len].chunks(meta.stride) {
            exchange.accept(echo)?;
        }
        Ok(())
    }
}

/// A blocking socket with the kernel's offloads switched on.
struct Socket {
    socket: UdpSocket,
    offload: UdpSocketState,
}

impl Socket {
    fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let offload = UdpSocketState::new((&socket).into())?;
        // Setting up the offloads made it non-blocking.
        socket.set_nonblocking(false)?;
        Ok(Self { socket, offload })
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<RecvMeta> {
        let mut meta = [RecvMeta::default()];
        self.offload.recv((&self.socket).into(), &mut [IoSliceMut::new(buffer)], &mut meta)?;
        let [meta] = meta;
        Ok(meta)
    }

    fn send(&self, contents: &[u8], segment: usize, destination: SocketAddr) -> io::Result<()> {
        let segment_size = (contents.len() > segment).then_some(segment);
        let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
        self.offload.try_send((&self.socket).into(), &transmit)
    }

    /// How many datagrams of `size` bytes one call may carry.
    fn largest_run(&self, size: usize) -> usize {
        (LARGEST_BATCH / size).clamp(1, self.offload.max_gso_segments())
    }
}

/// The longest UDP payload, and so the longest batch that the kernel takes or gives.
const LARGEST_BATCH: usize = 65_507;
