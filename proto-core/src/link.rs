//! Links: what a machine speaks over, how it asks for them, and what it sends on them.

use alloc::string::String;
use core::{
    net::{IpAddr, SocketAddr},
    num::{NonZeroU32, NonZeroUsize},
};

/// A numbered path between a machine and its driver: a UDP socket, a TCP stream, a serial line.
///
/// Numbers below [`FIRST_ACCEPTED`](Self::FIRST_ACCEPTED) are the machine's to give, those from there on the driver's,
/// for the streams that a listener takes in. One is not reused before its close was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// The first number of an accepted stream.
    pub const FIRST_ACCEPTED: Self = Self(1 << 31);
}

/// The explicit congestion notification of an IP packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// One datagram on its way into a machine; the machine may change `data` in place.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// The link on which it arrived.
    pub link: LinkId,
    /// The sender.
    pub from: SocketAddr,
    /// The local address it was sent to, where the driver knows it.
    pub to: Option<IpAddr>,
    /// The congestion mark of its IP packet, where the driver knows it.
    pub ecn: Option<Ecn>,
    /// The index of the network interface by which it came, where the driver knows it.
    pub interface: Option<NonZeroU32>,
    /// It was longer than the driver's buffer, so that its end is missing.
    pub is_truncated: bool,
    /// The payload, without IP and UDP headers.
    pub data: &'a mut [u8],
}

impl<'a> Datagram<'a> {
    /// Creates a whole datagram without local address, congestion mark and interface.
    pub const fn new(link: LinkId, from: SocketAddr, data: &'a mut [u8]) -> Self {
        Self { link, from, to: None, ecn: None, interface: None, is_truncated: false, data }
    }
}

/// A description of the bytes that [`poll_transmit`](crate::Machine::poll_transmit) just appended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The link to send on.
    pub link: LinkId,
    /// The destination on a datagram link; `None` on a stream link.
    pub to: Option<SocketAddr>,
    /// The local address to send from, where it matters.
    pub from: Option<IpAddr>,
    /// The congestion mark to set.
    pub ecn: Option<Ecn>,
    /// How many bytes were appended.
    pub len: usize,
    /// `Some(s)`: the bytes are several datagrams, each `s` long but the last, which may be shorter.
    pub segment: Option<NonZeroUsize>,
}

impl Transmit {
    /// Describes a single datagram of `len` bytes.
    pub const fn datagram(link: LinkId, to: SocketAddr, len: usize) -> Self {
        Self { link, to: Some(to), from: None, ecn: None, len, segment: None }
    }

    /// Describes `len` bytes for a stream link.
    pub const fn stream(link: LinkId, len: usize) -> Self {
        Self { link, to: None, from: None, ecn: None, len, segment: None }
    }

    /// Returns the size of every datagram but the last.
    pub fn segment_len(&self) -> usize {
        self.segment.map_or(self.len, NonZeroUsize::get)
    }

    /// Returns the number of datagrams that the bytes hold.
    pub fn segments(&self) -> usize {
        self.segment.map_or(1, |s| self.len.div_ceil(s.get()))
    }
}

/// What a machine asks of its driver about links.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRequest {
    /// Open `link`; the answer is [`LinkEvent::Up`] or [`LinkEvent::Down`].
    Open {
        /// The machine's number for it.
        link: LinkId,
        /// What to open.
        spec: LinkSpec,
    },
    /// Close `link`. Nothing more is reported of it but [`LinkEvent::Down`].
    Close {
        /// The link to close.
        link: LinkId,
    },
}

