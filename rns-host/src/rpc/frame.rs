//! Frames on an RPC connection: a length, then the payload.

use super::RpcError;

/// The longest request, in bytes.
pub const MAX_REQUEST: usize = 1 << 20;
/// The longest reply that a client takes, in bytes. A table of 65,536 paths has about 10 MiB.
pub const MAX_REPLY: usize = 64 << 20;
/// The longest frame while the two ends prove themselves.
pub(super) const MAX_HANDSHAKE: usize = 256;

/// Appends `payload` as a frame. The length is 32 bits wide, or -1 and then 64 bits.
pub(super) fn write_frame(payload: &[u8], out: &mut Vec<u8>) {
    match i32::try_from(payload.len()) {
        Ok(len) => out.extend_from_slice(&len.to_be_bytes()),
        Err(_) => {
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            out.extend_from_slice(&u64::try_from(payload.len()).unwrap_or(u64::MAX).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

/// Puts frames together from bytes in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    buffer: Vec<u8>,
}

impl FrameReader {
    /// Takes in bytes. Holds at most what came, so the caller polls for frames before it feeds more.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next frame that is whole.
    ///
    /// # Errors
    /// The frame is longer than `limit`, or its length is negative.
    pub(super) fn poll(&mut self, limit: usize) -> Result<Option<Vec<u8>>, RpcError> {
        let Some((head, len)) = self.head()? else { return Ok(None) };
        if len > limit {
            return Err(RpcError::TooLong { limit });
        }
        if self.buffer.len() - head < len {
            return Ok(None);
        }
        let rest = self.buffer.split_off(head + len);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.drain(..head);
        Ok(Some(frame))
    }

    /// Drops what has not become a frame.
    pub(super) fn clear(&mut self) {
        self.buffer = Vec::new();
    }

    /// Returns the lengths of the next frame's head and payload, once the head is there.
    fn head(&self) -> Result<Option<(usize, usize)>, RpcError> {
        let Some((short, rest)) = self.buffer.split_first_chunk() else { return Ok(None) };
        match i32::from_be_bytes(*short) {
            -1 => Ok(rest
                .first_chunk()
                .map(|long| (12, usize::try_from(u64::from_be_bytes(*long)).unwrap_or(usize::MAX)))),
            len => Ok(Some((4, usize::try_from(len).map_err(|_| RpcError::BadFrame)?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written_whatever_the_pieces(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..5),
            piece in 1_usize..20,
        ) {
            let mut stream = Vec::new();
            payloads.iter().for_each(|payload| write_frame(payload, &mut stream));
            let (mut reader, mut read) = (FrameReader::default(), Vec::new());
            for bytes in stream.chunks(piece) {
                reader.feed(bytes);
                while let Some(frame) = reader.poll(50).unwrap() {
                    read.push(frame);
                }
            }
            prop_assert_eq!(read, payloads);
        }
    }

    #[test]
    fn the_long_form_of_a_length_is_read() {
        let mut reader = FrameReader::default();
        reader.feed(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 7]);
        assert_eq!(reader.poll(2), Ok(None));
        reader.feed(&[8, 0]);
        assert_eq!(reader.poll(2), Ok(Some(vec![7, 8])));
    }

    #[test]
    fn a_length_beyond_the_limit_or_below_zero_is_refused_before_its_bytes_come() {
        let poll = |head: &[u8]| {
            let mut reader = FrameReader::default();
            reader.feed(head);
            reader.poll(9)
        };
        assert_eq!(poll(&[0, 0, 0, 10]), Err(RpcError::TooLong { limit: 9 }));
        assert_eq!(poll(&[0xff; 12]), Err(RpcError::TooLong { limit: 9 }));
        assert_eq!(poll(&[0xff, 0xff, 0xff, 0xfe]), Err(RpcError::BadFrame));
    }
}
