//! Building the peers that are written in C++ with Boost.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, ensure};

use crate::compile::{Binary, Workshop, workspace};
use crate::launch::succeeds;

/// Builds the `main.cpp` in the folder of `bench/rivals` that is called like the binary, unless that was done since its
/// sources changed.
///
/// Where Boost is not installed, `apt-get` is asked for it.
pub(crate) fn build(workshop: &Workshop, binary: Binary) -> anyhow::Result<()> {
    let sources = workspace().join("bench/rivals").join(binary.name());
    let target = workshop.path(binary);
    if is_current(&target, &sources).unwrap_or(false) {
        return Ok(());
    }
    ensure!(succeeds(&["g++", "--version"]), "there is no g++\n  Remedy: apt-get install -y g++");
    if !has_headers() {
        install();
        ensure!(has_headers(), "{NO_HEADERS}");
    }
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    eprintln!("compiling {}", sources.display());
    let status = Command::new("g++")
        .args(["-std=c++17", "-O3", "-Wall", "-Wextra", "-o"])
        .arg(&target)
        .arg(sources.join("main.cpp"))
        .args(["-lssl", "-lcrypto", "-pthread"])
        .stdin(Stdio::null())
        .status()
        .context("cannot start g++")?;
    ensure!(status.success(), "g++ could not build {} (its messages are above)", sources.display());
    Ok(())
}

/// Whether `target` is younger than everything in the folder of its sources.
fn is_current(target: &Path, sources: &Path) -> io::Result<bool> {
    let built = fs::metadata(target)?.modified()?;
    let youngest = fs::read_dir(sources)?
        .map(|entry| entry?.metadata()?.modified())
        .try_fold(SystemTime::UNIX_EPOCH, |youngest, time| time.map(|time| youngest.max(time)))?;
    Ok(built > youngest)
}

fn has_headers() -> bool {
    let probe = "echo '#include <boost/beast/version.hpp>\n#include <openssl/ssl.h>' | g++ -std=c++17 -fsyntax-only -x c++ -";
    succeeds(&["sh", "-c", probe])
}

/// Fails without a word where that is not for this user or machine: what is missing is told afterwards.
fn install() {
    eprintln!("installing Boost and OpenSSL's headers with apt-get");
    succeeds(&["apt-get", "install", "--yes", "--no-install-recommends", "libboost-dev", "libssl-dev"]);
}

const NO_HEADERS: &str = "the headers of Boost and OpenSSL were not found, and apt-get could not install them\n  Remedy: \
apt-get install -y libboost-dev libssl-dev";
