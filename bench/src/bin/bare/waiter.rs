//! Waiting for sockets and deadlines, precise to less than a millisecond.

use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use runtime_core::DriverConfig;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

/// One wait for many sockets. A socket that was not emptied is ready again at once.
///
/// Like Iolite's driver it looks for an answer for a moment before it sleeps, because waking up takes longer.
pub(crate) struct Waiter {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Waiter {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?, events: Vec::with_capacity(256) })
    }

    /// Watches a socket, which is called `index` from now on.
    pub(crate) fn watch(&self, socket: &UdpSocket, index: usize) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?)
    }

    /// Returns the sockets that can be read, after `patience` at the latest.
    #[allow(clippy::disallowed_methods, reason = "a driver is where the clock is read")]
    pub(crate) fn wait(
        &mut self,
        patience: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = usize> + use<'_>> {
        let spin = DriverConfig::default().spin.min(patience.unwrap_or(Duration::MAX));
        let began = Instant::now();
        self.events.clear();
        while self.events.is_empty() && began.elapsed() < spin {
            self.look(Some(Duration::ZERO))?;
        }
        if self.events.is_empty() {
            self.look(patience.map(|patience| patience.saturating_sub(spin)))?;
        }
        Ok(self.events.iter().filter_map(|event| usize::try_from(event.data.u64()).ok()))
    }

    fn look(&mut self, patience: Option<Duration>) -> io::Result<()> {
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), patience.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
