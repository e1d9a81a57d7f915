//! What an error of the operating system means for a link.

use proto_core::DownReason;
use std::io::{self, ErrorKind};

/// Says why a link goes down with `error`.
pub fn reason_of(error: &io::Error) -> DownReason {
    if is_missing_device(error) {
        return DownReason::Unreachable;
    }
    #[allow(clippy::wildcard_enum_match_arm, reason = "the standard library's enum has no end")]
    match error.kind() {
        ErrorKind::ConnectionRefused => DownReason::Refused,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            DownReason::Reset
        }
        ErrorKind::NetworkUnreachable
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::NotFound
        | ErrorKind::AddrNotAvailable => DownReason::Unreachable,
        ErrorKind::TimedOut => DownReason::TimedOut,
        ErrorKind::Unsupported => DownReason::Unsupported,
        _ => DownReason::Io,
    }
}

/// Says what the network reported of a connected datagram socket's peer, if `error` is such a report (ICMP).
pub fn unreachable_peer(error: &io::Error) -> Option<DownReason> {
    let reason = reason_of(error);
    matches!(reason, DownReason::Refused | DownReason::Reset | DownReason::Unreachable).then_some(reason)
}

/// There is no network interface of that name or number.
#[cfg(unix)]
fn is_missing_device(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::NODEV)
}

#[cfg(not(unix))]
const fn is_missing_device(_error: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_reasons() {
        let reason = |kind: ErrorKind| reason_of(&kind.into());
        assert_eq!(reason(ErrorKind::ConnectionRefused), DownReason::Refused);
        assert_eq!(reason(ErrorKind::BrokenPipe), DownReason::Reset);
        assert_eq!(reason(ErrorKind::HostUnreachable), DownReason::Unreachable);
        assert_eq!(reason(ErrorKind::TimedOut), DownReason::TimedOut);
        assert_eq!(reason(ErrorKind::PermissionDenied), DownReason::Io);
    }
}
