//! The C core of KCP in one event loop per process: a flush after every send (`each`) or one flush for all
//! datagrams that a wake-up found (`wake`).
//!
//! Both settings use nodelay(1, 10, 2, 1), windows of 64 / 128, an MTU of 1,400 bytes and message mode; the
//! acknowledgements leave with the flush, never later.

mod client;
mod core;
mod server;
mod session;

use bench_peer::{Command, Fault, Role};
use session::Flush;

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let flush = command.choose(&[("each", Flush::AfterEachSend), ("wake", Flush::AfterEachWake)])?;
    match command.role {
        Role::Server => server::run(command.address, flush, &command.load),
        Role::Client => client::run(command.address, flush, &command.load),
    }
}
