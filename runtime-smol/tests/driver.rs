//! The driver's scenarios on smol.

#[macro_use]
#[path = "../../runtime-core/suite/driver/mod.rs"]
mod suite;

driver_scenarios!(runtime_smol::Smol, smol::block_on);