/// The kinds of link that a machine can ask for. A driver answers a kind it does not have with
/// [`DownReason::Unsupported`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkSpec {
    /// A UDP socket bound to `bind`; connected to `peer` where given.
    Udp {
        /// The local address.
        bind: SocketAddr,
        /// The only peer, if there is but one. Where it is given, that it is unreachable is told as
        /// [`LinkEvent::Unreachable`].
        peer: Option<SocketAddr>,
        /// What else the socket is to be set to.
        options: DatagramOptions,
    },
    /// A UDP socket that joined a multicast group.
    UdpMulticast {
        /// The group and port.
        group: SocketAddr,
        /// The interface to join and to send on.
        interface: Interface,
        /// The only sender to hear (RFC 4607), if the group is source-specific.
        source: Option<IpAddr>,
        /// Whether the host's own members hear what is sent.
        loopback: bool,
        /// What else the socket is to be set to; without a `ttl` it is 1.
        options: DatagramOptions,
    },
    /// A TCP connection to `peer`.
    TcpConnect {
        /// The address to connect to.
        peer: SocketAddr,
    },
    /// A TCP listener on `bind`; each stream that it takes in is reported with [`LinkEvent::Accepted`].
    TcpListen {
        /// The local address.
        bind: SocketAddr,
    },
    /// A connection to a local socket of the host (`AF_UNIX`).
    UnixConnect {
        /// Its path; a leading NUL means Linux's abstract name space.
        path: String,
    },
    /// A listener on a local socket of the host; streams are reported as with [`TcpListen`](Self::TcpListen).
    UnixListen {
        /// Its path; a leading NUL means Linux's abstract name space.
        path: String,
    },
    /// A serial line.
    Serial {
        /// The device's name.
        device: String,
        /// Bits a second.
        baud: u32,
    },
    /// The standard streams of a child process.
    Pipe {
        /// The command line.
        command: String,
    },
    /// A name to resolve; the addresses come back as the link's [`LinkEvent::Resolved`].
    Resolve {
        /// The host name.
        host: String,
        /// The port to put into the addresses.
        port: u16,
    },
}

/// A network interface of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The one that the operating system's routes lead to.
    Any,
    /// The one with this index.
    Index(NonZeroU32),
    /// The one with this name.
    Name(String),
}

/// What a datagram socket is to be set to, beyond its addresses. The default leaves everything to the operating
/// system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatagramOptions {
    /// Bytes that the operating system may hold for the application (`SO_RCVBUF`).
    pub receive_buffer: Option<u32>,
    /// Bytes that the operating system may hold for the network (`SO_SNDBUF`).
    pub send_buffer: Option<u32>,
    /// Hops that a datagram may take (`IP_TTL`, `IP_MULTICAST_TTL` and their like for IPv6).
    pub ttl: Option<u8>,
    /// The traffic class: DSCP in the upper six bits, ECN in the lower two (`IP_TOS`, `IPV6_TCLASS`).
    pub traffic_class: Option<u8>,
    /// Whether datagrams that are too long for the path are refused instead of fragmented (`IP_MTU_DISCOVER`).
    pub dont_fragment: Option<bool>,
    /// Lets other sockets bind the same address (`SO_REUSEADDR`).
    pub reuse_address: bool,
    /// Lets other sockets of the same user share the address and its load (`SO_REUSEPORT`).
    pub reuse_port: bool,
    /// The only interface to use, by name (`SO_BINDTODEVICE`).
    pub device: Option<String>,
}

/// What a driver reports of a link's life.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The link can be used.
    Up {
        /// The local address, where the link has one.
        local: Option<SocketAddr>,
        /// The remote address, where the link has exactly one.
        peer: Option<SocketAddr>,
    },
    /// A listener took in a stream, and the link of this event is that stream, ready for use.
    ///
    /// It is the one kind of link that the driver numbers: from [`LinkId::FIRST_ACCEPTED`] up.
    Accepted {
        /// The listener's link.
        listener: LinkId,
        /// The remote address, where the link has one.
        peer: Option<SocketAddr>,
    },
    /// A name was resolved.
    Resolved {
        /// What it stands for, in order of preference; empty when it stands for nothing.
        addresses: alloc::vec::Vec<SocketAddr>,
    },
    /// The device is full: emit nothing for this link until [`LinkEvent::Writable`].
    Blocked,
    /// The device has room again.
    Writable,
    /// The operating system refused a datagram as too long for the path (`EMSGSIZE`).
    TooBig {
        /// Where it should have gone.
        to: SocketAddr,
        /// Its length in bytes, without IP and UDP headers.
        len: usize,
    },
    /// The network said that a connected socket's peer cannot be reached (ICMP). The socket lives on.
    Unreachable(DownReason),
    /// The peer will send no more on this stream.
    Eof,
    /// The link is gone. Nothing leaves for it any more.
    Down(DownReason),
}

/// Why a link went down.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DownReason {
    /// The machine asked for it.
    Closed,
    /// The peer refused the connection.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// There is no way to the peer.
    Unreachable,
    /// The attempt took too long.
    TimedOut,
    /// The driver has no links of this kind.
    Unsupported,
    /// The operating system said no for another reason; the driver logs which.
    Io,
}
