//! Getting peers from their registries into `target/peers`.
//!
//! Each kind of peer has a folder there, a lock file beside it so that test processes take turns, and a stamp with the
//! pinned versions: when they change, the folder is made anew.

use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Returns the command that runs a script of `tests/peers/node` with the packages it needs.
pub(super) fn node_script(script: &str) -> Result<Command, String> {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packages = PACKAGES.get_or_init(|| {
        let manifest = sources().join("node/package.json");
        let pins = read(&manifest)? + &kernel_major();
        prepare("node", &pins, |folder| {
            node_packages(&manifest, folder)?;
            alias_prebuilt_addon(&folder.join("node_modules/raknet-native/prebuilds"))
        })
    });
    let mut command = Command::new("node");
    command.arg(sources().join("node").join(script));
    command.env("NODE_PATH", packages.clone()?.join("node_modules"));
    Ok(command)
}

/// Returns the command that runs a script of `tests/peers/python` with the packages it needs.
pub(crate) fn python_script(script: &str) -> Result<Command, String> {
    let mut command = Command::new(python_packages()?.join("bin/python"));
    command.arg("-u").arg(sources().join("python").join(script));
    // The scripts import each other, and sources are no place for what that leaves behind.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Returns the command that runs a program that comes with a Python package.
pub(crate) fn python_tool(tool: &str) -> Result<Command, String> {
    Ok(Command::new(python_packages()?.join("bin").join(tool)))
}

/// Returns the command that runs a binary of `tests/peers/rust`, built if it is not up to date.
pub(super) fn rust_binary(name: &str) -> Result<Command, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = root()?.join("rust");
        run(
            cargo()
                .args(["build", "--release", "--locked", "--manifest-path"])
                .arg(sources().join("rust/Cargo.toml"))
                .arg("--target-dir")
                .arg(&folder),
            "the crates in tests/peers/rust/Cargo.toml must be available",
        )?;
        Ok(folder)
    });
    Ok(Command::new(built.clone()?.join("release").join(name)))
}

/// Returns the path of a binary of this workspace, built if it is not up to date.
pub(crate) fn workspace_binary(package: &str, name: &str) -> Result<PathBuf, String> {
    let target = target_folder()?;
    let mut build = cargo();
    build.args(["build", "--package", package, "--bin", name]).arg("--target-dir").arg(&target);
    build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    if profile == "release" {
        build.arg("--release");
    }
    run(&mut build, "the workspace must build")?;
    Ok(target.join(profile).join(name))
}

/// Returns the folder with the Python that has all packages the peers need.
fn python_packages() -> Result<PathBuf, String> {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PACKAGES.get_or_init(|| python_environment("python", &sources().join("python/requirements.txt"))).clone()
}

/// Returns the folder `kind` with a Python of its own that has the packages of a list.
pub(crate) fn python_environment(kind: &str, requirements: &Path) -> Result<PathBuf, String> {
    prepare(kind, &read(requirements)?, |folder| {
        let hint = "install Python 3.9 or later with venv and pip (Debian: python3-venv)";
        run(Command::new("python3").args(["-m", "venv"]).arg(folder), hint)?;
        run(
            Command::new(folder.join("bin/python"))
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
                .arg(requirements),
            hint,
        )
    })
}

/// Installs the packages of a `package.json` into a folder.
pub(crate) fn node_packages(manifest: &Path, folder: &Path) -> Result<(), String> {
    copy(manifest, &folder.join("package.json"))?;
    // Scripts would build C++ from sources fetched elsewhere; the packages bring what is needed.
    run(
        Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(folder),
        "install Node.js 20 or later with npm",
    )
}

/// Fills the folder `kind` anew unless it was filled for the same `pins`.
pub(crate) fn prepare(
    kind: &str,
    pins: &str,
    fill: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let root = root()?;
    let folder = root.join(kind);
    let mut lock = fd_lock::RwLock::new(explain(File::create(root.join(kind).with_extension("lock")))?);
    let _turn = explain(lock.write())?;
    let stamp = folder.join("stamp");
    if fs::read_to_string(&stamp).is_ok_and(|filled_for| filled_for == pins) {
        return Ok(folder);
    }
    if folder.exists() {
        explain(fs::remove_dir_all(&folder))?;
    }
    explain(fs::create_dir_all(&folder))?;
    println!("installing the peers for {kind} into {}", folder.display());
    fill(&folder)?;
    explain(fs::write(stamp, pins))?;
    Ok(folder)
}

/// raknet-native looks for its addon under the kernel's major number, for which it has none; the one it has fits.
fn alias_prebuilt_addon(prebuilds: &Path) -> Result<(), String> {
    let wanted = prebuilds.join(format!("linux-{}-x64", kernel_major()));
    if !cfg!(target_os = "linux") || wanted.exists() {
        return Ok(());
    }
    explain(fs::create_dir(&wanted))?;
    copy(&prebuilds.join("linux-5-x64/node-raknet.node"), &wanted.join("node-raknet.node"))
}

/// Returns the kernel's major number on Linux.
fn kernel_major() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.split('.').next().unwrap_or_default().to_owned()
}

/// Runs a command to its end; a failure tells what to install and what the command said.
pub(crate) fn run(command: &mut Command, hint: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}; {hint}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} failed; {hint}. It said:\n{said}"))
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where the peers' own programs are.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Where peers are installed.
pub(crate) fn root() -> Result<PathBuf, String> {
    let root = target_folder()?.join("peers");
    explain(fs::create_dir_all(&root))?;
    Ok(root)
}

/// Returns cargo's target folder, which holds the running test and a `CACHEDIR.TAG`.
fn target_folder() -> Result<PathBuf, String> {
    let test = explain(env::current_exe())?;
    test.ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists())
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("{} is not in a target folder of cargo", test.display()))
}

fn explain<T>(result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
