//! One connected socket, of TCP or UDP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};

/// How data is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// In the kernel.
    Park,
    /// By asking again and again.
    Spin,
}

/// Where the other end is waited for.
pub(crate) enum Door {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

/// A socket that knows its other end.
pub(crate) enum Pipe {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl Door {
    pub(crate) fn open(datagrams: bool, address: SocketAddr) -> io::Result<Self> {
        Ok(if datagrams {
            Self::Udp(UdpSocket::bind(address)?)
        } else {
            Self::Tcp(TcpListener::bind(address)?)
        })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr(),
            Self::Udp(socket) => socket.local_addr(),
        }
    }

    /// Waits for the other end and its first message, which fills `message`.
    pub(crate) fn first(self, message: &mut [u8], wait: Wait) -> io::Result<Pipe> {
        let pipe = match self {
            Self::Tcp(listener) => {
                let mut stream = listener.accept()?.0;
                stream.set_nodelay(true)?;
                stream.read_exact(message)?;
                Pipe::Tcp(stream)
            }
            Self::Udp(socket) => {
                let (_, from) = socket.recv_from(message)?;
                socket.connect(from)?;
                Pipe::Udp(socket)
            }
        };
        pipe.prepare(wait)
    }
}

impl Pipe {
    pub(crate) fn connect(datagrams: bool, peer: SocketAddr, wait: Wait) -> io::Result<Self> {
        let pipe = if datagrams {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(peer)?;
            Self::Udp(socket)
        } else {
            let stream = TcpStream::connect(peer)?;
            stream.set_nodelay(true)?;
            Self::Tcp(stream)
        };
        pipe.prepare(wait)
    }

    pub(crate) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                let mut rest = message;
                while !rest.is_empty() {
                    let sent = persist(|| stream.write(rest))?;
                    rest = rest.get(sent..).unwrap_or_default();
                }
            }
            Self::Udp(socket) => {
                persist(|| socket.send(message))?;
            }
        }
        Ok(())
    }

    /// Fills `message`.
    pub(crate) fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                let mut rest = message;
                while !rest.is_empty() {
                    let read = persist(|| stream.read(rest))?;
                    if read == 0 {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    rest = rest.get_mut(read..).unwrap_or_default();
                }
            }
            Self::Udp(socket) => {
                persist(|| socket.recv(message))?;
            }
        }
        Ok(())
    }

    fn prepare(self, wait: Wait) -> io::Result<Self> {
        let spins = wait == Wait::Spin;
        match &self {
            Self::Tcp(stream) => stream.set_nonblocking(spins)?,
            Self::Udp(socket) => socket.set_nonblocking(spins)?,
        }
        Ok(self)
    }
}

/// Asks again for as long as the socket is not ready, which only those that spin ever see.
fn persist(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            done => return done,
        }
    }
}
