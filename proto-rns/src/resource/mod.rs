//! Resources: data of any size over a link (spec 1.12).

mod carrier;
mod config;
mod content_hash;
mod event;
mod hashmap;
mod prepare;
mod segments;
mod stats;
mod window;

pub use carrier::Carrier;
pub use config::{Deliver, ProofDelay, ResourceConfig, ResourceConfigError, Strategy};
pub use event::{Event, FailReason, Kind, Offer, Outgoing, ResourceId, SendError, UnknownResource};
pub use prepare::{PrepareJob, Prepared};
pub use segments::{MAX_SEGMENT, SegmentContent, segment_count};
pub use stats::{Refusal, ResourceStats};
pub use window::Window;
