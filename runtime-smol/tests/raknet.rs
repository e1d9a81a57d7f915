//! The RakNet face's scenarios on smol.

#[macro_use]
#[path = "../../runtime-core/suite/raknet/mod.rs"]
mod suite;

raknet_scenarios!(runtime_smol::Smol, smol::block_on);
