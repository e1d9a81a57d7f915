//! Opening what a machine asks for.

use proto_core::{DownReason, Instant, LinkEvent, LinkId, LinkSpec};
use std::{io, io::ErrorKind};

use super::{
    Ports,
    stream::{self, reason_of},
    udp::{UdpOptions, bind_multicast, bind_udp},
};
use crate::Runtime;

impl<R: Runtime> Ports<R> {
    /// Opens a link. What comes later is reported later.
    pub(super) fn open(&mut self, link: LinkId, spec: LinkSpec, now: Instant) -> Result<(), DownReason> {
        let opened = match spec {
            LinkSpec::Udp { bind, peer } => bind_udp(bind, UdpOptions::default()).and_then(|socket| {
                if let Some(peer) = peer {
                    socket.connect(peer)?;
                }
                self.add_udp(link, socket)
            }),
            LinkSpec::UdpMulticast { group, interface } => {
                bind_multicast(group, interface).and_then(|socket| self.add_udp(link, socket))
            }
            LinkSpec::TcpConnect { peer } => {
                stream::connect_tcp(peer).and_then(|socket| self.add_stream(link, socket, now))
            }
            LinkSpec::TcpListen { bind } => {
                stream::listen_tcp(bind).and_then(|socket| self.add_listener(link, socket))
            }
            LinkSpec::UnixConnect { path } => self.connect_unix(link, &path, now),
            LinkSpec::UnixListen { path } => self.listen_unix(link, &path),
            LinkSpec::Serial { device, baud } => self.open_serial(link, &device, baud, now),
            LinkSpec::Pipe { command } => self.spawn_pipe(link, &command, now),
            LinkSpec::Resolve { host, port } => self.switchboard.add_lookup(link, host, port),
            // The contract may grow kinds of link that this driver does not know.
            _ => Err(ErrorKind::Unsupported.into()),
        };
        opened.map_err(|error| reason_of(&error))
    }
}

#[cfg(unix)]
impl<R: Runtime> Ports<R> {
    fn connect_unix(&mut self, link: LinkId, path: &str, now: Instant) -> io::Result<()> {
        self.add_stream(link, stream::connect_unix(path)?, now)
    }

    fn listen_unix(&mut self, link: LinkId, path: &str) -> io::Result<()> {
        let (socket, file) = stream::listen_unix(path)?;
        self.switchboard.add_listener(link, socket, |listener| listener.with_file(file))?;
        self.reports.push((link, LinkEvent::Up { local: None, peer: None }));
        Ok(())
    }

    fn spawn_pipe(&mut self, link: LinkId, command: &str, now: Instant) -> io::Result<()> {
        self.switchboard.add_stream(link, stream::spawn_pipe(command)?, now)
    }
}

/// Systems without local sockets, and without their processes' descriptors.
#[cfg(not(unix))]
impl<R: Runtime> Ports<R> {
    fn connect_unix(&mut self, _link: LinkId, _path: &str, _now: Instant) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    fn listen_unix(&mut self, _link: LinkId, _path: &str) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    fn spawn_pipe(&mut self, _link: LinkId, _command: &str, _now: Instant) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl<R: Runtime> Ports<R> {
    #[cfg(all(unix, feature = "serial"))]
    fn open_serial(&mut self, link: LinkId, device: &str, baud: u32, now: Instant) -> io::Result<()> {
        self.switchboard.add_stream(link, stream::open_serial(device, baud)?, now)
    }

    #[cfg(not(all(unix, feature = "serial")))]
    fn open_serial(&mut self, _link: LinkId, _device: &str, _baud: u32, _now: Instant) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}
