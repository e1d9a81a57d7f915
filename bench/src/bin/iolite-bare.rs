//! Benchmark peer: Iolite's RakNet in a blocking loop of its own, without any runtime: what the runtime costs.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod settings;

#[cfg(not(target_os = "linux"))]
fn main() -> Result<(), bench_peer::Fault> {
    Err("this peer waits with epoll, which only Linux has".into())
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), bench_peer::Fault> {
    use bench_peer::{Command, Role};

    let command = Command::from_args()?;
    match command.role {
        Role::Server => bare::server::run(&command),
        Role::Client => bare::client::run(&command),
    }
}
