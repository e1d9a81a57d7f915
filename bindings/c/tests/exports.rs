//! What the shared library shows to others.

mod support;

use std::ffi::OsStr;
use support::{build, header};

#[test]
fn only_names_of_the_interface_are_exported_and_all_of_the_header_are() {
    let library = build::library();
    let arguments = [OsStr::new("-D"), OsStr::new("--defined-only"), library.as_os_str()];
    let Some(listed) = build::tool("nm", &arguments) else { return };
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let foreign: Vec<_> = names.iter().filter(|name| !name.starts_with("ic_")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let header = std::fs::read_to_string(header::path()).unwrap();
    for name in &names {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
    assert!(names.len() > 60, "{}", names.len());
}

#[test]
fn the_shared_library_is_named_by_its_interface() {
    let library = build::library();
    let Some(listed) = build::tool("objdump", &[OsStr::new("-p"), library.as_os_str()]) else { return };
    let named = listed.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("SONAME") && words.next() == Some("libiolite_conn.so.1")
    });
    assert!(named, "{listed}");
}
