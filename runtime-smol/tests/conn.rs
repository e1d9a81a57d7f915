//! The scenarios of the connection faces on smol.

#[macro_use]
#[path = "../../runtime-core/suite/conn/mod.rs"]
mod suite;

conn_scenarios!(runtime_smol::Smol, smol::block_on);
