//! Benchmark contender: Iolite's client of the six schemes in a blocking loop, against Iolite's server in another thread or
//! whatever peer it is given.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod echo;
#[cfg(target_os = "linux")]
mod settings;

#[cfg(not(target_os = "linux"))]
fn main() -> Result<(), bench_peer::Fault> {
    Err("the blocking runtime waits with epoll, which only Linux has".into())
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), bench_peer::Fault> {
    use bench_peer::conn::{Command, Role};

    let command = Command::from_args()?;
    match command.role {
        Role::Client => client::run(&command),
        Role::Server => echo::serve(&command),
    }
}
