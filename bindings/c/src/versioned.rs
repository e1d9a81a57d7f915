//! Structures that may grow.

use proto_conn::{Code, Error, Phase};

use crate::view::bad_pointer;

/// A structure that begins with its own size as its user knows it, so that a later library can append to it.
///
/// # Safety
/// It is `repr(C)`, its first field is the size as a `u32`, and any bytes are a value of each other field.
pub(crate) unsafe trait Versioned: Copy {
    /// The size that it had in the interface's first version.
    const FIRST_SIZE: usize;

    /// Fills a structure of C's, as far as that goes.
    ///
    /// # Safety
    /// Where `out` is not null, it points to as many bytes as its first field says, which nobody else uses.
    unsafe fn fill(self, out: *mut Self) -> Result<(), Error> {
        if out.is_null() {
            return Err(bad_pointer("the structure"));
        }
        // SAFETY: the first field is the size, which the caller has set.
        let size = unsafe { out.cast::<u32>().read_unaligned() };
        let len = usize::try_from(size).unwrap_or_default().min(size_of::<Self>());
        if len < Self::FIRST_SIZE {
            let detail = "struct_size is not set";
            return Err(Error::new(Code::AbiMismatch, Phase::Arguments).with_detail(detail));
        }
        // SAFETY: both have at least `len` bytes; the caller's are its own.
        unsafe {
            core::ptr::copy_nonoverlapping((&raw const self).cast::<u8>(), out.cast::<u8>(), len);
            out.cast::<u32>().write_unaligned(size);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Sample {
        struct_size: u32,
        old: u32,
        new: u32,
    }

    // SAFETY: it is as the trait wants it.
    unsafe impl Versioned for Sample {
        const FIRST_SIZE: usize = 8;
    }

    #[test]
    fn what_the_caller_does_not_know_of_is_left_alone() {
        let value = Sample { struct_size: 0, old: 1, new: 2 };
        let fill = |struct_size| {
            let mut out = Sample { struct_size, old: 7, new: 8 };
            // SAFETY: it has at least as many bytes as it says, or says too few.
            let outcome = unsafe { value.fill(&mut out) };
            assert_eq!(out.struct_size, struct_size);
            (outcome.is_ok(), out.old, out.new)
        };
        assert_eq!(fill(12), (true, 1, 2));
        assert_eq!(fill(8), (true, 1, 8));
        assert_eq!(fill(0), (false, 7, 8));
    }

    #[test]
    fn a_caller_from_the_future_gets_what_there_is() {
        #[repr(C)]
        struct Later {
            sample: Sample,
            more: u32,
        }
        let mut out = Later { sample: Sample { struct_size: 16, old: 0, new: 0 }, more: 9 };
        // SAFETY: it has as many bytes as it says.
        unsafe { Sample { struct_size: 0, old: 1, new: 2 }.fill((&raw mut out).cast()) }.unwrap();
        assert_eq!((out.sample.struct_size, out.sample.new, out.more), (16, 2, 9));
    }
}
