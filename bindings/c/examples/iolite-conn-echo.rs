//! A peer that sends back what it gets, for tests and benchmarks in other languages.
//!
//! It prints, one a line, the URLs of its `http`, `https` and `udp` sides and the path of the certificate to believe,
//! and runs until its input ends.

#[path = "../tests/support/echo.rs"]
mod echo;

use echo::{Choice, Echo, certificate};
use std::io::Read as _;

fn main() -> std::io::Result<()> {
    let (chain, key) = certificate();
    let file = std::env::temp_dir().join(format!("iolite-conn-echo-{}.pem", std::process::id()));
    std::fs::write(&file, &chain)?;
    let plain = Echo::start();
    let secure = Echo::with(Choice { identity: Some((chain, key)), ..Choice::default() });
    println!("http://{}/", plain.stream);
    println!("https://{}/", secure.stream);
    println!("udp://{}", plain.datagram);
    println!("{}", file.display());
    let ended = std::io::stdin().read_to_end(&mut Vec::new());
    std::fs::remove_file(file)?;
    ended.map(|_| ())
}
