//! async-std as a runtime of the driver: all it takes to use another executor than smol's.

use runtime_core::Runtime;
use runtime_smol::Smol;
use socket2::Socket;
use std::{io, net::UdpSocket, time::Instant};

/// async-std's executor with async-io's sockets and timers.
pub(crate) struct AsyncStd;

impl Runtime for AsyncStd {
    type Udp = <Smol as Runtime>::Udp;
    type Stream = <Smol as Runtime>::Stream;
    type Timer = <Smol as Runtime>::Timer;

    fn udp(socket: UdpSocket) -> io::Result<Self::Udp> {
        Smol::udp(socket)
    }

    fn stream(socket: Socket) -> io::Result<Self::Stream> {
        Smol::stream(socket)
    }

    fn timer() -> io::Result<Self::Timer> {
        Smol::timer()
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        drop(async_std::task::spawn(task));
    }

    fn now() -> Instant {
        Smol::now()
    }
}
