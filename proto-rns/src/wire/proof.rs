//! Proofs of delivery (spec 1.9).
//!
//! ```text
//! implicit   signature 64
//! explicit   packet hash 32 | signature 64
//! ```

use super::Malformed;
use crate::{PacketHash, crypto::Signature};
use proto_core::Reader;

/// The data of a proof packet; its destination is the first half of the hash of the packet proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The hash of the packet proved, where the proof is explicit.
    pub packet: Option<PacketHash>,
    /// The signature over that hash.
    pub signature: Signature,
}

impl Proof {
    /// Parses the data of a proof packet; the length tells the two forms apart.
    ///
    /// # Errors
    /// It has neither form's length.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let packet = match data.len() {
            64 => None,
            96 => Some(PacketHash::new(reader.array()?)),
            len if len > 96 => return Err(Malformed::TooLong),
            _ => return Err(Malformed::Truncated),
        };
        Ok(Self { packet, signature: reader.array()? })
    }

    /// Appends the data of a proof packet.
    pub fn emit(&self, out: &mut alloc::vec::Vec<u8>) {
        if let Some(packet) = self.packet {
            out.extend_from_slice(packet.as_bytes());
        }
        out.extend_from_slice(&self.signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn both_forms_survive_the_round_trip_and_nothing_else_parses() {
        for len in 0..200 {
            let data: Vec<u8> = (0..len).collect();
            let parsed = Proof::parse(&data);
            if len == 64 || len == 96 {
                let mut out = Vec::new();
                parsed.unwrap().emit(&mut out);
                assert_eq!(out, data);
            } else {
                assert!(parsed.is_err(), "{len}");
            }
        }
    }
}
