//! Benchmark peer: Iolite's Reticulum through tokio, as initiator, responder or relay.

#![forbid(unsafe_code)]

mod initiator;
mod interface;
mod responder;

use bench_peer::{
    Fault,
    rns::{Command, Ready, Role, wait_for_end_of_input},
};
use runtime_tokio::rns::RnsNode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    match command.role {
        Role::Initiator => initiator::run(&command).await?,
        Role::Responder => return responder::run(&command).await,
        Role::Relay => return relay(&command).await,
        Role::Driver => return Err("the driver is a program of its own: rns-driver".into()),
    }
    // The report is printed; the benchmark still reads this process's memory.
    Ok(tokio::task::spawn_blocking(wait_for_end_of_input).await?)
}

async fn relay(command: &Command) -> Result<(), Fault> {
    let node = RnsNode::builder().transport(true).spawn()?;
    let address = interface::listen(&node, command.address, command.work.mtu).await?;
    Ready { address, destination: String::new() }.print()?;
    Ok(tokio::task::spawn_blocking(wait_for_end_of_input).await?)
}
