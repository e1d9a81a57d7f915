//! Commands for nodes that speak over sockets.

mod announces;
mod buffers;
mod channels;
mod groups;
mod handshakes;
mod instance;
mod keys;
mod links;
mod packets;
mod ratchets;
mod requests;
mod resources;
mod starting;
mod watcher;

use crate::call::{Answer, Failure, Params};
use instance::Instance;
use std::collections::BTreeMap;

/// The nodes that the suite started, by handle.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    instances: BTreeMap<String, Instance>,
    started: u32,
}

impl Wire {
    /// Answers a command, named without the family; `None` for one that is not known.
    pub(crate) fn answer(&mut self, command: &str, params: Params<'_>) -> Option<Answer> {
        if let Some(answer) = keys::answer(command, params) {
            return Some(answer);
        }
        if let Some(answer) = starting::answer(self, command, params) {
            return Some(answer);
        }
        let instance = match self.instance(params) {
            Ok(instance) => instance,
            Err(failure) => return Some(Err(failure)),
        };
        let subjects = [
            announces::answer,
            ratchets::answer,
            groups::answer,
            handshakes::answer,
            packets::answer,
            links::answer,
            requests::answer,
            resources::answer,
            channels::answer,
            buffers::answer,
        ];
        subjects.into_iter().find_map(|subject| subject(instance, command, params))
    }

    fn instance(&mut self, params: Params<'_>) -> Result<&mut Instance, Failure> {
        let handle = params.text("handle")?;
        let unknown = || Failure::new(format!("ValueError: Unknown handle: {handle}"));
        self.instances.get_mut(handle).ok_or_else(unknown)
    }
}
