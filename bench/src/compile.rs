//! Building the peers' binaries.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// Where a peer's binary is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    /// A binary of this crate.
    Iolite(&'static str),
    /// A package of `bench/rivals` and its binary.
    Rival(&'static str),
    /// A folder of `bench/rivals` with a `main.cpp`; see [`cpp`](crate::cpp).
    Cpp(&'static str),
}

impl Binary {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Iolite(name) | Self::Rival(name) | Self::Cpp(name) => name,
        }
    }
}

/// The folders in which the peers are built.
#[derive(Debug)]
pub(crate) struct Workshop {
    target: PathBuf,
}

impl Workshop {
    /// Finds the target folder that this very binary was built in.
    pub(crate) fn locate() -> anyhow::Result<Self> {
        let program = env::current_exe().context("cannot find this program's own path")?;
        let target = program.ancestors().nth(2).context("this program lies in no target folder")?;
        Ok(Self { target: target.to_owned() })
    }

    /// Builds binaries of this workspace and of the rivals', all with the release profile.
    pub(crate) fn build(&self, binaries: impl IntoIterator<Item = Binary>) -> anyhow::Result<()> {
        let mut ours = Vec::new();
        let mut rivals = Vec::new();
        for binary in binaries {
            let (list, flag) = match binary {
                Binary::Iolite(_) => (&mut ours, "--bin"),
                Binary::Rival(_) => (&mut rivals, "--package"),
                Binary::Cpp(_) => continue,
            };
            if !list.contains(&binary.name()) {
                list.extend([flag, binary.name()]);
            }
        }
        if !ours.is_empty() {
            ours.extend(["--package", "bench"]);
            cargo_build(&workspace().join("Cargo.toml"), &self.target, &ours)?;
        }
        if !rivals.is_empty() {
            cargo_build(&workspace().join("bench/rivals/Cargo.toml"), &self.rivals_target(), &rivals)?;
        }
        Ok(())
    }

    /// The path of a binary after it was built.
    pub(crate) fn path(&self, binary: Binary) -> PathBuf {
        let target = match binary {
            Binary::Iolite(_) => self.target.clone(),
            Binary::Rival(_) | Binary::Cpp(_) => self.rivals_target(),
        };
        target.join("release").join(binary.name())
    }

    /// The folder for what is installed from elsewhere.
    pub(crate) fn peers_folder(&self) -> PathBuf {
        self.target.join("peers")
    }

    fn rivals_target(&self) -> PathBuf {
        self.target.join("rivals")
    }
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn cargo_build(manifest: &Path, target: &Path, what: &[&str]) -> anyhow::Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .args(["build", "--release", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .args(what)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start cargo to build the peers")?;
    let mut lacks_libclang = false;
    for line in BufReader::new(child.stderr.take().context("cargo has no stderr")?).lines() {
        let line = line?;
        lacks_libclang |= line.contains("libclang");
        eprintln!("{line}");
    }
    if child.wait()?.success() {
        return Ok(());
    }
    ensure!(!lacks_libclang, "{NO_LIBCLANG}");
    bail!("cargo could not build {} (its messages are above)", manifest.display())
}

const NO_LIBCLANG: &str = "the KCP peer needs libclang (bindgen reads the C headers with it), which was not \
found.\n  Remedy: apt-get install -y libclang-dev\n  Or measure without KCP: --peers \
iolite,iolite-bare,rr-send,rr-batch,tcp,tcp-batch,quinn,udp,udp-gso";
