//! The driver's scenarios on async-std's executor: the sockets and timers are the same, the tasks are not.

#[macro_use]
#[path = "../../runtime-core/suite/driver/mod.rs"]
mod suite;

mod async_std_runtime;

driver_scenarios!(async_std_runtime::AsyncStd, async_std::task::block_on);
