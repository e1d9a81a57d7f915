//! A link that takes in streams.

use proto_core::{Instant, LinkId, Machine};
use runtime_core::sockets::{ListenerSource, SocketFile};
use socket2::Socket;
use std::{io::ErrorKind, time::Duration};

use super::round::{Round, Turn, Wants};

/// One listening socket of a driver.
#[derive(Debug)]
pub(super) struct Listener {
    socket: Socket,
    /// Taking in failed, so it is not tried again before.
    resting_until: Option<Instant>,
    _file: Option<SocketFile>,
}

impl Listener {
    pub(super) fn new(source: ListenerSource) -> Self {
        let ListenerSource { socket, file, .. } = source;
        Self { socket, resting_until: None, _file: file }
    }

    /// Takes in a stream that waits, unless the machine wants to read nothing from the listener.
    pub(super) fn turn<M: Machine>(&mut self, link: LinkId, round: &mut Round<'_, M>) -> Turn {
        if self.resting_until.is_some_and(|until| round.now < until) {
            return Turn::Drained;
        }
        self.resting_until = None;
        if !round.machine.wants_read(link) {
            return Turn::HeldBack;
        }
        match ListenerSource::accept(&self.socket) {
            Ok((socket, peer)) => Turn::Accepted(socket, peer),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Turn::Drained
            }
            Err(error) => {
                round.stats.count_receive_error(&error);
                // A peer that gave up is no reason to rest; a process without free descriptors is.
                if error.kind() == ErrorKind::ConnectionAborted {
                    return Turn::More;
                }
                self.resting_until = Some(round.now + REST);
                Turn::Drained
            }
        }
    }

    pub(super) const fn wants(&self, held_back: bool) -> Wants {
        Wants { read: !held_back && self.resting_until.is_none(), write: false }
    }

    /// Returns when the listener wants a turn even if nothing happens.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.resting_until
    }

    pub(super) const fn socket(&self) -> &Socket {
        &self.socket
    }
}

/// How long a listener that cannot take in is left alone.
const REST: Duration = Duration::from_millis(50);
