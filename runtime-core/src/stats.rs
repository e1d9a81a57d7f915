//! What a driver counts.

use std::io;

/// The totals of one driver, over all its links.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// What came in.
    pub received: Traffic,
    /// What went out.
    pub sent: Traffic,
    /// Errors of the sockets when receiving, ICMP reports included, and of listeners when taking in.
    pub receive_errors: ErrorCounts,
    /// Errors of the sockets when sending; each stands for one datagram that was dropped, or for a stream that could not
    /// be connected or written to any more.
    pub send_errors: ErrorCounts,
    /// System calls that sent more than one datagram (segmentation offload).
    pub segmented_sends: u64,
    /// Segmented sends that the operating system refused, so that they were repeated datagram by datagram.
    pub refused_segmentations: u64,
    /// How often a link had no room, so that sending had to wait.
    pub blocked: u64,
    /// The operating system's number of the last error, where it had one. It says what a
    /// [`DownReason`](proto_core::DownReason) does not.
    pub last_os_error: Option<i32>,
}

impl Stats {
    /// Counts an error of receiving or taking in.
    pub fn count_receive_error(&mut self, error: &io::Error) {
        self.note(error);
        self.receive_errors.count(error);
    }

    /// Counts an error of connecting or sending.
    pub fn count_send_error(&mut self, error: &io::Error) {
        self.note(error);
        self.send_errors.count(error);
    }

    /// Takes note of an error that is none of a socket in use.
    pub fn note(&mut self, error: &io::Error) {
        self.last_os_error = error.raw_os_error().or(self.last_os_error);
    }
}

/// Counts of one direction.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams. Streams have none.
    pub datagrams: u64,
    /// Bytes, without the headers of IP, UDP and TCP.
    pub bytes: u64,
    /// System calls that moved them.
    pub batches: u64,
}

impl Traffic {
    /// Counts one system call.
    pub const fn add(&mut self, datagrams: usize, bytes: usize) {
        self.datagrams = self.datagrams.wrapping_add(datagrams as u64);
        self.bytes = self.bytes.wrapping_add(bytes as u64);
        self.batches = self.batches.wrapping_add(1);
    }
}

/// Errors of the operating system, by kind.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Nobody listens there (`ECONNREFUSED`, `ECONNRESET`).
    pub refused: u64,
    /// The datagram is too long for the path (`EMSGSIZE`).
    pub too_big: u64,
    /// There is no route or the interface is down (`ENETUNREACH`, `EHOSTUNREACH`, `ENETDOWN`).
    pub unreachable: u64,
    /// A firewall or a policy forbids it (`EPERM`, `EACCES`).
    pub forbidden: u64,
    /// Everything else.
    pub other: u64,
}

impl ErrorCounts {
    /// Returns the sum.
    pub const fn total(&self) -> u64 {
        self.refused + self.too_big + self.unreachable + self.forbidden + self.other
    }

    fn count(&mut self, error: &io::Error) {
        let counter = if quinn_udp::is_msg_size_err(error) {
            &mut self.too_big
        } else {
            #[allow(clippy::wildcard_enum_match_arm, reason = "the standard library's enum has no end")]
            match error.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => &mut self.refused,
                io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkDown
                | io::ErrorKind::AddrNotAvailable => &mut self.unreachable,
                io::ErrorKind::PermissionDenied => &mut self.forbidden,
                _ => &mut self.other,
            }
        };
        *counter = counter.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_kind() {
        let mut counts = ErrorCounts::default();
        counts.count(&io::ErrorKind::ConnectionRefused.into());
        counts.count(&io::ErrorKind::HostUnreachable.into());
        counts.count(&io::ErrorKind::PermissionDenied.into());
        counts.count(&io::ErrorKind::BrokenPipe.into());
        assert_eq!((counts.refused, counts.unreachable, counts.forbidden, counts.other), (1, 1, 1, 1));
        assert_eq!(counts.total(), 4);
    }
}
