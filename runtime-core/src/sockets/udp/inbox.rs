//! The receive scratch that the drivers of a thread share.

use proto_core::{Datagram, Ecn, Instant, LinkId, Machine};
use quinn_udp::{EcnCodepoint, RecvMeta, UdpSockRef, UdpSocketState};
use std::{
    cell::RefCell,
    io::{self, IoSliceMut},
    num::NonZeroU32,
};

use crate::{runtime::Progress, stats::Traffic};

/// Buffers for one receive batch. Each can hold the longest run of datagrams that the kernel coalesces, but memory
/// is only touched, and so only counts as used, where datagrams were written.
#[derive(Debug)]
pub struct Inbox {
    memory: Box<[u8]>,
    metas: [RecvMeta; BATCH],
    filled: usize,
}

impl Inbox {
    /// Lends out this thread's inbox. A process with a thousand drivers has no more of them than threads.
    pub fn with<T>(act: impl FnOnce(&mut Self) -> T) -> T {
        thread_local! {
            static INBOX: RefCell<Inbox> = RefCell::new(Inbox::new());
        }
        INBOX.with_borrow_mut(act)
    }

    fn new() -> Self {
        Self { memory: vec![0; STRIDE * BATCH].into(), metas: [RecvMeta::default(); BATCH], filled: 0 }
    }

    /// Receives a batch into the buffers.
    ///
    /// # Errors
    /// The operating system's error; [`WouldBlock`](io::ErrorKind::WouldBlock) where nothing is there.
    pub fn fill(&mut self, socket: UdpSockRef<'_>, state: &UdpSocketState) -> io::Result<Progress<()>> {
        self.filled = 0;
        let mut rest = self.memory.chunks_exact_mut(STRIDE);
        let mut buffers: [IoSliceMut<'_>; BATCH] = std::array::from_fn(|_| {
            let buffer = rest.next().and_then(|chunk| chunk.get_mut(..BUFFER)).unwrap_or_default();
            IoSliceMut::new(buffer)
        });
        let filled = state.recv(socket, &mut buffers, &mut self.metas)?;
        self.filled = filled;
        // `recvmmsg` stops short of a full batch only when the queue is empty. A platform that receives one datagram
        // a call proves nothing by it.
        let last = filled < BATCH && quinn_udp::BATCH_SIZE >= BATCH;
        Ok(if last { Progress::Last(()) } else { Progress::More(()) })
    }

    /// Hands the batch to the machine, datagram by datagram, and returns how many there were.
    pub fn feed<M: Machine>(
        &mut self,
        machine: &mut M,
        now: Instant,
        link: LinkId,
        traffic: &mut Traffic,
    ) -> usize {
        let (mut datagrams, mut bytes) = (0, 0);
        for (buffer, meta) in self.memory.chunks_exact_mut(STRIDE).zip(&self.metas).take(self.filled) {
            let Some(run) = buffer.get_mut(..meta.len) else { continue };
            bytes += meta.len;
            let mut feed_one = |data| {
                datagrams += 1;
                let datagram = Datagram {
                    to: meta.dst_ip,
                    ecn: meta.ecn.map(to_core),
                    interface: meta.interface_index.and_then(NonZeroU32::new),
                    // The buffers are as long as datagrams can be.
                    is_truncated: false,
                    ..Datagram::new(link, meta.addr, data)
                };
                machine.handle_datagram(now, datagram);
            };
            if run.len() <= meta.stride {
                feed_one(run);
            } else {
                run.chunks_mut(meta.stride.max(1)).for_each(feed_one);
            }
        }
        self.filled = 0;
        traffic.add(datagrams, bytes);
        datagrams
    }
}

const fn to_core(ecn: EcnCodepoint) -> Ecn {
    match ecn {
        EcnCodepoint::Ect0 => Ecn::Ect0,
        EcnCodepoint::Ect1 => Ecn::Ect1,
        EcnCodepoint::Ce => Ecn::Ce,
    }
}

/// Datagrams, or coalesced runs of them, that one system call receives.
const BATCH: usize = 16;

/// The longest run that the kernel hands out at once.
const BUFFER: usize = 64 * 1024;

/// The distance of two buffers. The odd lines keep the buffers' heads, the only parts used when nothing is coalesced,
/// out of the same cache sets.
const STRIDE: usize = BUFFER + 1_536;
