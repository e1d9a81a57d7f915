//! Sending one transmit: in as few system calls as the socket allows, datagram by datagram where it must be.

use proto_core::{Ecn, LinkEvent, Transmit};
use quinn_udp::{EcnCodepoint, UdpSockRef, UdpSocketState};
use socket2::Socket;
use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    num::NonZeroUsize,
};

use crate::sockets::{Outbox, flags::SEND, unreachable_peer};

/// What sends datagrams without waiting.
trait Sender {
    /// Returns how many equal-sized datagrams one call takes at present.
    fn max_segments(&self) -> usize;

    /// Says whether the socket has one peer, of which the network may report that it cannot be reached.
    fn is_connected(&self) -> bool;

    fn try_send(&self, transmit: &quinn_udp::Transmit<'_>) -> io::Result<()>;
}

/// A datagram socket with what is known of its abilities.
#[derive(Clone, Copy, Debug)]
pub struct UdpSender<'a> {
    /// The socket.
    pub socket: &'a Socket,
    /// What it can do with batches, where it was prepared for them. Without, every datagram is a system call, and marks and
    /// local addresses are not set.
    pub state: Option<&'a UdpSocketState>,
    /// The only peer, where the socket is connected to one.
    pub peer: Option<SocketAddr>,
}

impl UdpSender<'_> {
    /// Sends the datagrams in `bytes` to `to` and returns how many bytes are done with. Fewer than all: the socket is full.
    ///
    /// A datagram that the operating system refuses for any other reason is counted, reported and done with.
    pub fn send(&self, transmit: &Transmit, to: SocketAddr, bytes: &[u8], out: &mut Outbox<'_>) -> usize {
        Outlet { sender: *self, transmit, to }.send(bytes, out)
    }
}

impl Sender for UdpSender<'_> {
    fn max_segments(&self) -> usize {
        self.state.map_or(1, UdpSocketState::max_gso_segments)
    }

    fn is_connected(&self) -> bool {
        self.peer.is_some()
    }

    fn try_send(&self, transmit: &quinn_udp::Transmit<'_>) -> io::Result<()> {
        let single = transmit.segment_size.is_none_or(|segment| transmit.contents.len() <= segment);
        let is_plain = single && transmit.ecn.is_none() && transmit.src_ip.is_none();
        match self.state {
            Some(state) if !is_plain => state.try_send(UdpSockRef::from(self.socket), transmit),
            // Without anything to say about the packet, the plainest call is the cheapest.
            _ if self.peer == Some(transmit.destination) => {
                self.socket.send_with_flags(transmit.contents, SEND).map(drop)
            }
            _ => self
                .socket
                .send_to_with_flags(transmit.contents, &transmit.destination.into(), SEND)
                .map(drop),
        }
    }
}

/// A transmit on its way through a sender.
struct Outlet<'a, S> {
    sender: S,
    transmit: &'a Transmit,
    to: SocketAddr,
}

