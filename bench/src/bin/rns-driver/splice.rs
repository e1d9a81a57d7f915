//! No relay at all: bytes from one connection go to the other as they are.

use std::{
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use bench_peer::{
    Fault,
    rns::{Command, Ready, wait_for_end_of_input},
};

/// Joins two connections until the benchmark ends.
pub(crate) fn run(command: &Command) -> Result<(), Fault> {
    let listener = TcpListener::bind(command.address)?;
    Ready { address: listener.local_addr()?, destination: String::new() }.print()?;
    thread::spawn(wait_for_end_of_input);
    let ((a, _), (b, _)) = (listener.accept()?, listener.accept()?);
    let (from_b, to_a) = (b.try_clone()?, a.try_clone()?);
    let back = thread::spawn(move || copy(&from_b, &to_a));
    copy(&a, &b)?;
    back.join().map_err(|_| "the way back failed")??;
    Ok(())
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let len = from.read(&mut piece)?;
        if len == 0 {
            return Ok(());
        }
        to.write_all(piece.get(..len).unwrap_or_default())?;
    }
}

/// How much is read at a time.
const PIECE: usize = 256 << 10;
