//! A UDP socket with the kernel's offloads, as a machine's only link.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;

use proto_core::{Datagram, Instant, LinkId, Machine, Transmit};
use quinn_udp::{RecvMeta, UdpSocketState};
use runtime_core::{DriverConfig, UdpOptions, bind_udp};

/// Where datagrams are received; one for all sockets of a loop.
pub(crate) struct Scratch {
    input: Vec<u8>,
    /// For the machine's outgoing bytes.
    pub(crate) output: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { input: vec![0; BUFFER * BATCH], output: Vec::new() }
    }
}

pub(crate) struct Socket {
    socket: UdpSocket,
    offload: UdpSocketState,
    max_segments: NonZeroUsize,
}

/// Whether a batch emptied the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batch {
    Full,
    Last,
}

impl Socket {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = bind_udp(address, UdpOptions::default())?;
        let offload = UdpSocketState::new((&socket).into())?;
        let max_segments = NonZeroUsize::new(offload.max_gso_segments()).unwrap_or(NonZeroUsize::MIN);
        let max_segments = max_segments.min(DriverConfig::default().segments_per_send);
        Ok(Self { socket, offload, max_segments })
    }

    pub(crate) fn inner(&self) -> &UdpSocket {
        &self.socket
    }

    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        self.max_segments
    }

    /// Hands one batch of datagrams to the machine.
    pub(crate) fn receive(
        &self,
        scratch: &mut Scratch,
        now: Instant,
        machine: &mut impl Machine,
    ) -> io::Result<Batch> {
        let mut metas = [RecvMeta::default(); BATCH];
        let mut rest = scratch.input.chunks_exact_mut(BUFFER);
        let mut buffers: [IoSliceMut<'_>; BATCH] =
            std::array::from_fn(|_| IoSliceMut::new(rest.next().unwrap_or_default()));
        let filled = match self.offload.recv((&self.socket).into(), &mut buffers, &mut metas) {
            Ok(filled) => filled,
            // A refusal tells of an earlier datagram that met a closed port.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => 0,
            Err(error) => return Err(error),
        };
        for (buffer, meta) in buffers.iter_mut().zip(&metas).take(filled) {
            let run = buffer.get_mut(..meta.len).unwrap_or_default();
            for datagram in run.chunks_mut(meta.stride.max(1)) {
                machine.handle_datagram(now, Datagram::new(LINK, meta.addr, datagram));
            }
        }
        Ok(if filled == BATCH { Batch::Full } else { Batch::Last })
    }

    /// Sends a transmit. What the kernel does not take counts as lost on the way: the protocol sends it again.
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8]) {
        let Some(destination) = transmit.to else { return };
        let segment = transmit.segment_len();
        let run = |contents, segment_size| quinn_udp::Transmit {
            destination,
            ecn: None,
            contents,
            segment_size,
            src_ip: None,
        };
        let whole = run(bytes, (bytes.len() > segment).then_some(segment));
        let sent = self.offload.try_send((&self.socket).into(), &whole);
        if bytes.len() > segment && sent.is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            // The path refuses runs: from now on one by one.
            self.max_segments = NonZeroUsize::MIN;
            for datagram in bytes.chunks(segment) {
                let _ = self.offload.try_send((&self.socket).into(), &run(datagram, None));
            }
        }
    }
}

/// An endpoint's only link.
pub(crate) const LINK: LinkId = LinkId(0);
/// Receive buffers of one system call.
const BATCH: usize = 16;
/// The longest run of datagrams that the kernel hands out at once; the odd lines keep the heads of buffers out of
/// the same cache sets.
const BUFFER: usize = 65_536 + 1_536;
