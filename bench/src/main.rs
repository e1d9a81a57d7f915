//! Side-by-side benchmarks of Iolite and its peers.
//!
//! `bench raknet` ([`raknet`]), `bench rns` ([`rns`]) and `bench conn` ([`conn`]) measure: each says which cells there are,
//! who takes part, and how one trial goes. What they share runs the trials in rotating order ([`campaign`], [`process`],
//! [`launch`]), builds or installs the programs ([`compile`], [`cpp`], [`python`]) and tells the results ([`outcome`],
//! [`row`], [`console`]). `bench report` turns files of results into `docs/benchmarks.md` ([`document`], [`chart`]).
//!
//! The programs that are measured are built from `bench/src/bin` (Iolite) and `bench/rivals` (the others), or installed
//! for `bench/python`; what they share is the crate `bench-peer`.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "benchmarks read the clock")]

mod campaign;
mod chart;
mod compile;
mod conn;
mod console;
mod cpp;
mod document;
mod interrupt;
mod launch;
mod machine;
mod outcome;
mod process;
mod python;
mod raknet;
mod rns;
mod row;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about = "Benchmarks Iolite beside its peers", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures RakNet through Iolite beside rust-raknet, KCP, TCP, quinn and bare UDP.
    ///
    /// Loss and the GSO-limited loopback need network namespaces, so this is best run as root on Linux. The
    /// peers are built on first use. A full run takes about 25 minutes, --quick about 3.
    Raknet(raknet::Args),
    /// Measures Reticulum through Iolite beside personal-rns and the Python reference.
    ///
    /// The peers are built, and the reference is installed from PyPI, on first use. A full run takes about 15
    /// minutes, --quick about 5.
    Rns(rns::Args),
    /// Measures the client of the six schemes beside the kernel's ceiling, boost::beast and the clients of Rust and Python.
    ///
    /// The peers are built, and Python's are installed from PyPI, on first use; boost::beast needs g++ and Boost, which
    /// apt-get is asked for. A full run takes about 25 minutes, --quick about 8.
    Conn(conn::Args),
    /// Writes docs/benchmarks.md and its charts from the results of earlier runs.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
struct ReportArgs {
    /// The files that `bench ... --json` wrote; a chapter without file is left out.
    #[arg(value_name = "FILE", required = true)]
    json: Vec<PathBuf>,
    /// The folder for benchmarks.md; the workspace's docs folder unless given.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Raknet(args) => raknet::run(&args),
        Command::Rns(args) => rns::run(&args),
        Command::Conn(args) => conn::run(&args),
        Command::Report(args) => report(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn report(args: &ReportArgs) -> anyhow::Result<()> {
    let out = args.out.clone().unwrap_or_else(|| compile::workspace().join("docs"));
    let results = args.json.iter().map(|path| row::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    for path in document::write(&out, &[&raknet::CHAPTER, &rns::CHAPTER, &conn::CHAPTER], &results)? {
        println!("{}", path.display());
    }
    Ok(())
}
