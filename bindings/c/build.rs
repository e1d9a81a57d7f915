//! Gives the shared library its name, in which the version of its interface stands.

/// As in `src/version.rs`; a test compares the two.
const ABI_MAJOR: u32 = 1;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libiolite_conn.so.{ABI_MAJOR}");
}
