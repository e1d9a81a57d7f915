//! Which interface this is.

use proto_conn::{Code, Error, Phase};

use crate::guard::guarded;

/// The version of the interface: its major number in the upper 16 bits, which grows when something is taken away or
/// changed, and its minor number in the lower 16, which grows when something is added.
pub const IC_ABI_VERSION: u32 = 0x0001_0000;

/// Returns the interface's version that the library has: (major << 16) | minor. It is another number than the
/// library's own version.
#[unsafe(no_mangle)]
pub extern "C" fn ic_abi_version() -> u32 {
    IC_ABI_VERSION
}

/// Says whether a program that was compiled with the header of version `wanted` can use this library. Call it first,
/// with IC_ABI_VERSION.
///
/// Returns 0, or IC_E_ABI_MISMATCH: another major version, or a library that is older than the header.
#[unsafe(no_mangle)]
pub extern "C" fn ic_check_abi(wanted: u32) -> i32 {
    guarded(|| {
        let (major, minor) = (IC_ABI_VERSION >> 16, IC_ABI_VERSION & 0xffff);
        if wanted >> 16 == major && wanted & 0xffff <= minor {
            return Ok(());
        }
        let detail = format!(
            "the program wants interface {}.{}, the library has {major}.{minor}",
            wanted >> 16,
            wanted & 0xffff
        );
        Err(Error::new(Code::AbiMismatch, Phase::Arguments).with_detail(detail))
    })
}

/// Returns the library's name and version as text that lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn ic_version_string() -> *const core::ffi::c_char {
    const TEXT: &str = concat!("iolite_conn ", env!("CARGO_PKG_VERSION"), "\0");
    TEXT.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_same_version_is_welcome_and_others_are_not() {
        assert_eq!(ic_check_abi(IC_ABI_VERSION), 0);
        for other in [IC_ABI_VERSION + 1, IC_ABI_VERSION + (1 << 16), 0] {
            assert_eq!(ic_check_abi(other), Code::AbiMismatch as i32);
        }
    }

    #[test]
    fn the_library_is_named_by_the_major_version() {
        let named =
            include_str!("../build.rs").contains(&format!("ABI_MAJOR: u32 = {};", IC_ABI_VERSION >> 16));
        assert!(named);
    }
}
