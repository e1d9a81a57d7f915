//! Where received payloads are copied to.

use bytes::{Bytes, BytesMut};

use crate::limits::{SLAB_BYTES, SLAB_MAX_PAYLOAD};

/// Cuts payloads off a shared slab: one allocation for up to 64 KiB of them instead of one each.
///
/// The slab starts small and doubles while payloads are still held when it runs out, so an endpoint whose messages are
/// taken at once needs but a few KiB.
#[derive(Debug)]
pub(crate) struct Slab {
    free: BytesMut,
    size: usize,
}

impl Default for Slab {
    fn default() -> Self {
        Self { free: BytesMut::new(), size: MIN_SLAB_BYTES }
    }
}

const MIN_SLAB_BYTES: usize = 4 * 1024;

impl Slab {
    /// Copies `payload`, the only copy on its way to the application.
    #[inline]
    pub(crate) fn copy(&mut self, payload: &[u8]) -> BytesMut {
        if payload.len() > SLAB_MAX_PAYLOAD {
            return BytesMut::from(payload);
        }
        // An old slab is taken again when nobody holds a part of it any more.
        if self.free.capacity() < payload.len() && !self.free.try_reclaim(payload.len()) {
            self.free = BytesMut::with_capacity(self.size.max(payload.len()));
            self.size = (self.size * 2).min(SLAB_BYTES);
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
