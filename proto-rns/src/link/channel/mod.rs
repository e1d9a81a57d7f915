//! The channel: messages that arrive, in order, or the link ends (spec 1.13).

mod receiver;
mod sender;
mod window;

pub(super) use receiver::{Place, Receiver};
pub(super) use sender::{Due, Sender};
