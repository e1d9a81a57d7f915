//! Stream sockets in tokio's reactor.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use portable::TokioStream;
#[cfg(unix)]
pub use unix::TokioStream;
