//! The Reticulum face's scenarios on smol.

#[macro_use]
#[path = "../../runtime-core/suite/rns/mod.rs"]
mod suite;

rns_scenarios!(runtime_smol::Smol, smol::block_on);
