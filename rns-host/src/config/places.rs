//! Where the config file is.

use std::path::{Path, PathBuf};

/// The name of the config file in its directory.
pub const CONFIG_FILE: &str = "config";

/// Returns the directory that the reference would use: the first of `/etc/reticulum` and `~/.config/reticulum` that
/// has a config file, else `~/.reticulum`. `home` is the user's directory, `None` where there is none.
pub fn config_dir(home: Option<&Path>) -> PathBuf {
    first_with_file([PathBuf::from("/etc/reticulum")], home)
}

fn first_with_file(system: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> PathBuf {
    let home = home.unwrap_or_else(|| Path::new("."));
    system
        .into_iter()
        .chain([home.join(".config").join("reticulum")])
        .find(|dir| dir.join(CONFIG_FILE).is_file())
        .unwrap_or_else(|| home.join(".reticulum"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;
    use std::fs;

    #[test]
    fn the_first_directory_with_a_config_file_counts() {
        let dir = TestDir::new("places");
        let (system, home) = (dir.path().join("etc"), dir.path().join("home"));
        let chosen = || first_with_file([system.clone()], Some(&home));
        assert_eq!(chosen(), home.join(".reticulum"));
        let put = |dir: &Path| {
            fs::create_dir_all(dir).unwrap();
            fs::write(dir.join(CONFIG_FILE), "").unwrap();
        };
        put(&home.join(".config/reticulum"));
        assert_eq!(chosen(), home.join(".config/reticulum"));
        fs::create_dir_all(&system).unwrap();
        assert_eq!(chosen(), home.join(".config/reticulum"));
        put(&system);
        assert_eq!(chosen(), system);
    }
}
