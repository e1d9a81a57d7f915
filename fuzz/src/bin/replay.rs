//! Replays files through the body of a target: `replay` takes all committed seeds, `replay TARGET FILE...` some.

#![allow(clippy::expect_used, reason = "a tool for developers: what is missing is told by panicking")]

use std::{env, fs, path::Path};

fn main() {
    let mut args = env::args().skip(1);
    match args.next() {
        Some(name) => args.for_each(|file| replay(&name, Path::new(&file))),
        None => replay_seeds(),
    }
}

fn replay_seeds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, _) in iolite_fuzz::TARGETS {
        let folder = fs::read_dir(seeds.join(name)).expect("every target has seeds");
        let files: Vec<_> = folder.map(|entry| entry.expect("the folder can be read").path()).collect();
        assert!(!files.is_empty(), "{name} has no seeds");
        for file in &files {
            replay(name, file);
        }
        println!("{name}: {} seeds", files.len());
    }
}

fn replay(name: &str, file: &Path) {
    let target = iolite_fuzz::TARGETS.iter().find(|(target, _)| *target == name);
    let (_, body) = target.expect("there is a target of this name");
    let data = fs::read(file).expect("the file can be read");
    body(&data);
}
