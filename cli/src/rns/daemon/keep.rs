//! What is written to the disk.

use rns_host::store::DirectoryStore;
use std::time::Duration;

use super::{
    instance::Instance,
    log::{Level, Log},
};

/// Writes what the node wants to keep, as often as the reference does. Never ends.
pub(super) async fn save_regularly(instance: &Instance) {
    loop {
        tokio::time::sleep(SAVE_INTERVAL).await;
        save(instance);
    }
}

/// Writes what the node wants to keep.
pub(super) fn save(instance: &Instance) {
    let mut store = instance.store();
    instance.node().save(&mut *store);
    tell_errors(&mut store, instance.log());
    instance.log().tell(Level::Verbose, format_args!("saved to {}", instance.directory().display()));
}

/// Tells what could not be read or written.
pub(super) fn tell_errors(store: &mut DirectoryStore, log: &Log) {
    while let Some(error) = store.poll_error() {
        log.tell(Level::Error, error);
    }
}

const SAVE_INTERVAL: Duration = Duration::from_secs(12 * 60 * 60);
