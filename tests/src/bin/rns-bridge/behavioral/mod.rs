//! Commands for one node with interfaces of the suite's hand.
//!
//! Time is the node's own: where the suite writes a time into a table of the reference, the clock is moved to where
//! that time is as far away as the suite wants it.

mod announces;
mod blackhole;
mod instance;
mod interfaces;
mod tables;
mod times;

use crate::call::{Answer, Failure, Params};
use instance::Instance;
use serde_json::json;
use std::collections::BTreeMap;

/// The nodes that the suite started, by handle.
#[derive(Debug, Default)]
pub(crate) struct Behavioral {
    instances: BTreeMap<String, Instance>,
    started: u32,
}

impl Behavioral {
    /// Answers a command, named without the family; `None` for one that is not known.
    pub(crate) fn answer(&mut self, command: &str, params: Params<'_>) -> Option<Answer> {
        match command {
            "start" => return Some(self.start(params)),
            "stop" => return Some(self.stop(params)),
            _ => {}
        }
        let instance = match self.instance(params) {
            Ok(instance) => instance,
            Err(failure) => return Some(Err(failure)),
        };
        let subjects =
            [interfaces::answer, tables::answer, times::answer, announces::answer, blackhole::answer];
        subjects.into_iter().find_map(|subject| subject(instance, command, params))
    }

    fn start(&mut self, params: Params<'_>) -> Answer {
        let instance = Instance::start(params)?;
        self.started += 1;
        let handle = format!("node{}", self.started);
        let identity = instance.mock.node.transport_id().to_string();
        self.instances.insert(handle.clone(), instance);
        Ok(json!({"handle": handle, "identity_hash": identity}))
    }

    fn stop(&mut self, params: Params<'_>) -> Answer {
        Ok(json!({"stopped": self.instances.remove(params.text("handle")?).is_some()}))
    }

    fn instance(&mut self, params: Params<'_>) -> Result<&mut Instance, Failure> {
        let handle = params.text("handle")?;
        let unknown = || Failure::new(format!("ValueError: Unknown handle: {handle}"));
        self.instances.get_mut(handle).ok_or_else(unknown)
    }
}
