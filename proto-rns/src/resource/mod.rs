//! Resources: data of any size over a link (spec 1.12).

mod carrier;

pub use carrier::Carrier;
