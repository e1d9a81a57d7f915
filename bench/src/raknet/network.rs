//! The networks: the loopback of namespaces of our own, some of them with loss.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::process::{self, Command};

use anyhow::{Context, bail, ensure};

use super::cell::{Cell, Network};
use crate::interrupt;
use crate::launch::succeeds;

/// The networks of a run; those that were made are removed when it ends, however it ends.
#[derive(Debug)]
pub(crate) struct Networks {
    namespaces: BTreeMap<Network, Namespace>,
}

impl Networks {
    /// The machine's own loopback for everything.
    pub(crate) fn host() -> Self {
        Self { namespaces: BTreeMap::new() }
    }

    /// Makes one namespace for each network that `cells` need.
    pub(crate) fn set_up(cells: &[Cell]) -> anyhow::Result<Self> {
        remove_leftovers();
        let mut namespaces = BTreeMap::new();
        for cell in cells {
            interrupt::check()?;
            if let Entry::Vacant(vacancy) = namespaces.entry(cell.network) {
                vacancy.insert(Namespace::create(cell.network)?);
            }
        }
        Ok(Self { namespaces })
    }

    /// The namespace to start processes in, if it is not the machine's own.
    pub(crate) fn namespace(&self, network: Network) -> Option<&str> {
        self.namespaces.get(&network).map(|namespace| namespace.name.as_str())
    }
}

/// Drops the cells that can not be measured without namespaces, and says so; or says what is missing.
pub(crate) fn keep_possible(mut cells: Vec<Cell>, no_netns: bool) -> anyhow::Result<Vec<Cell>> {
    let needy: Vec<_> = cells.iter().filter(|cell| cell.network != Network::Plain).collect();
    let names = needy.iter().map(|cell| cell.name.as_str()).collect::<Vec<_>>().join(", ");
    let missing = missing(needy.iter().any(|cell| cell.network.loss_per_mille() > 0));
    if !no_netns {
        let consequence = if names.is_empty() { "no cell of this run" } else { &names };
        ensure!(
            missing.is_empty(),
            "{}.\n  Without that, these cells can not be measured: {consequence}\n  To measure the others on the \
             machine's own loopback: --no-netns",
            missing.join("; "),
        );
        return Ok(cells);
    }
    cells.retain(|cell| cell.network == Network::Plain);
    ensure!(!cells.is_empty(), "--no-netns leaves nothing to measure: {names} need network namespaces");
    if !names.is_empty() {
        eprintln!("skipped without network namespaces: {names}");
    }
    Ok(cells)
}

/// What this user and machine lack for namespaces, with the remedies.
fn missing(lossy: bool) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if !rustix::process::geteuid().is_root() {
        missing.push("network namespaces need root: run this under sudo");
    }
    if !succeeds(&["ip", "-V"]) {
        missing.push("the program `ip` is missing: apt-get install -y iproute2");
    }
    if lossy && !succeeds(&["nft", "--version"]) {
        missing.push("the program `nft` is missing: apt-get install -y nftables");
    }
    missing
}

#[derive(Debug)]
struct Namespace {
    name: String,
}

impl Namespace {
    fn create(network: Network) -> anyhow::Result<Self> {
        let suffix = match network {
            Network::Plain => "plain".to_owned(),
            Network::Limited { loss_per_mille } => format!("loss{loss_per_mille}"),
        };
        let name = format!("{PREFIX}{}-{suffix}", process::id());
        run(&["ip", "netns", "add", &name])?;
        // From here on, dropping removes it.
        let namespace = Self { name };
        match network {
            Network::Plain => namespace.run(&["ip", "link", "set", "lo", "up"])?,
            Network::Limited { loss_per_mille } => {
                namespace.run(&["ip", "link", "set", "lo", "up", "mtu", "1500", "gso_max_segs", "1"])?;
                if loss_per_mille > 0 {
                    namespace.run(&["nft", &loss_rules(loss_per_mille)])?;
                }
            }
        }
        Ok(namespace)
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<()> {
        run(&[&["ip", "netns", "exec", self.name.as_str()], words].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(error) = run(&["ip", "netns", "delete", &self.name]) {
            eprintln!("warning: {error:#}");
        }
    }
}

/// Everything on the loopback is input, so one hook drops data and acknowledgements of both directions.
fn loss_rules(per_mille: u32) -> String {
    format!(
        "table inet bench {{\n chain loss {{\n type filter hook input priority 0\n \
         numgen random mod 1000 < {per_mille} drop\n }}\n}}\n"
    )
}

/// Removes the namespaces of earlier runs that were killed before they could do it.
fn remove_leftovers() {
    let Ok(entries) = Path::new("/run/netns").read_dir() else { return };
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let Some(owner) = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()) else { continue };
        if !Path::new("/proc").join(owner).exists() {
            drop(Namespace { name });
        }
    }
}

fn run(words: &[&str]) -> anyhow::Result<()> {
    let line = words.join(" ");
    let (program, args) = words.split_first().context("no command")?;
    let output = Command::new(program).args(args).output().with_context(|| format!("cannot run `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

const PREFIX: &str = "iolite-bench-";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raknet::cell::cells;

    #[test]
    fn without_namespaces_only_the_plain_cells_remain() {
        let kept = keep_possible(cells(true), true).unwrap();
        assert!(!kept.is_empty());
        assert!(kept.iter().all(|cell| cell.network == Network::Plain));
    }

    #[test]
    fn asking_only_for_lossy_cells_without_namespaces_is_an_error_that_names_them() {
        let lossy = cells(true).into_iter().filter(|cell| cell.name == "1c-64-5%").collect();
        assert!(keep_possible(lossy, true).unwrap_err().to_string().contains("1c-64-5%"));
    }
}
