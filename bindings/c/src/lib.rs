//! `libiolite_conn`: connections of the six schemes behind a C interface.
//!
//! The interface is described in `include/iolite_conn.h`, which is made from the documentation of the items here.
//! Each function here does no more than to check what it was given, call the connection, and turn the outcome into a
//! number:
//!
//! ```text
//! C call -> guard (panics end here) -> handle (is it one? is it free?) -> runtime_blocking::conn::Connection
//! ```

#![deny(missing_docs)]
#![allow(non_camel_case_types, reason = "these are C's names")]
#![allow(unreachable_pub, reason = "the functions are exported by their names, not by paths")]
#![cfg(target_os = "linux")]

mod calls;
mod error;
mod events;
mod fast;
mod guard;
mod handle;
mod loops;
mod msg;
mod options;
mod time;
mod version;
mod versioned;
mod view;

pub use calls::*;
pub use error::*;
pub use events::*;
pub use fast::*;
pub use handle::ic_conn;
pub use loops::*;
pub use msg::*;
pub use options::*;
pub use version::*;
pub use view::*;
