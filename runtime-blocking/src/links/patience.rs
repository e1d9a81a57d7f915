//! Waiting in the receiving call itself, which saves the call that asks whether something is there.

use socket2::Socket;
use std::{io, time::Duration};

/// What a socket is set to for receiving.
#[derive(Debug, Default)]
pub(super) struct Patience {
    blocking: bool,
    /// `SO_RCVTIMEO`.
    timeout: Option<Duration>,
}

impl Patience {
    /// Has a receiving call without `MSG_DONTWAIT` wait until something arrives, for less than `left`. Says no where so
    /// little is left that only `ppoll(2)` is precise enough.
    ///
    /// The timeout is a power of two that ends early rather than late, so that it can stay as it is for many calls, whose
    /// deadlines all differ.
    ///
    /// # Errors
    /// The operating system does not let the socket wait.
    pub(super) fn prepare(&mut self, socket: &Socket, left: Option<Duration>) -> io::Result<bool> {
        if left.is_some_and(|left| left < SHORT) {
            return Ok(false);
        }
        if !self.blocking {
            socket.set_nonblocking(false)?;
            self.blocking = true;
        }
        if !self.fits(left) {
            let timeout = left.map(|left| below(left.saturating_sub(MARGIN)));
            socket.set_read_timeout(timeout)?;
            self.timeout = timeout;
        }
        Ok(true)
    }

    fn fits(&self, left: Option<Duration>) -> bool {
        match (self.timeout, left) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(timeout), None) => timeout >= LONG,
            (Some(timeout), Some(left)) => {
                timeout + MARGIN <= left && (timeout >= LONG || timeout * 4 >= left)
            }
        }
    }
}

/// Returns the power of two milliseconds at or below `time`.
fn below(time: Duration) -> Duration {
    let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1);
    Duration::from_millis(1 << millis.ilog2())
}

/// The kernel counts these timeouts in ticks of up to ten milliseconds.
const MARGIN: Duration = Duration::from_millis(10);

/// Waits that are shorter need a more precise call.
const SHORT: Duration = Duration::from_millis(20);

/// A timeout that is too short by far does no harm if it is at least so long.
const LONG: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn socket() -> Socket {
        std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into()
    }

    #[test]
    fn one_timeout_serves_many_deadlines_and_never_ends_late() {
        let (socket, mut patience) = (socket(), Patience::default());
        let mut changes = 0;
        for left in (20..=5_000).rev() {
            let (left, before) = (Duration::from_millis(left), patience.timeout);
            assert!(patience.prepare(&socket, Some(left)).unwrap());
            changes += usize::from(patience.timeout != before);
            let timeout = socket.read_timeout().unwrap().unwrap();
            assert!(timeout < left && (timeout >= LONG || timeout * 4 >= left), "{timeout:?} of {left:?}");
        }
        assert!(changes <= 10, "{changes}");
        assert!(!patience.prepare(&socket, Some(Duration::from_millis(19))).unwrap());
    }

    #[test]
    fn without_a_deadline_a_short_timeout_goes_away() {
        let (socket, mut patience) = (socket(), Patience::default());
        patience.prepare(&socket, Some(Duration::from_millis(100))).unwrap();
        assert!(socket.read_timeout().unwrap().is_some());
        patience.prepare(&socket, None).unwrap();
        assert_eq!(socket.read_timeout().unwrap(), None);
    }
}
