//! What several RakNet commands share.

pub(crate) mod echo;
pub(crate) mod fault;
pub(crate) mod motd;
pub(crate) mod names;
pub(crate) mod resolve;
