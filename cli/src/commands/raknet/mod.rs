//! The commands of RakNet.

mod bench;
mod ping;
mod proxy;
mod send;
mod serve;

use crate::{args::raknet::Raknet, failure::Failure, interrupt::Interrupt};

/// Runs one of them.
pub(crate) async fn run(command: Raknet, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Raknet::Ping(options) => ping::run(options, interrupt).await,
        Raknet::Serve(options) => serve::run(options, interrupt).await,
        Raknet::Send(options) => interrupt.or(send::run(options)).await,
        Raknet::Proxy(options) => proxy::run(options, interrupt).await,
        Raknet::Bench(options) => interrupt.or(bench::run(options)).await,
    }
}
