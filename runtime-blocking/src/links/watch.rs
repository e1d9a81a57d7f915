//! Watching many descriptors at once.

use rustix::{
    event::{
        PollFd, PollFlags, Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
        poll,
    },
    io::Errno,
};
use std::{
    fmt, io,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use super::round::Wants;

/// A set of watched descriptors (`epoll(7)`), each with a number.
pub(super) struct Watch {
    epoll: OwnedFd,
}

impl Watch {
    /// Creates an empty set.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Changes what is watched of a descriptor.
    ///
    /// # Errors
    /// The system's limit of watched descriptors is reached.
    pub(super) fn change(&self, fd: impl AsFd, number: u64, before: Wants, after: Wants) -> io::Result<()> {
        let data = EventData::new_u64(number);
        match (before.any(), after.any()) {
            (false, false) => Ok(()),
            (false, true) => Ok(epoll::add(&self.epoll, fd, data, flags(after))?),
            (true, true) => Ok(epoll::modify(&self.epoll, fd, data, flags(after))?),
            // One that hung up would be reported forever.
            (true, false) => Ok(epoll::delete(&self.epoll, fd)?),
        }
    }

    /// Waits for descriptors that are ready and appends their numbers to `ready`.
    ///
    /// # Errors
    /// The operating system's error.
    pub(super) fn wait(&self, timeout: Option<Duration>, ready: &mut Vec<u64>) -> io::Result<()> {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; BATCH];
        match epoll::wait(&self.epoll, room.as_mut_slice(), timespec(timeout).as_ref()) {
            Ok((events, _)) => ready.extend(events.iter().map(|event| event.data.u64())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Waits for a link and for the bell, as precisely as the system can, and says which of them is ready.
///
/// # Errors
/// The operating system's error.
pub(super) fn wait_for_two(
    link: Option<(BorrowedFd<'_>, Wants)>,
    bell: Option<BorrowedFd<'_>>,
    timeout: Option<Duration>,
) -> io::Result<(bool, bool)> {
    // A descriptor that is given twice is not waited for twice; what stands in for a missing one asks for nothing.
    let Some(any) = link.map(|(fd, _)| fd).or(bell) else {
        poll(&mut [], timespec(timeout).as_ref()).or_else(interrupted)?;
        return Ok((false, false));
    };
    let link_flags = link.map_or(PollFlags::empty(), |(_, wants)| poll_flags(wants));
    let mut fds = [
        PollFd::from_borrowed_fd(link.map_or(any, |(fd, _)| fd), link_flags),
        PollFd::from_borrowed_fd(bell.unwrap_or(any), PollFlags::IN),
    ];
    let watched = match (link.is_some(), bell.is_some()) {
        (true, true) => fds.as_mut_slice(),
        (true, false) => fds.get_mut(..1).unwrap_or_default(),
        (false, _) => fds.get_mut(1..).unwrap_or_default(),
    };
    poll(watched, timespec(timeout).as_ref()).or_else(interrupted)?;
    let [of_link, of_bell] = fds.map(|fd| !fd.revents().is_empty());
    Ok((of_link, of_bell))
}

fn interrupted(error: Errno) -> Result<usize, Errno> {
    if error == Errno::INTR { Ok(0) } else { Err(error) }
}

fn flags(wants: Wants) -> EventFlags {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, wants.read);
    flags.set(EventFlags::OUT, wants.write);
    flags
}

fn poll_flags(wants: Wants) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, wants.read);
    flags.set(PollFlags::OUT, wants.write);
    flags
}

/// A time that is too long for the system is as good as none.
fn timespec(timeout: Option<Duration>) -> Option<Timespec> {
    timeout.and_then(|timeout| Timespec::try_from(timeout).ok())
}

/// Descriptors that one call reports.
const BATCH: usize = 256;
