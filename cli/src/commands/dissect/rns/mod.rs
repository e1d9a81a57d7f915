//! Reticulum's packets: in datagrams, and in frames on TCP streams.
//!
//! - [`keys`]: what the user gives to look behind access codes and encryption.
//! - [`stream`]: from TCP segments to frames.
//! - [`judge`]: whether bytes are Reticulum's at all.
//! - [`packet`]: from a frame to a tree of fields.
//! - [`memory`]: what earlier packets told that later ones need.

mod judge;
mod keys;
mod memory;
mod packet;
mod stream;

use netsim::capture::TcpSegment;
use proto_rns::{iface::Framing, wire::Packet};
use std::{collections::BTreeSet, net::SocketAddr};

use super::{decode::Dissection, node::Node};
use crate::{args::dissect::Dissect, failure::Failure};
use keys::{Keys, Unmasked};
use memory::Memory;
use stream::Streams;

/// Takes Reticulum apart. Packets are judged in the order of the capture.
#[derive(Debug)]
pub(super) struct Dissector {
    ports: Vec<u16>,
    keys: Keys,
    memory: Memory,
    streams: Streams,
    /// Ends between which Reticulum was spoken without doubt.
    spoken: BTreeSet<(SocketAddr, SocketAddr)>,
}

impl Dissector {
    /// Creates one with the keys that the user gave.
    ///
    /// # Errors
    /// A file with an identity cannot be read.
    pub(super) fn new(options: &Dissect) -> Result<Self, Failure> {
        Ok(Self {
            ports: options.rns_port.clone(),
            keys: Keys::read(options)?,
            memory: Memory::default(),
            streams: Streams::new(if options.rns_kiss { Framing::Kiss } else { Framing::Hdlc }),
            spoken: BTreeSet::new(),
        })
    }

    /// Decodes a datagram, if it is Reticulum's.
    pub(super) fn datagram(
        &mut self,
        from: SocketAddr,
        to: SocketAddr,
        payload: &[u8],
    ) -> Option<Dissection> {
        self.frame(from, to, payload)
    }

    /// Takes in a TCP segment; returns the frames that end in it, each with what it is.
    pub(super) fn segment(&mut self, segment: &TcpSegment<'_>) -> Vec<(Vec<u8>, Dissection)> {
        let (from, to) = (segment.from, segment.to);
        let frames = self.streams.take_in(segment);
        frames
            .into_iter()
            .filter_map(|frame| {
                let dissection = self.frame(from, to, &frame)?;
                Some((frame, dissection))
            })
            .collect()
    }

    fn frame(&mut self, from: SocketAddr, to: SocketAddr, frame: &[u8]) -> Option<Dissection> {
        let ends = if from < to { (from, to) } else { (to, from) };
        let expected = self.is_expected(from, to) || self.spoken.contains(&ends);
        let mut opened = frame.to_vec();
        let opened = match self.keys.unmask(&mut opened) {
            Unmasked::Open(packet) => packet,
            Unmasked::Masked => {
                return expected.then(|| Dissection::Whole(masked(frame.len())));
            }
        };
        match Packet::parse(opened) {
            Ok(packet) => {
                let certain = judge::is_certain(&packet);
                if certain && self.spoken.len() < MOST_ENDS {
                    self.spoken.insert(ends);
                }
                (certain || expected).then(|| packet::decode(&packet, &self.keys, &mut self.memory))
            }
            Err(reason) if expected => {
                let (node, offset) = (Node::new("Packet").data(opened), frame.len());
                Some(Dissection::Damaged { node, offset, reason: reason.to_string() })
            }
            Err(_) => None,
        }
    }

    fn is_expected(&self, from: SocketAddr, to: SocketAddr) -> bool {
        [from, to].iter().any(|end| self.ports.contains(&end.port()))
    }
}

fn masked(len: usize) -> Node {
    Node::new("Masked").brief("bytes", len).brief("note", "an access code; see --ifac-name and --ifac-pass")
}

/// Pairs of ends that are remembered.
const MOST_ENDS: usize = 4_096;
