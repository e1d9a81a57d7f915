//! The runner of scenarios: many seeds, and for the one that fails a capture and how to run it again.

use crate::network::Network;
use proto_core::Machine;
use std::{
    env, fs, io,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
};

/// The environment variable that makes every scenario run with one seed only.
pub const SEED_VARIABLE: &str = "IOLITE_SEED";

/// Runs a scenario once for each seed on a new network.
///
/// When it panics, the seed is printed and the last datagrams are written to `target/netsim/<name>-<seed>.pcapng`.
/// `IOLITE_SEED=<seed>` in the environment runs that seed instead of the given ones.
///
/// # Panics
/// When the scenario does.
pub fn scenario<M: Machine>(
    name: &str,
    seeds: impl IntoIterator<Item = u64>,
    mut body: impl FnMut(&mut Network<M>),
) {
    for_each_seed(seeds, |seed| {
        let mut network = Network::new(seed);
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut network)));
        if let Err(reason) = outcome {
            eprintln!(
                "scenario {name:?} failed with seed {seed}; {SEED_VARIABLE}={seed} runs only this one again"
            );
            match keep_capture(name, seed, &network.trace().to_pcapng()) {
                Ok(path) => eprintln!("its last datagrams are in {}", path.display()),
                Err(error) => eprintln!("its last datagrams could not be written: {error}"),
            }
            resume_unwind(reason);
        }
    });
}

/// Calls a function for each seed, or only for the one that the environment asks for.
pub(crate) fn for_each_seed(seeds: impl IntoIterator<Item = u64>, run: impl FnMut(u64)) {
    match forced_seed(env::var(SEED_VARIABLE).ok()) {
        Some(seed) => std::iter::once(seed).for_each(run),
        None => seeds.into_iter().for_each(run),
    }
}

fn forced_seed(variable: Option<String>) -> Option<u64> {
    let text = variable?;
    Some(text.parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE}={text:?} is not a number below 2^64")))
}

fn keep_capture(name: &str, seed: u64, file: &[u8]) -> io::Result<PathBuf> {
    let folder = target_folder()?.join("netsim");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}-{seed}.pcapng"));
    fs::write(&path, file)?;
    Ok(path)
}

/// Finds the build folder: tests run in their package's folder, which lies somewhere below `Cargo.lock`.
fn target_folder() -> io::Result<PathBuf> {
    let here = env::current_dir()?;
    let workspace = here.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(&here);
    Ok(workspace.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_forces_one_seed() {
        assert_eq!(forced_seed(None), None);
        assert_eq!(forced_seed(Some("42".to_owned())), Some(42));
        assert!(catch_unwind(|| forced_seed(Some("x".to_owned()))).is_err());
    }
}
