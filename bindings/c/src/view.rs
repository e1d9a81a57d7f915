//! Bytes that pass the border without being copied.

use proto_conn::{Code, Error, Phase};
use std::ffi::{CStr, c_char};

/// Bytes that belong to somebody else. What has none at all, such as a field that is not there, has a null pointer.
/// There is no zero byte behind them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ic_slice {
    /// The first byte.
    pub ptr: *const u8,
    /// How many.
    pub len: usize,
}

impl ic_slice {
    /// What is not there.
    pub(crate) const NONE: Self = Self { ptr: core::ptr::null(), len: 0 };

    pub(crate) const fn of(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() }
    }
}

/// Reads bytes that C points to. A null pointer is as good as none, where there are to be none.
///
/// # Safety
/// Where `ptr` is not null, `len` bytes lie there, and do not change for as long as the result is used.
pub(crate) unsafe fn bytes<'a>(ptr: *const u8, len: usize) -> Result<&'a [u8], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() || isize::try_from(len).is_err() {
        return Err(bad_pointer("bytes"));
    }
    // SAFETY: the caller vouches for the memory, and its length is one that memory can have.
    Ok(unsafe { core::slice::from_raw_parts(ptr, len) })
}

/// Reads room that C gives to write to.
///
/// # Safety
/// As for [`bytes`], and nobody else uses the memory meanwhile. Its bytes have been written before, or are only
/// written to.
pub(crate) unsafe fn room<'a>(ptr: *mut u8, len: usize) -> Result<&'a mut [u8], Error> {
    if len == 0 {
        return Ok(&mut []);
    }
    if ptr.is_null() || isize::try_from(len).is_err() {
        return Err(bad_pointer("the buffer"));
    }
    // SAFETY: the caller vouches for the memory, and its length is one that memory can have.
    Ok(unsafe { core::slice::from_raw_parts_mut(ptr, len) })
}

/// Reads text that ends with a zero byte; `None` for a null pointer.
///
/// # Safety
/// Where `ptr` is not null, a zero byte ends what lies there, and it does not change for as long as the result is used.
pub(crate) unsafe fn optional_text<'a>(ptr: *const c_char) -> Result<Option<&'a str>, Error> {
    if ptr.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller vouches for the zero byte.
    let text = unsafe { CStr::from_ptr(ptr) };
    text.to_str()
        .map(Some)
        .map_err(|_| Error::new(Code::BadMessage, Phase::Arguments).with_detail("text that is not UTF-8"))
}

/// Reads text that ends with a zero byte.
///
/// # Safety
/// As for [`optional_text`].
pub(crate) unsafe fn text<'a>(ptr: *const c_char) -> Result<&'a str, Error> {
    // SAFETY: passed on.
    unsafe { optional_text(ptr) }?.ok_or_else(|| bad_pointer("the text"))
}

/// Writes to where C wants a result.
///
/// # Safety
/// Where `out` is not null, it points to memory for a `T` that nobody else uses.
pub(crate) unsafe fn write<T>(out: *mut T, value: T) -> Result<(), Error> {
    if out.is_null() {
        return Err(bad_pointer("the result"));
    }
    // SAFETY: the caller vouches for the memory.
    unsafe { out.write(value) };
    Ok(())
}

pub(crate) fn bad_pointer(what: &str) -> Error {
    Error::new(Code::BadHandle, Phase::Arguments).with_detail(format!("a null pointer for {what}"))
}
