//! Payloads that are handed out without copies, and the memory they come from.

mod filling;
mod payload;
mod pool;

pub use filling::Filling;
pub use payload::Payload;
pub use pool::Pool;
