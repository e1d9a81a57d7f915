//! All of the network around a relay: two nodes on connections of their own, and frames that one floods and the other
//! checks, in both directions at once.
//!
//! ```text
//! shore A <--TCP--> relay <--TCP--> shore B          driver: Shore sets up, Flood measures
//! shore A <--TCP--> splice <--TCP-> shore B          the same without any relay: what the driver itself can do
//! ```

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "benchmarks read the clock")]

mod flood;
mod frames;
mod route;
mod shore;
mod splice;

use bench_peer::{
    Fault,
    rns::{Command, Role, wait_for_end_of_input},
};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Driver => {
            let [a, b] = [shore::Shore::connect(&command)?, shore::Shore::connect(&command)?];
            let (route, shores) = route::find(command.work.kind, [a, b])?;
            flood::Flood::new(&command, route, shores)?.run()?.print()?;
            // The benchmark still reads this process's memory.
            wait_for_end_of_input();
            Ok(())
        }
        Role::Relay => splice::run(&command),
        Role::Initiator | Role::Responder => Err("a driver is neither initiator nor responder".into()),
    }
}
