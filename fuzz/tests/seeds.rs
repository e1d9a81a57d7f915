//! Replays the committed seeds without a fuzzer. `cargo test --no-default-features` needs no C++ compiler.

#![allow(clippy::expect_used, reason = "the helpers of a test fail it by panicking")]

use std::{fs, path::Path};

#[test]
fn every_seed_of_every_target_keeps_the_promises() {
    for (name, body) in iolite_fuzz::TARGETS {
        let seeds = seeds_of(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for (file, data) in seeds {
            println!("{name}: {file}");
            body(&data);
        }
    }
}

#[test]
fn every_prefix_of_a_seed_keeps_the_promises() {
    for (name, body) in iolite_fuzz::TARGETS.into_iter().filter(|(name, _)| *name != "raknet_pair") {
        for (file, data) in seeds_of(name) {
            println!("{name}: {file}");
            for len in 0..data.len().min(200) {
                body(data.get(..len).expect("a prefix"));
            }
        }
    }
}

fn seeds_of(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(iolite_fuzz::SEEDS).join(name);
    let mut seeds: Vec<_> = fs::read_dir(folder)
        .expect("every target has a folder of seeds")
        .map(|entry| entry.expect("the folder can be read"))
        .map(|entry| {
            let data = fs::read(entry.path()).expect("the seed can be read");
            (entry.file_name().to_string_lossy().into_owned(), data)
        })
        .collect();
    seeds.sort();
    seeds
}
