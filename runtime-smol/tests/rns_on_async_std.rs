//! The Reticulum face's scenarios on async-std's executor.

#[macro_use]
#[path = "../../runtime-core/suite/rns/mod.rs"]
mod suite;

mod async_std_runtime;

rns_scenarios!(async_std_runtime::AsyncStd, async_std::task::block_on);
