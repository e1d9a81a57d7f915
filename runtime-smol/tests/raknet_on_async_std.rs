//! The RakNet face's scenarios on async-std's executor.

#[macro_use]
#[path = "../../runtime-core/suite/raknet/mod.rs"]
mod suite;

mod async_std_runtime;

raknet_scenarios!(async_std_runtime::AsyncStd, async_std::task::block_on);
