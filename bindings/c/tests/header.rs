//! The committed header is the source's, and C and C++ compilers take it without a word.

mod support;

use support::{build, header};

#[test]
fn the_committed_header_is_made_from_the_source() {
    let made = header::generate();
    if std::env::var_os("IOLITE_UPDATE_HEADER").is_some() {
        std::fs::write(header::path(), &made).unwrap();
    }
    let committed = std::fs::read_to_string(header::path()).unwrap_or_default();
    assert!(
        made == committed,
        "include/iolite_conn.h differs from the source: IOLITE_UPDATE_HEADER=1 cargo test -p iolite-conn-c --test header"
    );
}

#[test]
fn the_header_is_c11_and_cpp17_without_a_warning() {
    let Some(tools) = build::Tools::find() else { return };
    tools.c("tests/abi.c", "abi-c", &[]);
    tools.cpp("tests/abi.cpp", "abi-cpp", &[]);
    tools.run("abi-c", &[]);
    tools.run("abi-cpp", &[]);
}
