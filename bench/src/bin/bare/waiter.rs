//! Waiting for sockets and deadlines, precise to less than a millisecond.

use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

/// One wait for many sockets. A socket that was not emptied is ready again at once.
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
    pub(crate) fn wait(
        &mut self,
        patience: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = usize> + use<'_>> {
        self.events.clear();
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), patience.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.events.iter().filter_map(|event| usize::try_from(event.data.u64()).ok()))
    }
}
