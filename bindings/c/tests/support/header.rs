//! Makes the header of what is exported.

use proto_conn::Code;
use std::path::{Path, PathBuf};

/// Returns where the header is kept.
pub(crate) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/iolite_conn.h")
}

/// Makes the header from the source.
pub(crate) fn generate() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.header = Some(TOP.into());
    config.after_includes = Some(codes());
    let sources = cbindgen::Builder::new().with_config(config).with_crate(root);
    let mut header = Vec::new();
    sources.generate().unwrap().write(&mut header);
    // What Rust's readers are told of safety is for C's readers in the description of each function and type.
    let text = String::from_utf8(header).unwrap();
    let text = text.replace("// # Safety\n", "// What the caller vouches for:\n");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Writes the error codes, which are the machine's.
fn codes() -> String {
    let mut text = String::from(
        "\n// What went wrong. Numbers from -1 to -199 that are not here are free for later ones.\nenum ic_code\n#ifdef \
         __cplusplus\n    : int32_t\n#endif // __cplusplus\n{\n    // No error.\n    IC_OK = 0,\n",
    );
    for code in Code::ALL {
        let name: String = format!("{code:?}")
            .chars()
            .flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain(c.to_uppercase()))
            .collect();
        let words = code.text();
        let (first, rest) = words.split_at(1);
        text += &format!("    // {}{rest}.\n    IC_E{name} = {},\n", first.to_uppercase(), *code as i32);
    }
    text + "};\n#ifndef __cplusplus\ntypedef int32_t ic_code;\n#endif // __cplusplus\n"
}

const TOP: &str = "\
// libiolite_conn: connections of the six schemes http, https, ws, wss, udp and udp_multicast.
//
// This file is made from the library's source; a test says how when the two differ.
//
// RETURN VALUES. Functions return 0 or a negative ic_code, and ic_last_error tells more. Nothing here sets errno, and
// nothing ends the process: what goes wrong inside is IC_E_PANIC, after which the handle can only be freed.
//
// OWNERSHIP. What is passed in is only used during the call, but for ic_msg_set_body_borrowed. Messages that come out
// are the caller's, until ic_msg_free or ic_recycle. Pointers into a message live as long as it.
//
// THREADS. A handle is used by one thread at a time; only ic_wake and ic_cancel may be called from any. Different
// handles have nothing to do with each other. There is nothing to initialize and nothing to clean up. The library has
// no threads, except that looking up a name takes one while it lasts.
//
// TIME. Deadlines are in ns: less than 0 is the connection's own (each phase has one), 0 is not to wait.
//
// STRUCTURES that begin with struct_size must have it set to their size by the caller, so that they may grow.
//
// MEMORY is the C library's malloc; another allocator cannot be set.";
