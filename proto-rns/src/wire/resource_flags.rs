//! What an advertisement says about a resource in one byte (spec 1.12, step 5).

/// The kind of a resource's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceFlags {
    /// The stream is a token; on links it always is.
    pub encrypted: bool,
    /// The contents are a bz2 stream.
    pub compressed: bool,
    /// The resource has more than one segment.
    pub split: bool,
    /// The contents are a request.
    pub is_request: bool,
    /// The contents are a response.
    pub is_response: bool,
    /// The contents begin with a block of metadata.
    pub has_metadata: bool,
}

impl ResourceFlags {
    /// Reads the flags. Bits that the protocol does not define mean nothing, as in the reference.
    pub const fn from_byte(byte: u8) -> Self {
        Self {
            encrypted: byte & 0x01 != 0,
            compressed: byte & 0x02 != 0,
            split: byte & 0x04 != 0,
            is_request: byte & 0x08 != 0,
            is_response: byte & 0x10 != 0,
            has_metadata: byte & 0x20 != 0,
        }
    }

    /// Returns the byte on the wire.
    pub const fn to_byte(self) -> u8 {
        self.encrypted as u8
            | (self.compressed as u8) << 1
            | (self.split as u8) << 2
            | (self.is_request as u8) << 3
            | (self.is_response as u8) << 4
            | (self.has_metadata as u8) << 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defined_bits_survive_the_round_trip_and_the_others_are_dropped() {
        assert!((0..=u8::MAX).all(|byte| ResourceFlags::from_byte(byte).to_byte() == byte & 0x3f));
    }
}
