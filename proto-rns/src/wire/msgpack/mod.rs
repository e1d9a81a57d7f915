//! MessagePack, as far as the protocol and the reference's files use it.
//!
//! [`Reader`] walks the known shapes without building anything and never recurses; [`Value`] holds a shape that is
//! only known to the application, up to a depth of [`MAX_DEPTH`].

mod read;
mod value;
mod write;

pub use read::{Reader, Shape, ShapeError};
pub use value::{MAX_DEPTH, Value};
pub use write::Writer;
