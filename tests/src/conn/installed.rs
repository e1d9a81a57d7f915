//! Where the peers come from.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::peers::{install, wishes};

/// Says, and prints, whether the tests of a peer are to be left out (`IOLITE_SKIP_PEERS`).
pub fn is_skipped(name: &str) -> bool {
    wishes::is_skipped(name)
}

/// A part of a program that has a package of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Module {
    /// What it brings.
    pub(super) file: &'static str,
    /// The package's name.
    pub(super) package: &'static str,
}

/// Returns the command that runs a program of Debian's, installed with its modules where need be.
pub(super) fn debian(program: &str, package: &str, modules: &[Module]) -> Command {
    let path = modules
        .iter()
        .filter(|module| !Path::new(module.file).exists())
        .try_for_each(|module| install_debian(module.package))
        .and_then(|()| find_or_install(program, package));
    Command::new(wishes::had(program, path))
}

/// Returns the command that runs a script of `tests/peers/conn` in Python.
pub(super) fn python_script(script: &str) -> Command {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packages = PACKAGES
        .get_or_init(|| install::python_environment("conn-python", &sources().join("requirements.txt")));
    let packages = wishes::had(script, packages.clone());
    let mut command = Command::new(packages.join("bin/python"));
    command.arg("-u").arg(sources().join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Returns the command that runs a script of `tests/peers/conn` in Node.js.
pub(super) fn node_script(script: &str) -> Command {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packages = PACKAGES.get_or_init(|| {
        let manifest = sources().join("package.json");
        install::prepare("conn-node", &install::read(&manifest)?, |folder| {
            install::node_packages(&manifest, folder)
        })
    });
    let packages = wishes::had(script, packages.clone());
    let mut command = Command::new("node");
    command.arg(sources().join(script)).env("NODE_PATH", packages.join("node_modules"));
    command
}

/// Returns the command that runs Autobahn's `wstest`; `None` where there is no Python 2.7 to run it.
pub(super) fn autobahn() -> Option<Command> {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let python = python2()?;
    let packages = PACKAGES.get_or_init(|| {
        install::prepare("autobahn", AUTOBAHN, |folder| {
            install::run(
                Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet", "--target"])
                    .arg(folder)
                    .arg(AUTOBAHN),
                "Python 2.7 must have pip",
            )
        })
    });
    let packages = wishes::had("autobahn", packages.clone());
    let mut command = Command::new(python);
    command.args(["-u", "-B"]).arg(sources().join("wstest.py")).arg(packages);
    Some(command)
}

/// Returns Python 2.7, which Debian has no more; pyenv still does.
fn python2() -> Option<PathBuf> {
    let named = find("python2.7").into_iter();
    let home = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    let versions =
        home.and_then(|home| home.join("versions").read_dir().ok()).into_iter().flatten().flatten();
    let kept = versions
        .filter(|version| version.file_name().to_string_lossy().starts_with("2.7"))
        .map(|version| version.path().join("bin/python2.7"));
    // A shim of pyenv's may be in the path, and lead to nothing.
    kept.chain(named)
        .find(|python| Command::new(python).arg("-V").output().is_ok_and(|it| it.status.success()))
}

fn find_or_install(program: &str, package: &str) -> Result<PathBuf, String> {
    if let Some(path) = find(program) {
        return Ok(path);
    }
    install_debian(package)?;
    find(program).ok_or_else(|| format!("{package} brought no {program}"))
}

fn install_debian(package: &str) -> Result<(), String> {
    // It forbids what must not happen: that a daemon starts on a public port.
    if !Path::new("/usr/sbin/policy-rc.d").exists() {
        return Err(format!("install Debian's package {package}"));
    }
    println!("installing {package}");
    install::run(
        Command::new("apt-get")
            // Tests that install something at the same time take turns.
            .args([
                "install",
                "--yes",
                "--no-install-recommends",
                "--option",
                "DPkg::Lock::Timeout=300",
                package,
            ])
            .env("DEBIAN_FRONTEND", "noninteractive"),
        "apt-get must work",
    )
}

/// Looks for a program where users and administrators have theirs.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/bin")]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn sources() -> PathBuf {
    install::sources().join("conn")
}

const AUTOBAHN: &str = "autobahntestsuite==25.10.1";
