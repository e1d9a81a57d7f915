//! Where received payloads are copied to.

use bytes::{Bytes, BytesMut};

use crate::limits::{SLAB_BYTES, SLAB_MAX_PAYLOAD};

/// Cuts payloads off a shared slab: one allocation for 4 KiB of them instead of one each.
///
/// A larger slab would save little more, but stays in memory as long as one payload of it is held.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    free: BytesMut,
}

impl Slab {
    /// Copies `payload`, the only copy on its way to the application.
    #[inline]
    pub(crate) fn copy(&mut self, payload: &[u8]) -> BytesMut {
        if payload.len() > SLAB_MAX_PAYLOAD {
            return BytesMut::from(payload);
        }
        // An old slab is taken again when nobody holds a part of it any more.
        if self.free.capacity() < payload.len() && !self.free.try_reclaim(payload.len()) {
            self.free = BytesMut::with_capacity(SLAB_BYTES);
        }
        self.free.extend_from_slice(payload);
        self.free.split()
    }

    /// Copies `payload` for good.
    #[inline]
    pub(crate) fn freeze(&mut self, payload: &[u8]) -> Bytes {
        self.copy(payload).freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_payloads_share_a_slab_and_long_ones_do_not() {
        let mut slab = Slab::default();
        let (a, b) = (slab.freeze(b"one"), slab.freeze(b"two"));
        assert_eq!((&a[..], &b[..]), (&b"one"[..], &b"two"[..]));
        assert_eq!(a.as_ptr() as usize + 3, b.as_ptr() as usize);
        let before = slab.free.capacity();
        assert_eq!(slab.freeze(&[7; 10_000]).len(), 10_000);
        assert_eq!(slab.free.capacity(), before);
    }
}
