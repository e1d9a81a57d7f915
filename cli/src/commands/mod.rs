//! The commands, one module each.

mod demo;
mod dissect;
mod raknet;

use std::time::Duration;
use tokio::runtime::Builder;

use crate::{args::Command, failure::Failure, interrupt::Interrupt};

/// Runs a command on a runtime of its own.
pub(crate) fn run_to_end(command: Command) -> Result<(), Failure> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::network(format_args!("cannot start the runtime: {error}")))?;
    let ended = runtime.block_on(async {
        let ended = run(command, Interrupt::install()).await;
        if ended.is_err() {
            // Sessions that were dropped on the way out say goodbye to their peers meanwhile.
            tokio::time::sleep(FAREWELL).await;
        }
        ended
    });
    runtime.shutdown_background();
    ended
}

async fn run(command: Command, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Command::Demo(options) => interrupt.or(demo::run(options)).await,
        Command::Raknet(command) => raknet::run(command, interrupt).await,
        Command::Rns(command) => crate::rns::run(command, interrupt).await,
        #[cfg(target_os = "linux")]
        Command::Conn(command) => crate::conn::run(*command, interrupt).await,
        Command::Dissect(options) => interrupt.or(aside(move || dissect::run(&options))).await,
    }
}

/// Runs what blocks on a thread of its own, so that Ctrl-C is heard meanwhile.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(Failure::check)?
}

const FAREWELL: Duration = Duration::from_millis(100);
