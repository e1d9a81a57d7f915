//! A child process whose standard streams are a link.

use proto_core::DownReason;
use rustix::process::{Pid, Signal, kill_process_group};
use socket2::Socket;
use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, Stdio},
    thread,
};

use super::{Device, StreamSource};

/// Starts `command` in a shell. Its standard input and output are the two directions of one socket; its standard error
/// is this process's.
///
/// # Errors
/// The operating system's error: there is no shell, no process or no socket to be had.
pub fn spawn_pipe(command: &str) -> io::Result<StreamSource> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let output = theirs.try_clone()?;
    let process = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(OwnedFd::from(output)))
        .process_group(0)
        .spawn()?;
    Ok(StreamSource {
        socket: Socket::from(OwnedFd::from(ours)),
        device: Device::Socket,
        end: Some(DownReason::Io),
        child: Some(Child { process: Some(process) }),
    })
}

/// A running process, which does not outlive its link; nor do the processes it started.
#[derive(Debug)]
pub struct Child {
    process: Option<std::process::Child>,
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // Nobody waited for the process, so its number is still its own. It may have ended by itself.
        if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if !matches!(process.try_wait(), Ok(Some(_))) {
            // It takes a moment to die, for which no driver should wait.
            drop(thread::Builder::new().spawn(move || process.wait()));
        }
    }
}