impl<S: Sender> Outlet<'_, S> {
    /// Sends the datagrams in `bytes` and returns how many bytes are done with.
    fn send(&self, bytes: &[u8], out: &mut Outbox<'_>) -> usize {
        if bytes.is_empty() {
            // An empty datagram is one too. One that finds no room is lost, as the network may lose it.
            match self.try_send(bytes, out) {
                Ok(()) => out.count_sent(0, 0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => self.give_up(bytes, &error, out),
            }
            return 0;
        }
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let run = rest.get(..self.run_len(rest.len())).unwrap_or(rest);
            let sent = match self.try_send(run, out) {
                Ok(()) => {
                    out.count_sent(run.len(), self.transmit.segment_len());
                    run.len()
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(_) if run.len() > self.transmit.segment_len() => self.send_singly(run, out),
                Err(error) => {
                    self.give_up(run, &error, out);
                    run.len()
                }
            };
            done += sent;
            if sent < run.len() {
                break;
            }
        }
        done
    }

    /// Repeats a refused run one datagram at a time. The sender has already lowered its limit where the refusal means
    /// that there is no segmentation offload.
    fn send_singly(&self, run: &[u8], out: &mut Outbox<'_>) -> usize {
        out.count_refused_run();
        let mut done = 0;
        for datagram in run.chunks(self.transmit.segment_len().max(1)) {
            match self.try_send(datagram, out) {
                Ok(()) => out.count_sent(datagram.len(), datagram.len()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => self.give_up(datagram, &error, out),
            }
            done += datagram.len();
        }
        done
    }

    fn try_send(&self, contents: &[u8], out: &mut Outbox<'_>) -> io::Result<()> {
        let transmit = quinn_udp::Transmit {
            destination: self.to,
            ecn: self.transmit.ecn.map(to_quinn),
            contents,
            // quinn-udp takes the plain path by itself where the contents are a single segment.
            segment_size: self.transmit.segment.map(NonZeroUsize::get),
            src_ip: self.transmit.from,
        };
        match self.sender.try_send(&transmit) {
            Err(error) if self.sender.is_connected() && unreachable_peer(&error).is_some() => {
                // It may be what became of an earlier datagram, told instead of sending this one.
                self.give_up(contents, &error, out);
                self.sender.try_send(&transmit)
            }
            result => result,
        }
    }

    fn give_up(&self, datagram: &[u8], error: &io::Error, out: &mut Outbox<'_>) {
        out.count_error(error);
        if quinn_udp::is_msg_size_err(error) {
            out.report(self.transmit.link, LinkEvent::TooBig { to: self.to, len: datagram.len() });
        } else if self.sender.is_connected()
            && let Some(reason) = unreachable_peer(error)
        {
            out.report(self.transmit.link, LinkEvent::Unreachable(reason));
        }
    }

    /// Returns how many of the next `available` bytes go into one system call.
    fn run_len(&self, available: usize) -> usize {
        self.transmit.segment.map_or(available, |segment| {
            let datagrams = self.sender.max_segments().min(MAX_BYTES / segment).max(1);
            available.min(datagrams * segment.get())
        })
    }
}

const fn to_quinn(ecn: Ecn) -> EcnCodepoint {
    match ecn {
        Ecn::Ect0 => EcnCodepoint::Ect0,
        Ecn::Ect1 => EcnCodepoint::Ect1,
        Ecn::Ce => EcnCodepoint::Ce,
    }
}

/// The most bytes that one segmented send may carry: an IPv4 packet's 65,535 less its headers.
const MAX_BYTES: usize = 65_507;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stats;
    use proto_core::{DownReason, LinkId};
    use std::cell::{Cell, RefCell};

    /// Takes `room` system calls, and claims to take runs of `segments` datagrams.
    struct Fake {
        room: usize,
        segments: usize,
        refuses_runs: bool,
        /// What became of an earlier datagram.
        pending: Cell<Option<ErrorKind>>,
        sent: RefCell<Vec<usize>>,
    }

    impl Sender for &Fake {
        fn max_segments(&self) -> usize {
            self.segments
        }

        fn is_connected(&self) -> bool {
            true
        }

        fn try_send(&self, transmit: &quinn_udp::Transmit<'_>) -> io::Result<()> {
            const EIO: i32 = 5;
            const EMSGSIZE: i32 = 90;
            if let Some(kind) = self.pending.take() {
                return Err(kind.into());
            }
            let len = transmit.contents.len();
            let size = transmit.segment_size.unwrap_or(len);
            if self.sent.borrow().len() >= self.room {
                return Err(ErrorKind::WouldBlock.into());
            }
            if len > size && self.refuses_runs {
                return Err(io::Error::from_raw_os_error(EIO));
            }
            if len.min(size) > 1_472 {
                return Err(io::Error::from_raw_os_error(EMSGSIZE));
            }
            self.sent.borrow_mut().push(len);
            Ok(())
        }
    }

    fn fake(room: usize, segments: usize) -> Fake {
        Fake { room, segments, refuses_runs: false, pending: Cell::default(), sent: RefCell::default() }
    }

    struct Outcome {
        done: usize,
        stats: Stats,
        reports: Vec<(LinkId, LinkEvent)>,
    }

    fn send(sender: &Fake, segment: usize, len: usize) -> Outcome {
        let to = SocketAddr::from(([127, 0, 0, 1], 9));
        let transmit =
            Transmit { segment: NonZeroUsize::new(segment), ..Transmit::datagram(LinkId(3), to, len) };
        let (mut stats, mut reports) = (Stats::default(), Vec::new());
        let mut out = Outbox { stats: &mut stats, reports: &mut reports };
        let done = Outlet { sender, transmit: &transmit, to }.send(&vec![0; len], &mut out);
        Outcome { done, stats, reports }
    }

    #[test]
    fn a_run_is_cut_to_what_one_call_may_carry() {
        let sender = fake(9, 64);
        let outcome = send(&sender, 1_400, 64 * 1_400 - 1);
        assert_eq!(*sender.sent.borrow(), [46 * 1_400, 18 * 1_400 - 1]);
        assert_eq!((outcome.done, outcome.stats.segmented_sends), (64 * 1_400 - 1, 2));
        assert_eq!((outcome.stats.sent.datagrams, outcome.stats.sent.batches), (64, 2));
    }

    #[test]
    fn without_segmentation_every_datagram_is_a_call() {
        let sender = fake(9, 1);
        assert_eq!(send(&sender, 100, 250).done, 250);
        assert_eq!(*sender.sent.borrow(), [100, 100, 50]);
    }

    #[test]
    fn a_full_socket_leaves_whole_datagrams_for_later() {
        assert_eq!(send(&fake(2, 1), 100, 350).done, 200);
        assert_eq!(send(&fake(1, 64), 1_400, 64 * 1_400).done, 46 * 1_400);
        assert_eq!(send(&fake(0, 64), 100, 350).done, 0);
    }

    #[test]
    fn a_refused_run_is_repeated_datagram_by_datagram() {
        let sender = Fake { refuses_runs: true, ..fake(9, 64) };
        let outcome = send(&sender, 100, 450);
        assert_eq!(*sender.sent.borrow(), [100, 100, 100, 100, 50]);
        assert_eq!((outcome.done, outcome.stats.refused_segmentations), (450, 1));
        assert_eq!(outcome.stats.send_errors.total(), 0);

        let sender = Fake { refuses_runs: true, ..fake(2, 64) };
        assert_eq!(send(&sender, 100, 450).done, 200);
    }

    #[test]
    fn a_report_about_an_earlier_datagram_costs_none() {
        let sender = fake(9, 64);
        sender.pending.set(Some(ErrorKind::ConnectionRefused));
        let outcome = send(&sender, 0, 100);
        assert_eq!((outcome.done, outcome.stats.send_errors.refused), (100, 1));
        assert_eq!(*sender.sent.borrow(), [100]);
        assert_eq!(outcome.reports, [(LinkId(3), LinkEvent::Unreachable(DownReason::Refused))]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_datagram_that_is_too_long_is_reported_and_done_with() {
        let sender = fake(9, 64);
        let outcome = send(&sender, 0, 1_500);
        assert_eq!((outcome.done, outcome.stats.send_errors.too_big), (1_500, 1));
        let to = SocketAddr::from(([127, 0, 0, 1], 9));
        assert_eq!(outcome.reports, [(LinkId(3), LinkEvent::TooBig { to, len: 1_500 })]);

        // Of a run, the shorter last one may still pass; equal reports are told once.
        let outcome = send(&sender, 1_500, 3_100);
        assert_eq!((outcome.done, outcome.stats.send_errors.too_big), (3_100, 2));
        assert_eq!((outcome.reports.len(), sender.sent.borrow().as_slice()), (1, [100].as_slice()));
    }
}
