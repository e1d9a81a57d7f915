//! Sockets that only programs of this host use: TCP on the loopback address, or sockets of the host.

use proto_rns::iface::LocalAddress;
use std::io;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

/// A connection between two programs of this host.
pub(crate) trait LocalStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> LocalStream for S {}

/// Takes connections of other programs.
#[derive(Debug)]
pub(crate) enum LocalListener {
    /// On the loopback address.
    Tcp(TcpListener),
    /// On a socket of the host.
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

impl LocalListener {
    /// Begins to listen.
    ///
    /// # Errors
    /// The address is taken, or cannot be had.
    pub(crate) fn bind(at: &LocalAddress) -> io::Result<Self> {
        match at {
            LocalAddress::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener).map(Self::Tcp)
            }
            #[cfg(unix)]
            LocalAddress::Unix(name) => tokio::net::UnixListener::bind(name).map(Self::Unix),
            #[cfg(not(unix))]
            LocalAddress::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Waits for the next connection. Cancel-safe.
    ///
    /// # Errors
    /// The operating system does not give what is needed.
    pub(crate) async fn accept(&self) -> io::Result<Box<dyn LocalStream>> {
        match self {
            Self::Tcp(listener) => Ok(Box::new(listener.accept().await?.0)),
            #[cfg(unix)]
            Self::Unix(listener) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

/// Connects to another program.
///
/// # Errors
/// It does not listen.
pub(crate) async fn connect(at: &LocalAddress) -> io::Result<Box<dyn LocalStream>> {
    match at {
        LocalAddress::Tcp(address) => Ok(Box::new(TcpStream::connect(address).await?)),
        #[cfg(unix)]
        LocalAddress::Unix(name) => Ok(Box::new(tokio::net::UnixStream::connect(name).await?)),
        #[cfg(not(unix))]
        LocalAddress::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}
