//! The scenarios of the connection faces on async-std's executor.

#[macro_use]
#[path = "../../runtime-core/suite/conn/mod.rs"]
mod suite;

mod async_std_runtime;

conn_scenarios!(async_std_runtime::AsyncStd, async_std::task::block_on);
