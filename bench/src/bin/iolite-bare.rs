//! Benchmark peer: Iolite's RakNet in a blocking loop of its own, without any runtime: what the runtime costs.

#![forbid(unsafe_code)]

mod bare;
mod settings;

use bench_peer::{Command, Fault, Role};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Server => bare::server::run(&command),
        Role::Client => bare::client::run(&command),
    }
}
