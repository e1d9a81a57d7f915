//! Fixed bounds of the protocol and of this implementation. What can be tuned is in [`Config`](crate::Config).

use core::time::Duration;

/// Ordering channels between two peers (C++ `NUMBER_OF_ORDERED_STREAMS`).
pub const CHANNELS: u8 = 32;

/// The smallest MTU that any implementation accepts (spec 1.2).
pub const MIN_MTU: u16 = 400;

/// The largest MTU that a handshake may agree on (spec 1.2).
pub const MAX_MTU: u16 = 1492;

/// IPv4 and UDP headers: what "MTU" on the wire counts beside the UDP payload, over IPv6 too (spec 1.0).
pub const IP_UDP_HEADERS: u16 = 28;

/// Internal addresses that Bedrock writes into its handshake (protocol 10 and later).
pub const INTERNAL_ADDRESSES: usize = 20;

/// Internal addresses that stock RakNet writes (protocol 9 and earlier).
pub const INTERNAL_ADDRESSES_STOCK: usize = 10;

/// How far a datagram number may run ahead before the datagram is ignored (C++ `receivedPacketQueue`).
pub const MAX_DATAGRAM_JUMP: u32 = 50_000;

/// How many numbers of one gap are reported as missing (C++ sends 1,000 NAKs at most).
pub const MAX_NACK_SPAN: u32 = 1_000;

/// Ranges of received datagram numbers that a peer's history keeps; 8 bytes each.
pub const MAX_HISTORY_RANGES: usize = 512;

/// Ranges of acknowledged or missing numbers that wait to be sent; 8 bytes each.
pub const MAX_PENDING_RANGES: usize = 1_024;

/// How far a reliable number may run ahead of the oldest missing one.
///
/// C++ allows 1,000,000; no sender in use has more than a few thousand frames in flight, and a smaller window leaves
/// less room for forged numbers.
pub const MAX_RELIABLE_AHEAD: u32 = 65_536;

/// Holes in the window of received reliable numbers; 8 bytes each.
pub const MAX_RELIABLE_RANGES: usize = 4_096;

/// Sent datagrams that are remembered for late acknowledgements; 40 bytes each.
pub const MAX_SENT_HISTORY: usize = 16_384;

/// The size of the slabs that short received payloads share.
pub const SLAB_BYTES: usize = 2 * 1024;

/// Payloads longer than this get an allocation of their own.
pub const SLAB_MAX_PAYLOAD: usize = 512;

/// The longest payload of an out-of-band message (C++: below 400 bytes).
pub const MAX_OUT_OF_BAND: usize = 399;

/// Answers to offline messages that wait to be sent; further ones are dropped and counted.
pub const MAX_OFFLINE_REPLIES: usize = 1_024;

/// Events about addresses without a session (pongs, out-of-band messages) that wait; further ones are dropped and
/// counted.
pub const MAX_OFFLINE_EVENTS: usize = 1_024;

/// Receipts of one peer that may be open at a time; a further send with receipt is refused as full.
pub const MAX_RECEIPTS: usize = 65_536;

/// Pings waiting for their pong; a further one replaces the oldest.
pub const MAX_PENDING_PINGS: usize = 256;

/// Pongs that one peer gets between two ticks of [`PONG_TICK`] (spec 1.6).
pub const PONGS_A_TICK: u8 = 4;

/// The interval of [`PONGS_A_TICK`].
pub const PONG_TICK: Duration = Duration::from_millis(10);

/// Equal-sized datagrams in one transmit, whatever the driver allows.
pub const MAX_SEGMENTS: usize = 64;

/// Frames after which a run of datagrams ends: their receiver is busy with them for so long that it does better to begin
/// while the rest is being sent.
pub const MAX_FRAMES_A_RUN: usize = 32;
