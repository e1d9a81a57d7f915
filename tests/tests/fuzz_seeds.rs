//! The seeds of the fuzz targets keep their promises. The targets themselves are a workspace of their own in `fuzz/`.

#[path = "../../fuzz/tests/seeds.rs"]
mod seeds;
